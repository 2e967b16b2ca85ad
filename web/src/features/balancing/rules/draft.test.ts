import { expect, test } from "vitest";
import {
  copied,
  newCondition,
  newRule,
  type RuleDraft,
  refusedRule,
  ruleJson,
  ruleProblems,
  rulesDraft,
  rulesJson,
  verdictAs,
} from "./draft";
import { ruleSentence } from "./sentence";

const pools = new Map([["2", "api"]]);
const one = (json: string): RuleDraft => {
  const [rule] = rulesDraft([JSON.parse(json)]).list;
  if (!rule) throw new Error("no rule");
  return rule;
};

test.each([
  [
    '{"if":{"path_prefix":"/api","method":"POST"},"then":{"poolid":"2"}}',
    "If path starts with /api and method is POST → use pool api",
  ],
  [
    '{"if":{"host":"a.example","cookie":{"name":"beta","value":"1"}},"then":{"poolid":"9"}}',
    "If host is a.example and cookie beta is 1 → use pool 9",
  ],
  [
    '{"if":{"header":{"name":"X-Old","value":""}},"then":{"deny":403}}',
    "If header X-Old is empty → respond with status 403",
  ],
  [
    '{"if":{"host_suffix":".example","query":{"name":"v","value":"2"}},"then":{"redirect":{"status":301,"location":"https://{host}/"}}}',
    "If host ends with .example and query parameter v is 2 → redirect to https://{host}/ with status 301",
  ],
  [
    '{"if":{"path":"/status"},"then":{"respond":{"status":200,"type":"text/plain","body":"ok"}}}',
    "If path is /status → respond with status 200 and a text",
  ],
  [
    '{"then":{"set_header":{"X-Edge":"edge1"},"del_header":["X-Debug"],"set_response_header":{"A":"$&"},"del_response_header":["B"],"rewrite":{"prefix":"/old/","with":"/new/"}}}',
    "Always → set request header X-Edge to edge1, remove request header X-Debug, set response header A to $&, remove response header B, replace /old/ at the start of the path with /new/",
  ],
  [
    '{"if":{"path_prefix":"/public/"},"then":{"authentication":"none","no_compression":true,"no_cache":true}}',
    "If path starts with /public/ → set authentication to none, do not compress responses, do not cache responses",
  ],
  [
    '{"if":{"path_prefix":"/api"},"then":{"mirror":{"poolid":"2","percent":5}}}',
    "If path starts with /api → copy 5 % of requests to pool api",
  ],
  [
    '{"then":{"poolid":"2","mirror":{"poolgroupid":"8"}}}',
    "Always → use pool api, copy 100 % of requests to group 8",
  ],
  [
    '{"then":{"script":{"request":"request.forward(\\"beta\\");\\n","response":"return","pools":[{"poolid":"2"},{"poolgroupid":"8"}],"timeout":"10ms","on_error":"continue"}}}',
    "Always → run a script",
  ],
])("the rule %s has a sentence and is saved as it was", (json, words) => {
  const rule = one(json);
  expect(rule.raw).toBeUndefined();
  expect(ruleSentence(rule, (id) => pools.get(id))).toBe(words);
  expect(ruleProblems(rule)).toEqual({});
  expect(ruleJson(rule)).toEqual(JSON.parse(json));
});

test.each([
  '{"if":{"country":"LV"},"then":{"poolid":"2"}}',
  '{"then":{"poolid":"2","mirror":"3"}}',
  '{"then":{"mirror":{"poolid":"2","percent":"many"}}}',
  '{"then":{"respond":{"status":200,"file":"a"}}}',
  '{"then":{"script":{"request":"return","pools":["api"]}}}',
  "[]",
])("a rule that the editor does not know, %s, is not changed", (json) => {
  const rule = one(json);
  expect(rule.raw).toEqual(JSON.parse(json));
  expect(ruleJson(rule)).toEqual(JSON.parse(json));
  expect(ruleProblems(rule)).toEqual({});
});

test("members that are empty or null mean the same as missing ones", () => {
  const rule = one('{"if":{},"then":{"poolid":2,"set_header":{},"del_header":[],"deny":null}}');
  expect(rule.raw).toBeUndefined();
  expect(JSON.stringify(ruleJson(rule))).toBe('{"then":{"poolid":"2"}}');
});

test("a response without a text can be edited", () => {
  expect(one('{"then":{"respond":{"status":204,"body":""}}}').raw).toBeUndefined();
});

const condition = (kind: string, value: string, name = "") => ({
  ...newRule(),
  conditions: [{ kind, name, value }],
  verdict: { ...verdictAs("pool"), poolid: "2" },
});
const verdict = (kind: "redirect" | "deny" | "respond" | "pool" | "script" | "", members = {}) => ({
  ...newRule(),
  conditions: [],
  verdict: { ...verdictAs(kind), ...members },
});
const script = (members: object) =>
  verdict("script", { script: { ...verdictAs("script").script, ...members } });
