import { expect, test } from "vitest";
import type { Monitor, Pool, PoolGroup, Service } from "~/api/balancing";
import { daysLeft } from "./expiry";
import { newServer, poolDraft, poolParams, poolProblems } from "./pool-draft";
import { newMember, poolGroupDraft, poolGroupParams, poolGroupProblems } from "./pool-group-draft";
import { jsonProblem, serviceDraft, serviceParams, serviceProblems } from "./service-draft";
import { monitorDraft, monitorParams } from "./simple-draft";
import { target, targetOf } from "./targets";

const SERVICE: Service = {
  virtualserviceid: "7",
  name: "shop",
  description: "",
  status: "1",
  type: "http",
  enginegroupid: "1",
  vipid: "2",
  port: "443",
  poolgroupid: "0",
  poolid: "3",
  accept_proxy: "0",
  tls: { alpn: ["h2", "http/1.1"], min_version: "1.3" },
  timeouts: { server: "90s" },
  limits: { body: 1_000 },
  rate_limit: { by: "client_ip", requests: 100, per: "10s" },
  authentication: { basic: [{ name: "staff", users: { alice: "******" } }] },
  compression: { algorithms: ["br", "gzip"] },
  cache: { size: "64M", key_headers: ["X-Tenant"] },
  mirror: { poolid: "3", percent: 10 },
  forwarded: {},
  rules: [JSON.parse('{"if": {"path": "/a"}, "then": {"poolid": "4"}}')],
  allow: ["10.0.0.0/8", "192.0.2.0/24"],
  deny: [],
  certificates: [{ certificateid: "9" }],
};

test("a service that nobody edits is saved as it was", () => {
  const draft = serviceDraft(SERVICE);
  expect(serviceProblems(draft)).toEqual({});
  const { virtualserviceid: _, ...members } = SERVICE;
  expect(serviceParams(draft)).toEqual({ ...members, status: 1, accept_proxy: 0 });
});

test("a service of datagrams keeps nothing of what connections need", () => {
  const params = serviceParams({ ...serviceDraft(SERVICE), type: "udp" });
  expect(params).toMatchObject({
    certificates: [],
    tls: {},
    rate_limit: {},
    compression: {},
    cache: {},
    mirror: {},
    rules: [],
  });
});

const MONITOR: Monitor = {
  healthmonitorid: "3",
  name: "m",
  description: "",
  type: "udp",
  path: "/",
  status: "200",
  body: "",
  udp: { send: "ping\\n" },
  dns: {},
  script: {},
  trigger_filter: {},
  interval: "5s",
  timeout: "2s",
  up: "2",
  down: "3",
};

test.each([
  { udp: { send: "ping" } },
  { udp: { send: "ping", expect: "" } },
  { type: "dns", udp: {}, dns: { name: "a.example", type: "MX", rcodes: ["NXDOMAIN"] } },
  { type: "tcp", udp: {} },
  { type: "script", udp: {}, script: { program: "check.sh", parameters: { user: "a=b" } } },
  {
    type: "trigger",
    udp: {},
    trigger_filter: {
      name: "cpu",
      tags: [
        { tag: "app", value: "" },
        { tag: "scope", value: "load" },
      ],
      min_severity: 3,
      effect: "drain",
    },
  },
])("an unchanged monitor is saved as it was: %j", (members) => {
  const { healthmonitorid: _, ...rest } = { ...MONITOR, ...members };
  expect(monitorParams(monitorDraft({ ...MONITOR, ...members }))).toEqual(rest);
});

test("what is emptied or switched off gets its default", () => {
  const draft = serviceDraft(SERVICE);
  const params = serviceParams({
    ...draft,
    tls: { alpn: undefined, client_auth: "none", strict_sni: false },
    timeouts: { server: " " },
    limits: { body: "" },
    rules: { list: [], json: "" },
    allow: " ",
  });
  expect(JSON.parse(JSON.stringify(params))).toMatchObject({
    tls: {},
    timeouts: {},
    limits: {},
    rules: [],
    allow: [],
  });
});

test("a service over TCP keeps nothing of what requests need", () => {
  const draft = {
    ...serviceDraft(SERVICE),
    type: "tcp",
    forwarded: { ...serviceDraft(SERVICE).forwarded, json: "{" },
    rules: { list: [], json: "[" },
  };
  expect(serviceProblems(draft)).toEqual({});
  expect(serviceParams(draft)).toMatchObject({ rules: [], rate_limit: {}, forwarded: {} });
});

