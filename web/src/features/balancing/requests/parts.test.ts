import { expect, test } from "vitest";
import { forwardedDraft, forwardedJson, forwardedProblems } from "./forwarded-draft";
import { mirrorDraft, mirrorJson, mirrorProblems } from "./mirror-draft";
import { rateDraft, rateJson, rateProblems } from "./rate-draft";
import { milliseconds, refusedField } from "./values";

const RATE = { by: "client_ip", requests: 100, per: "10s" };

test.each([
  {},
  RATE,
  { by: "header", name: "X-API-Key", requests: 5, per: "1m", status: 503, later: [1] },
])("the limit %j is saved as it was, by the form", (given) => {
  const draft = rateDraft(given);
  expect(draft.json).toBeNull();
  expect(rateProblems(draft)).toEqual({});
  expect(rateJson(draft)).toEqual(given);
});

test.each([
  {},
  {
    x_forwarded_for: "append",
    x_forwarded_proto: true,
    x_forwarded_port: false,
    client_cert: false,
  },
  { x_forwarded_for: "remove", forwarded: "replace", via: "edge-1", later: { a: 1 } },
  { x_forwarded_proto: false, x_forwarded_port: true, client_cert: true },
])("the headers %j are saved as they were, by the form", (given) => {
  const draft = forwardedDraft(given);
  expect(draft.json).toBeNull();
  expect(forwardedProblems(draft)).toEqual({});
  expect(forwardedJson(draft)).toEqual(given);
});

test.each([
  {},
  { poolid: "3" },
  { poolgroupid: "5", percent: 0, max_body: 0, concurrent: 1, later: true },
])("the mirror %j is saved as it was, by the form", (given) => {
  const draft = mirrorDraft(given);
  expect(draft.json).toBeNull();
  expect(mirrorProblems(draft)).toEqual({});
  expect(mirrorJson(draft)).toEqual(given);
});

test.each([
  [rateDraft, rateJson, { ...RATE, by: { cookie: "a" } }],
  [rateDraft, rateJson, { ...RATE, requests: "many" }],
  [forwardedDraft, forwardedJson, { x_forwarded_proto: "always" }],
  [forwardedDraft, forwardedJson, { forwarded: "append" }],
  [mirrorDraft, mirrorJson, { poolid: "3", poolgroupid: "5" }],
  [mirrorDraft, mirrorJson, { pools: ["3"] }],
] as [(json: object) => { json: string | null }, (draft: never) => object, object][])(
  "%o %o: %j, which the form cannot show, is edited as JSON",
  (draftOf, jsonOf, given) => {
    const draft = draftOf(given);
    expect(draft.json).not.toBeNull();
    expect(jsonOf(draft as never)).toEqual(given);
  },
);

const rate = (members: object) => Object.keys(rateProblems({ ...rateDraft(RATE), ...members }));
test.each([
  [{ by: "header" }, ["name"]],
  [{ by: "header", name: "X Y" }, ["name"]],
  [{ requests: "0" }, ["requests"]],
  [{ requests: "" }, ["requests"]],
  [{ requests: "100001" }, ["requests"]],
  [{ requests: "100000" }, []],
  [{ per: "10" }, ["per"]],
  [{ per: "2d" }, ["per"]],
  [{ per: "1d" }, []],
  [{ status: "200" }, ["status"]],
  [{ status: "600" }, ["status"]],
  [{ on: false, requests: "x" }, []],
])("a limit with %j has problems at %j", (members, at) => {
  expect(rate(members)).toEqual(at);
});

test("a limit by address does not keep the name of a header", () => {
  const draft = { ...rateDraft({ ...RATE, by: "header", name: "X-Key" }), by: "client_ip" };
  expect(rateJson(draft)).toEqual(RATE);
});

test.each([
  [{ percent: "101" }, ["percent"]],
  [{ percent: "100.01" }, ["percent"]],
  [{ percent: "0.125" }, ["percent"]],
  [{ percent: "99.99" }, []],
  [{ max_body: "1048577" }, ["max_body"]],
  [{ concurrent: "0" }, ["concurrent"]],
  [{ concurrent: "1025" }, ["concurrent"]],
  [{ to: "", percent: "x" }, []],
])("a mirror with %j has problems at %j", (members, at) => {
  expect(Object.keys(mirrorProblems({ ...mirrorDraft({ poolid: "3" }), ...members }))).toEqual(at);
});

test("a mirror changes from a pool to a pool group, and to none", () => {
  const draft = mirrorDraft({ poolid: "3", percent: 10 });
  expect(mirrorJson({ ...draft, to: "group 5", percent: "" })).toEqual({ poolgroupid: "5" });
  expect(mirrorJson({ ...draft, to: "" })).toEqual({});
});

test("a name in Via has no spaces", () => {
  expect(forwardedProblems({ ...forwardedDraft({}), via: "a b" })).toHaveProperty("via");
});

test.each([
  ["500ms", 500],
  ["1d", 86_400_000],
  ["0s", null],
  ["10", null],
  ["1.5h", null],
])("%s is %s milliseconds", (text, ms) => {
  expect(milliseconds(text)).toBe(ms);
});

test.each([
  [
    "'mirror.percent' is 101, the limit is 100",
    { percent: "'mirror.percent' is 101, the limit is 100" },
  ],
  ["percent: not a number", { percent: "Not a number" }],
  ["other: not a number", {}],
  ["'mirror' needs type http", {}],
  [undefined, {}],
])("the server's %s is at its field", (refusal, at) => {
  expect(refusedField(refusal, ["percent", "poolid"])).toEqual(at);
});
