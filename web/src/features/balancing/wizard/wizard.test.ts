// @vitest-environment happy-dom
import { beforeEach, expect, test, vi } from "vitest";
import { answerWith } from "~/api/mock/answer";

vi.mock("~/api/client", async (original) => ({
  ...(await original<typeof import("~/api/client")>()),
  rpc: vi.fn(),
}));

const { addHosts, balanceDraft, balanceProblems, NEW, splitAddress, withProtocol } = await import(
  "./draft"
);
const { carryOut, planOf, removeMade } = await import("./plan");

const iface = (ip: string, type = "1", main = "1") => ({
  type,
  main,
  useip: ip ? "1" : "0",
  ip,
  dns: "a",
  port: "10050",
});
const first = balanceDraft({ groups: [], vips: [], certificates: [] });
const server = { ...first.servers[0], address: "10.0.0.1" } as (typeof first.servers)[number];
const draft = { ...first, name: "shop", servers: [server] };

let calls: { method: string; params: Record<string, unknown> }[] = [];
let refused = "";
beforeEach(() => {
  calls = [];
  refused = "";
  answerWith(async (method, params) => {
    calls.push({ method, params: params as Record<string, unknown> });
    if (method === refused) throw new Error("no");
    return { ids: [`${method} ${calls.length}`] };
  });
});

test("what exists once is chosen, and the VIP with all addresses is used", () => {
  expect(first).toMatchObject({ enginegroupid: NEW, certificateid: NEW, vip: "any" });
  const one = {
    groups: [{ enginegroupid: "1" }],
    vips: [
      { vipid: "5", ipv4: "192.0.2.1" },
      { vipid: "6", ipv4: "0.0.0.0" },
    ],
    certificates: [{ certificateid: "3" }],
  };
  expect(balanceDraft(one)).toMatchObject({ enginegroupid: "1", certificateid: "3", vip: "6" });
  const two = {
    ...one,
    groups: [...one.groups, { enginegroupid: "2" }],
    certificates: [...one.certificates, { certificateid: "4" }],
  };
  expect(balanceDraft(two)).toMatchObject({ enginegroupid: "", certificateid: NEW });
});

test("a protocol brings its port and check, unless the user chose others", () => {
  expect(withProtocol(draft, "https")).toEqual({ protocol: "https", port: "443", check: "http" });
  expect(withProtocol(draft, "tcp")).toEqual({ protocol: "tcp", port: "", check: "tcp" });
  expect(withProtocol({ ...draft, port: "8080", check: "none" }, "tls")).toEqual({
    protocol: "tls",
    port: "8080",
    check: "none",
  });
});

test("a service over UDP has no new monitor and no TLS", async () => {
  const udp = { ...draft, port: "53", ...withProtocol(draft, "udp") };
  expect(udp.check).toBe("none");
  expect(withProtocol(udp, "http").check).toBe("http");
  const dns = { ...udp, port: "53" };
  await carryOut(dns, planOf(dns, {}), []);
  expect(calls.at(-1)?.params).toMatchObject({ type: "udp", port: "53", certificates: [] });
});

test.each([
  ["10.0.0.1:8000", { address: "10.0.0.1", port: "8000" }],
  ["[2001:db8::1]:80", { address: "2001:db8::1", port: "80" }],
  ["2001:db8::1", { address: "2001:db8::1" }],
  ["10.0.0.1", { address: "10.0.0.1" }],
])("the address %s is split at its port", (text, parts) => {
  expect(splitAddress(text)).toEqual(parts);
});

test("hosts become servers with the address of their default interface", () => {
  const { servers, without } = addHosts(
    [{ ...server, address: " ", port: "8080" }],
    [
      {
        hostid: "7",
        name: "web1",
        interfaces: [iface("10.0.0.9", "2"), iface("10.0.0.8", "1", "0"), iface("10.0.0.7")],
      },
      { hostid: "8", name: "web2", interfaces: [iface("")] },
    ],
  );
  expect(servers).toEqual([
    expect.objectContaining({ name: "web1", address: "10.0.0.7", port: "8080", hostid: "7" }),
  ]);
  expect(without).toEqual(["web2"]);
});