test("a service needs a name, an address, a pool and engines", () => {
  expect(Object.keys(serviceProblems(serviceDraft(null)))).toEqual([
    "name",
    "enginegroupid",
    "vipid",
    "port",
    "poolid",
  ]);
  const draft = serviceDraft(SERVICE);
  expect(serviceProblems({ ...draft, port: "65536" })).toHaveProperty("port");
  expect(serviceProblems({ ...draft, limits: { uri: "8k" } })).toHaveProperty("limits");
});

test.each([
  ["", "list", undefined],
  ["[]", "list", undefined],
  ["{}", "list", "Enter a list"],
  ["[]", "object", "Enter an object"],
  ["null", "object", "Enter an object"],
  ["[{]", "list", "This is not valid JSON"],
] as const)("the JSON %j as a %s", (text, shape, problem) => {
  if (problem) expect(jsonProblem(text, shape)).toContain(problem);
  else expect(jsonProblem(text, shape)).toBeUndefined();
});

const server = { ...newServer([]), address: "10.0.0.1" };
const POOL: Pool = {
  poolid: "3",
  name: "web",
  description: "",
  algorithm: "header_hash",
  hash_key: "x-user",
  healthmonitorid: "4",
  further_monitors: [{ healthmonitorid: "6" }],
  min_monitors: "1",
  host_maintenance: "drain",
  persistence: { type: "cookie", name: "s" },
  retries: { count: 0, on: [], budget_percent: 10 },
  eject: { failures: 5, for: "1m" },
  slow_start: "30s",
  send_proxy: "v2",
  tls: {},
  servers: [server],
};

test("a pool that nobody edits is saved as it was", () => {
  const draft = poolDraft(POOL);
  expect(poolProblems(draft)).toEqual({});
  const { poolid: _, ...members } = POOL;
  expect(poolParams(draft)).toEqual(members);
});

test("servers of a pool have different names, and addresses", () => {
  const problem = (servers: (typeof server)[]) => poolProblems({ ...poolDraft(POOL), servers });
  expect(problem([])).toEqual({ servers: "Add at least one server." });
  expect(problem([server, server]).servers).toContain("Two servers");
  expect(problem([{ ...server, address: " " }]).servers).toContain("address");
  expect(problem([{ ...server, weight: "" }]).servers).toContain("weight");
  expect(newServer([server, { ...server, name: "server3", port: "8080" }])).toMatchObject({
    name: "server4",
    port: "8080",
  });
});

test("a service goes to a pool or to a pool group", () => {
  for (const word of ["", "pool 3", "group 5"]) expect(target(targetOf(word))).toBe(word);
  const draft = { ...serviceDraft(SERVICE), ...targetOf("group 5") };
  expect(serviceProblems(draft)).toEqual({});
  expect(serviceParams(draft)).toMatchObject({ poolid: "0", poolgroupid: "5" });
  expect(serviceProblems({ ...draft, ...targetOf("") })).toHaveProperty("poolid");
});

test("members of a pool group are different pools with numbers in range", () => {
  const members = [
    { poolid: "3", priority: "5", ratio: "9" },
    { poolid: "4", priority: "5", ratio: "0" },
  ];
  const group: PoolGroup = {
    poolgroupid: "5",
    name: "shop",
    description: "",
    min_servers: "2",
    members,
  };
  const draft = poolGroupDraft(group);
  expect(poolGroupProblems(draft)).toEqual({});
  const { poolgroupid: _, ...saved } = group;
  expect(poolGroupParams(draft)).toEqual(saved);
  const problem = (ours: PoolGroup["members"]) => poolGroupProblems({ ...draft, members: ours });
  const [first, second] = members as [(typeof members)[0], (typeof members)[0]];
  expect(problem([])).toHaveProperty("members");
  expect(problem([newMember(members)])).toHaveProperty("members");
  expect(problem([first, first]).members).toContain("twice");
  expect(problem([{ ...second, ratio: "1001" }]).members).toContain("ratio");
  expect(newMember(members)).toEqual({ poolid: "", priority: "5", ratio: "1" });
});

test("the last day of a certificate is day 0", () => {
  expect([86_400 * 3, 86_399, -1].map((until) => daysLeft(until, 0))).toEqual([3, 0, -1]);
});
