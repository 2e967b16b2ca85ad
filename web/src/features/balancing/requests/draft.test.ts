import { expect, test } from "vitest";
import {
  authenticationDraft,
  authenticationJson,
  authenticationProblems,
  refusedPolicy,
} from "./authentication-draft";
import { cacheDraft, cacheJson, cacheProblems } from "./cache-draft";
import { compressionDraft, compressionJson, compressionProblems } from "./compression-draft";

const BASIC = { name: "staff", users: { alice: "******", bob: "******" } };
const JWT = {
  name: "api",
  issuer: "https://login.example.com/",
  audience: ["shop", "app"],
  leeway: "30s",
  keys: [{ id: "a", algorithm: "HS256", key: "******", later: true }],
  jwks: '{"keys": []}',
  claims: { sub: "X-User" },
  pass_authorization: false,
};

test.each([
  {},
  { require: "staff", basic: [BASIC] },
  { jwt: [JWT], basic: [{ ...BASIC, user_header: "X-User", later: [1] }], later: { a: 1 } },
])("authentication %j is saved as it was, by the form", (given) => {
  const draft = authenticationDraft(given);
  expect(draft.json).toBeNull();
  expect(authenticationProblems(draft)).toEqual({});
  expect(authenticationJson(draft)).toEqual(given);
});

test.each([
  { basic: [{ name: "a", users: ["alice"] }] },
  { jwt: [{ name: "a", audience: ["two words"] }] },
  { jwt: [{ name: "a", keys: { odd: 1 } }] },
  { require: { any: ["a", "b"] } },
])("authentication %j, which the form cannot show, is edited as JSON", (given) => {
  const draft = authenticationDraft(given);
  expect(draft.json).not.toBeNull();
  expect(authenticationJson(draft)).toEqual(given);
});

test.each([
  {},
  { algorithms: ["gzip", "br"] },
  { algorithms: ["br"], level: 7, min_length: 0, streams: 9, types: ["text/*"], later: 1 },
  { algorithms: ["br"], level: "high" },
])("compression %j is saved as it was", (given) => {
  expect(compressionJson(compressionDraft(given))).toEqual(given);
});

test.each([
  {},
  { size: "64M" },
  { size: "1G", max_object: "1M", max_objects: 9, key_headers: ["X-A"], later: 1 },
  { size: "1G", stale_if_error: "10m", status_header: true },
  { size: "1G", stale_while_revalidate: "1m", collapse: "2s" },
  { size: { odd: 1 } },
])("a cache %j is saved as it was", (given) => {
  expect(cacheJson(cacheDraft(given))).toEqual(given);
});

test("a cache is switched on with a size, and its fields are checked", () => {
  const draft = { ...cacheDraft({}), on: true };
  expect(cacheJson(draft)).toEqual({ size: "64M" });
  expect(cacheProblems(draft)).toEqual({});
  const wrong = {
    size: "64",
    max_object: "1 MB",
    max_objects: "0",
    key_headers: "X-A: b",
    stale_if_error: "10",
    stale_while_revalidate: "1 m",
    collapse: "x",
  };
  expect(Object.keys(cacheProblems({ ...draft, ...wrong }))).toEqual(Object.keys(wrong));
});

test("a stored secret does not follow a new name", () => {
  const draft = authenticationDraft({ basic: [BASIC], jwt: [JWT] });
  const [staff, api] = draft.policies;
  if (!staff || !api) throw new Error("two policies");
  const [alice, bob] = staff.users;
  if (!alice || !bob) throw new Error("two users");
  const renamed = { ...staff, users: [{ ...alice, name: "eve" }, bob] };
  expect(Object.keys(authenticationProblems({ ...draft, policies: [renamed] }))).toEqual([
    "policy0.users0.hash",
  ]);
  const moved = [
    { ...staff, name: "crew" },
    { ...api, name: "v2" },
  ];
  expect(Object.keys(authenticationProblems({ ...draft, policies: moved }))).toEqual([
    "policy0.users0.hash",
    "policy0.users1.hash",
    "policy1.keys0.key",
  ]);
});

test.each([
  ["jwt/1/keys/1/key: no key", { "policy1.keys0.key": "no key" }],
  ["jwt/1/jwks: no set", { "policy1.jwks": "no set" }],
  ["'authentication': policy 'staff': user 'bob': no hash", { "policy0.users1.hash": "no hash" }],
  ["'authentication': policy 'api': it is odd", { policy1: "it is odd" }],
  ["something else", {}],
])("the server's %s is at its field", (refusal, at) => {
  expect(refusedPolicy(authenticationDraft({ basic: [BASIC], jwt: [JWT] }), refusal)).toEqual(at);
});

test("compression without algorithms, and odd media types, are refused", () => {
  const draft = compressionDraft({ algorithms: ["br"] });
  expect(
    compressionProblems({ ...draft, algorithms: [], types: "json", level: "0" }),
  ).toMatchObject({
    algorithms: expect.any(String),
    types: expect.any(String),
    level: expect.any(String),
  });
});
