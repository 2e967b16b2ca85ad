// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { EngineGroup } from "~/api/balancing";
import { type GroupDraft, groupDraft, groupParams, groupProblems, movedSettings } from "./draft";

const row: EngineGroup = {
  enginegroupid: "1",
  name: "edge",
  description: "",
  ha_mode: "0",
  placement: "1",
  engines_per_vip: "3",
  spare_engines: "0",
  vips_per_engine: "10",
  rebalance: "1",
  failover_after: "5",
  announce: { local_as: 65_001 },
  virtualservices: "0",
};

const changed = (next: Partial<GroupDraft>) => ({ ...groupDraft(row), name: "edge", ...next });

test("an engine group goes through the form unchanged", () => {
  const { enginegroupid: _, virtualservices: __, ...members } = row;
  expect(groupParams(groupDraft(row))).toEqual(members);
  expect(movedSettings(row, groupDraft(row))).toEqual([]);
});

test("a group without settings has the server's defaults", () => {
  expect(groupParams(groupDraft(null))).toMatchObject({
    ha_mode: "0",
    engines_per_vip: "0",
    spare_engines: "0",
    failover_after: "3",
    announce: {},
  });
});

test("what a mode does not use is sent with its default", () => {
  expect(groupParams(changed({ ha_mode: "2" }))).toMatchObject({
    engines_per_vip: "0",
    placement: "1",
    rebalance: "1",
  });
  const all = changed({ engines: "all", vips_per_engine: "0" });
  expect(groupParams(all)).toMatchObject({ engines_per_vip: "0", placement: "0", rebalance: "0" });
});

test.each([
  [{ engines_per_vip: "0" }, "engines_per_vip"],
  [{ ha_mode: "1", spare_engines: "x" }, "spare_engines"],
  [{ ha_mode: "1", vips_per_engine: "0" }, "vips_per_engine"],
  [{ vips_per_engine: "-1" }, "vips_per_engine"],
  [{ failover_after: "0.5" }, "failover_after"],
  [{ announce: "[1]" }, "announce"],
  [{ announce: "{" }, "announce"],
  [{ name: " " }, "name"],
] as const)("%o is refused at %s", (next, member) => {
  expect(Object.keys(groupProblems(changed(next)))).toEqual([member]);
});

test("a group of N+M keeps its numbers, and 0 is one engine", () => {
  const spare = { ...row, ha_mode: "1", engines_per_vip: "0", vips_per_engine: "0" } as const;
  expect(groupParams(groupDraft(spare))).toMatchObject({
    engines_per_vip: "1",
    spare_engines: "0",
  });
  expect(groupProblems(groupDraft(spare))).toEqual({});
});

test("hidden fields are not checked", () => {
  const hidden = { engines_per_vip: "x", spare_engines: "x" };
  expect(groupProblems(changed({ ha_mode: "2", ...hidden }))).toEqual({});
});

test("settings that move VIPs are told apart from others", () => {
  expect(movedSettings(row, changed({ name: "new", failover_after: "9" }))).toEqual([]);
  expect(movedSettings(row, changed({ engines_per_vip: "2" }))).toEqual([
    { setting: "engines_per_vip", from: "3", to: "2" },
  ]);
});
