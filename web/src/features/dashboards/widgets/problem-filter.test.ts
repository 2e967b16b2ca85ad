// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Widget } from "~/api/dashboards";
import { notApplied, problemFilter } from "./problem-filter";

const widget = (type: string, fields: Record<string, string>): Widget => ({
  widgetid: "1",
  type,
  name: "",
  x: "0",
  y: "0",
  width: "12",
  height: "5",
  view_mode: "0",
  fields: Object.entries(fields).map(([name, value]) => ({
    type: name.includes("groupids.") ? "2" : "1",
    name,
    value,
  })),
});

test("excluded host groups are no filter of the widget, and it says so", () => {
  const problems = widget("problems", { "groupids.0": "2", "exclude_groupids.0": "4" });
  expect(problemFilter(problems).groupids).toEqual(["2"]);
  expect(notApplied(problems)).toEqual(["excluded host groups"]);
});

test("a list of problems applies the settings of its filter", () => {
  const fields = {
    "hostids.10": "11",
    "hostids.9": "10",
    "severities.0": "4",
    "severities.1": "5",
    "tags.0.tag": "site",
    "tags.0.operator": "1",
    "tags.0.value": "riga",
    "tags.1.tag": "team",
    evaltype: "2",
    show: "3",
    acknowledgement_status: "2",
    problem: "disk",
    show_suppressed: "1",
    sort_triggers: "1",
    show_lines: "5",
  };
  expect(problemFilter(widget("problems", fields))).toEqual({
    mode: "open",
    groupids: [],
    hostids: ["10", "11"],
    severities: [4, 5],
    tags: [
      { tag: "site", operator: 1, value: "riga" },
      { tag: "team", operator: 0, value: "" },
    ],
    anyTag: true,
    text: "disk",
    acknowledged: true,
    suppressed: undefined,
    sort: "severity",
  });
  expect(notApplied(widget("problems", fields))).toEqual([]);
  expect(problemFilter(widget("problems", {}))).toMatchObject({ mode: "recent", sort: "time" });
  const older = widget("problems", { unacknowledged: "1", severities: "3" });
  expect(problemFilter(older)).toMatchObject({ acknowledged: false, severities: [3] });
});

test("counts by severity are of open problems", () => {
  const counts = widget("problemsbysv", { ext_ack: "1", show: "2" });
  expect(problemFilter(counts)).toMatchObject({ mode: "open", acknowledged: false });
  expect(notApplied(counts)).toEqual(["show"]);
  expect(notApplied(widget("problemsbysv", { ext_ack: "2", show_type: "0" }))).toEqual([
    "separate acknowledged problems",
    "problems per host group",
  ]);
});

test("a reference to another widget is no id", () => {
  const problems = widget("problems", { "hostids._reference": "ABCDE._hostid" });
  expect(problemFilter(problems).hostids).toEqual([]);
  expect(notApplied(problems)).toEqual([]);
});

test("on the page of a host, a widget shows problems of the host", () => {
  const fields = { "hostids.0": "11", "hostids._reference": "DASHBOARD._hostid" };
  for (const type of ["problems", "problemsbysv"]) {
    expect(problemFilter(widget(type, fields), "10").hostids).toEqual(["10"]);
    expect(problemFilter(widget(type, {}), "10").hostids).toEqual(["10"]);
    expect(notApplied(widget(type, fields))).toEqual([]);
  }
});
