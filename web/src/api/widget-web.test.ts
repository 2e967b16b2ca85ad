// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { webGroups } from "./widget-web";

test("a scenario without a value is unknown, not OK", () => {
  const item = (hostid: string, lastvalue: string, lastclock = "5") => ({
    hostid,
    lastvalue,
    lastclock,
  });
  const hosts = [
    { hostid: "1", hostgroups: [{ groupid: "7", name: "Web" }] },
    { hostid: "2", hostgroups: [{ groupid: "8", name: "API" }] },
  ];
  const items = [item("1", "0"), item("1", "2"), item("1", "0", "0"), item("2", "0")];
  expect(webGroups(items, hosts, [])).toEqual([
    { groupid: "8", name: "API", ok: 1, failed: 0, unknown: 0 },
    { groupid: "7", name: "Web", ok: 1, failed: 1, unknown: 1 },
  ]);
  expect(webGroups(items, hosts, ["8"])).toHaveLength(1);
});