test("a draft needs a name, servers, and with TLS a certificate", () => {
  expect(balanceProblems(draft)).toEqual({});
  expect(Object.keys(balanceProblems(first))).toEqual(["name", "servers"]);
  expect(Object.keys(balanceProblems({ ...draft, protocol: "https", port: "" }))).toEqual([
    "port",
    "certificate",
    "private_key",
  ]);
  expect(balanceProblems({ ...draft, protocol: "https", certificateid: "3" })).toEqual({});
  expect(
    Object.keys(balanceProblems({ ...draft, vip: NEW, enginegroupid: "", path: "x" })),
  ).toEqual(["address", "path", "enginegroupid"]);
});

test("names that are taken get a number", () => {
  const plan = planOf(draft, { pool: ["shop", "shop 2"], vip: ["0.0.0.0"] });
  expect(plan.map(({ key, name }) => `${key} ${name}`)).toEqual([
    "vip 0.0.0.0 2",
    "group default",
    "monitor shop",
    "pool shop 3",
    "service shop",
  ]);
});

test("objects are made in the order in which they need each other", async () => {
  const outcome = await carryOut(draft, planOf(draft, {}), []);
  expect(outcome.failed).toBeNull();
  expect(calls.map(({ method }) => method)).toEqual([
    "vip.create",
    "enginegroup.create",
    "healthmonitor.create",
    "pool.create",
    "virtualservice.create",
  ]);
  expect(calls[3]?.params).toMatchObject({ healthmonitorid: "healthmonitor.create 3" });
  expect(calls[4]?.params).toMatchObject({
    type: "http",
    vipid: "vip.create 1",
    enginegroupid: "enginegroup.create 2",
    poolid: "pool.create 4",
    certificates: [],
  });
});

test("existing objects are used, and TLS offers HTTP/2", async () => {
  const existing = {
    ...draft,
    protocol: "https",
    vip: "6",
    certificateid: "3",
    enginegroupid: "1",
    check: "id 4",
  } as const;
  await carryOut(existing, planOf(existing, {}), []);
  expect(calls.map(({ method }) => method)).toEqual(["pool.create", "virtualservice.create"]);
  expect(calls[0]?.params).toMatchObject({ healthmonitorid: "4" });
  expect(calls[1]?.params).toMatchObject({
    vipid: "6",
    certificates: [{ certificateid: "3" }],
    tls: { alpn: ["h2", "http/1.1"] },
  });
});

test("after a failure the next attempt changes what exists, and removes what it does not need", async () => {
  refused = "pool.create";
  const failed = await carryOut(draft, planOf(draft, {}), []);
  expect(failed.failed?.step.key).toBe("pool");
  expect(failed.made.map(({ key }) => key)).toEqual(["vip", "group", "monitor"]);
  refused = "";
  calls = [];
  const other = { ...draft, check: "none" } as const;
  const outcome = await carryOut(other, planOf(other, {}), failed.made);
  expect(outcome.failed).toBeNull();
  expect(calls.map(({ method }) => method)).toEqual([
    "vip.update",
    "enginegroup.update",
    "pool.create",
    "virtualservice.create",
    "healthmonitor.delete",
  ]);
  expect(calls[0]?.params).toMatchObject({ vipid: "vip.create 1" });
});

test("what was made is removed from the newest", async () => {
  refused = "virtualservice.create";
  const { made } = await carryOut(draft, planOf(draft, {}), []);
  calls = [];
  expect(await removeMade(made)).toEqual([]);
  expect(calls.map(({ method }) => method)).toEqual([
    "pool.delete",
    "healthmonitor.delete",
    "enginegroup.delete",
    "vip.delete",
  ]);
});
