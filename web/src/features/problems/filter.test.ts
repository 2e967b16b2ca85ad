import { describe, expect, it } from "vitest";
import { isNarrowed } from "~/util/search";
import { groupingOf, insideGroup, modeOf, NO_FILTERS, toFilter } from "./filter";

describe("toFilter", () => {
  it("starts with recent problems, newest first, without suppressed ones", () => {
    expect(toFilter({})).toMatchObject({
      mode: "recent",
      sort: "time",
      suppressed: false,
      severities: [],
    });
  });
  it("reads the address", () => {
    const filter = toFilter({
      severity: "5,4",
      host: "10,11",
      ack: "no",
      tags: "site=riga",
      sort: "severity",
    });
    expect(filter.severities).toEqual([5, 4]);
    expect(filter.hostids).toEqual(["10", "11"]);
    expect(filter.acknowledged).toBe(false);
    expect(filter.tags).toEqual([{ tag: "site", value: "riga", operator: 1 }]);
    expect(filter.sort).toBe("severity");
  });
  it("keeps the history's end open while it is now", () => {
    expect(toFilter({ show: "history" })).toMatchObject({ mode: "history", till: undefined });
    expect(toFilter({ show: "history", from: "1000", to: "now" }).from).toBeUndefined();
    expect(toFilter({ show: "history", from: "1000000000", to: "1000003600" })).toMatchObject({
      from: 1000000000,
      till: 1000003600,
    });
  });
  it("asks for suppressed ones too when told", () => {
    expect(toFilter({ suppressed: "yes" }).suppressed).toBeUndefined();
  });
});

it("knows its modes", () => {
  expect(modeOf({ show: "open" })).toBe("open");
  expect(modeOf({ show: "nonsense" })).toBe("recent");
  expect(isNarrowed({ show: "history", sort: "severity" }, NO_FILTERS)).toBe(false);
  expect(isNarrowed({ ack: "no" }, NO_FILTERS)).toBe(true);
});

it("reads what problems are grouped by", () => {
  expect(groupingOf({ by: "host" })).toEqual({ groupBy: "host" });
  expect(groupingOf({ by: "tag:site" })).toEqual({ groupBy: "tag", groupTag: "site" });
  for (const by of [undefined, "", "tag:", "nonsense"]) expect(groupingOf({ by })).toBeNull();
  expect(groupingOf({ by: "host", show: "history" })).toBeNull();
});

it("leads from a group to its problems", () => {
  const bySite = { groupBy: "tag", groupTag: "site" } as const;
  expect(insideGroup({ groupBy: "host" }, "7", undefined)).toEqual({ by: undefined, host: "7" });
  expect(insideGroup({ groupBy: "group" }, "8", undefined)).toEqual({ by: undefined, group: "8" });
  expect(insideGroup({ groupBy: "name" }, "down", undefined)).toMatchObject({ text: "down" });
  expect(insideGroup(bySite, "riga", "class=os")).toMatchObject({ tags: "class=os, site=riga" });
  expect(insideGroup(bySite, "", undefined)).toMatchObject({ tags: "!site" });
});
