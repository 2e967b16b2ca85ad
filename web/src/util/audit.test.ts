import { describe, expect, it } from "vitest";
import { auditChanges } from "./audit";

const changes = (details: object) => auditChanges(JSON.stringify(details));

describe("the details of an audit entry", () => {
  it("have the new value before the old one", () => {
    expect(changes({ "item.history": ["update", "20d", "7d"] })).toEqual([
      { field: "history", kind: "update", before: "7d", after: "20d" },
    ]);
  });
  it("show a part of a list as one line", () => {
    const details = {
      "host.tags[5]": ["delete"],
      "host.tags[6]": ["add"],
      "host.tags[6].hosttagid": ["add", "6"],
      "host.tags[6].tag": ["add", "site"],
      "host.tags[6].value": ["add", "oslo"],
      "host.macros[7]": ["update"],
      "host.macros[7].value": ["update", "2", "1"],
    };
    expect(changes(details)).toEqual([
      { field: "tags", kind: "delete", before: "id 5", after: null },
      { field: "tags", kind: "add", before: null, after: "tag: site, value: oslo" },
      { field: "macros", kind: "update", before: "value: 1", after: "value: 2" },
    ]);
  });
  it("show a part without readable members by its id", () => {
    const details = { "host.groups[9]": ["add"], "host.groups[9].groupid": ["add", "9"] };
    expect(changes(details)).toEqual([
      { field: "groups", kind: "add", before: null, after: "id 9" },
    ]);
  });
  it.each([
    ["item.type", "2", "Trapper"],
    ["item.value_type", "4", "Text"],
    ["host.status", "1", "Disabled"],
    ["sla.status", "1", "Enabled"],
    ["trigger.priority", "4", "High"],
    ["mediatype.type", "4", "4"],
  ])("have words for %s %s", (path, value, words) => {
    expect(changes({ [path]: ["add", value] })?.[0]?.after).toBe(words);
  });
  it("may be nothing", () => {
    expect(auditChanges("")).toEqual([]);
    expect(auditChanges("[]")).toEqual([]);
  });
  it.each(["{", "5", '{"host.name":"x"}', '{"name":["add","x"]}'])("are unreadable: %s", (text) => {
    expect(auditChanges(text)).toBeNull();
  });
});