const edit = (kind: string, name: string, value = "") => ({
  ...verdict("pool", { poolid: "2" }),
  edits: [{ kind, name, value }],
});

test.each([
  ["a path without /", condition("path_prefix", "api"), "if0.value"],
  ["a host with a port", condition("host", "www.example.com:80"), "if0.value"],
  ["an empty host", condition("host", " "), "if0.value"],
  ["a method in lower case", condition("method", "post"), "if0.value"],
  ["a header without a name", condition("header", "1"), "if0.name"],
  ["a cookie whose name has a space", condition("cookie", "1", "a b"), "if0.name"],
  ["a query parameter without a name", condition("query", "1"), "if0.name"],
  ["no pool", verdict("pool"), "poolid"],
  ["a redirect without a location", verdict("redirect"), "location"],
  ["a location with a space", verdict("redirect", { location: "/a b" }), "location"],
  ["a status that is no redirect", verdict("redirect", { location: "/", status: "200" }), "status"],
  ["a status of a request in progress", verdict("deny", { status: "100" }), "status"],
  ["a status with four digits", verdict("respond", { status: "2000" }), "status"],
  ["a type with a line break", verdict("respond", { type: "a\nb" }), "type"],
  ["a script without a text", verdict("script"), "request"],
  ["a script with a pool that is not chosen", script({ request: "a", pools: [""] }), "pools"],
  ["pools of a script for the response", script({ response: "a", pools: ["pool 2"] }), "request"],
  ["a script that is too long", script({ request: "ö".repeat(16385) }), "request"],
  ["a script that takes too long", script({ request: "a", timeout: "51ms" }), "timeout"],
  ["no action", verdict(""), "kind"],
  ["a header name with a space", edit("set_header", "a b", "1"), "edit0.name"],
  ["a header that the engine writes", edit("del_header", "Content-Length"), "edit0.name"],
  [
    "a header value with a line break",
    edit("set_response_header", "A", "1\r\nB: 2"),
    "edit0.value",
  ],
  ["authentication without a policy", edit("authentication", " "), "edit0.name"],
  ["a new path without /", edit("rewrite", "/a", "b"), "edit0.value"],
])("%s is a problem at its field", (_, rule, field) => {
  expect(Object.keys(ruleProblems(rule))).toEqual([field]);
});

test("empty values of headers, and hosts that are IPv6 addresses, are right", () => {
  expect(ruleProblems(condition("header", "", "X-Old"))).toEqual({});
  expect(ruleProblems(condition("host", "[2001:db8::1]"))).toEqual({});
});

test("a header is set once", () => {
  const rule = edit("set_header", "A", "1");
  expect(Object.keys(ruleProblems({ ...rule, edits: [...rule.edits, ...rule.edits] }))).toEqual([
    "edit0.name",
    "edit1.name",
  ]);
});

test("a rule has each kind of condition once", () => {
  let { conditions } = newRule();
  for (let next = newCondition(conditions); next; next = newCondition(conditions))
    conditions = [...conditions, next];
  const kinds = conditions.map(({ kind }) => kind);
  expect(new Set(kinds).size).toBe(kinds.length);
});

test("a copy is another rule with the same content", () => {
  const rule = one('{"then":{"deny":404}}');
  expect(copied(rule).key).not.toBe(rule.key);
  const list = [rule, copied(rule)];
  expect(JSON.stringify(rulesJson({ list, json: null }))).toBe(
    '[{"then":{"deny":404}},{"then":{"deny":404}}]',
  );
});

test("a refusal of the server names the rule and the field", () => {
  expect(refusedRule("1/then/script/pools/1/poolid: it does not exist")?.field).toBe("script");
  expect(refusedRule("2/then/poolid: it does not exist")).toEqual({
    at: 1,
    field: "poolid",
    why: "It does not exist",
  });
  expect(refusedRule("1: 'then' has: two")).toEqual({ at: 0, field: "", why: "'then' has: two" });
  expect(refusedRule("Rule 1: Choose a pool.")).toBeNull();
  expect(refusedRule(undefined)).toBeNull();
});

test("a rule names a policy of the service, or none", () => {
  const at = (name: string, policies?: string[]) =>
    ruleProblems(edit("authentication", name), policies)["edit0.name"];
  expect(at("staff", ["staff"])).toBeUndefined();
  expect(at("none", [])).toBeUndefined();
  expect(at("crew", ["staff"])).toBe("This policy does not exist.");
  expect(at("crew")).toBeUndefined();
  expect(at("")).toBe("Choose a policy.");
});

test("what the server refuses of a mirror is at the mirror", () => {
  expect(refusedRule("2/then/mirror/poolid: object does not exist")).toEqual({
    at: 1,
    field: "mirror",
    why: "poolid: object does not exist",
  });
  expect(refusedRule("2/then/poolid: object does not exist")?.field).toBe("poolid");
});
