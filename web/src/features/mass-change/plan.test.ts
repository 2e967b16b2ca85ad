import { describe, expect, it } from "vitest";
import type { MassItem } from "~/api/mass-items";
import { type Changes, changeOf, differences, planOf } from "./plan";

const ITEM: MassItem = {
  itemid: "1",
  name: "CPU",
  key_: "system.cpu.load",
  type: "0",
  value_type: "0",
  delay: "1m",
  history: "31d",
  trends: "365d",
  status: "0",
  timeout: "",
  snmp_oid: "",
  flags: "0",
  templateid: "0",
  tags: [{ tag: "component", value: "cpu" }],
  hosts: [{ hostid: "7", name: "web-01" }],
  editable: true,
};
const item = (next: Partial<MassItem>): MassItem => ({ ...ITEM, ...next });
const tags = (mode: "add" | "replace" | "remove", ...pairs: [string, string][]): Changes => ({
  tags: { mode, tags: pairs.map(([tag, value]) => ({ tag, value })) },
});

describe("what a mass change sends", () => {
  it("has only fields with another value", () => {
    expect(changeOf(ITEM, { delay: "1m", history: "7d" })).toEqual({ itemid: "1", history: "7d" });
    expect(changeOf(ITEM, { delay: "1m" })).toBeNull();
  });
  it("leaves out fields that the item does not have", () => {
    const trapper = item({ type: "2", delay: "0", value_type: "4" });
    const all = { delay: "5m", trends: "7d", timeout: "9s", history: "7d" };
    expect(changeOf(trapper, all)).toEqual({ itemid: "1", history: "7d" });
  });
  it("sets of a discovered item only the state", () => {
    const found = item({ flags: "4" });
    expect(changeOf(found, { status: "1", delay: "5m" })).toEqual({ itemid: "1", status: "1" });
  });
  it.each([
    ["without write permission", { editable: false }],
    ["of a web scenario", { type: "9" }],
  ])("is nothing for an item %s", (_, next) => {
    expect(changeOf(item(next), { status: "1" })).toBeNull();
  });
  it("adds tags once", () => {
    const change = changeOf(ITEM, tags("add", ["component", "cpu"], ["team", "a"], ["team", "a"]));
    expect(change?.tags).toEqual([
      { tag: "component", value: "cpu" },
      { tag: "team", value: "a" },
    ]);
    expect(changeOf(ITEM, tags("add", ["component", "cpu"]))).toBeNull();
  });
  it("removes a tag by its value, or all values", () => {
    const two = item({ tags: [...ITEM.tags, { tag: "component", value: "load" }] });
    expect(changeOf(two, tags("remove", ["component", "load"]))?.tags).toEqual(ITEM.tags);
    expect(changeOf(two, tags("remove", ["component", ""]))?.tags).toEqual([]);
    expect(changeOf(two, tags("remove", ["other", ""]))).toBeNull();
  });
  it("replaces all tags, also by none", () => {
    expect(changeOf(ITEM, tags("replace", ["team", "a"]))?.tags).toEqual([
      { tag: "team", value: "a" },
    ]);
    expect(changeOf(ITEM, tags("replace", ["", ""]))?.tags).toEqual([]);
  });
});

describe("the preview", () => {
  it("counts each item once, and groups equal old values", () => {
    const items = [
      ITEM,
      item({ itemid: "2" }),
      item({ itemid: "3", delay: "30s", templateid: "9" }),
      item({ itemid: "4", delay: "5m" }),
      item({ itemid: "5", type: "2", delay: "0" }),
    ];
    const plan = planOf(items, { delay: "5m" });
    expect(plan.changing.map(({ itemid }) => itemid)).toEqual(["1", "2", "3"]);
    expect([plan.same, plan.blocked, plan.inherited]).toEqual([1, 1, 1]);
    expect(plan.groups).toEqual([
      { field: "delay", before: "1m", after: "5m", count: 2 },
      { field: "delay", before: "30s", after: "5m", count: 1 },
    ]);
    expect(plan.refused).toEqual([{ field: "delay", reason: "interval", count: 1 }]);
  });
  it("reports a refused field of an item that changes otherwise", () => {
    const plan = planOf([item({ value_type: "4" })], { trends: "7d", status: "1" });
    expect(plan.changing).toHaveLength(1);
    expect(plan.refused).toEqual([{ field: "trends", reason: "trends", count: 1 }]);
  });
  it("shows values in words", () => {
    expect(differences(ITEM, { history: "0", status: "1", timeout: "3s" })).toEqual([
      { field: "status", before: "Enabled", after: "Disabled" },
      { field: "history", before: "31d", after: "Not stored" },
      { field: "timeout", before: "Global timeout", after: "3s" },
    ]);
  });
});
