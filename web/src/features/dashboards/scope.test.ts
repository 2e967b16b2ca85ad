// @vitest-environment happy-dom
import { expect, test } from "vitest";
import type { Widget } from "~/api/dashboards";
import { usesHost, usesTime, withScope } from "./scope";

const widget = (type: string, fields: Record<string, string>): Widget => ({
  widgetid: "1",
  type,
  name: "",
  x: "0",
  y: "0",
  width: "12",
  height: "5",
  view_mode: "0",
  fields: Object.entries(fields).map(([name, value]) => ({ type: "1", name, value })),
});
const OF_DASHBOARD: Record<string, string>[] = [
  {},
  { "time_period._reference": "DASHBOARD._timeperiod" },
];
const OTHER: Record<string, string>[] = [
  { "time_period.from": "now-1d" },
  { "time_period._reference": "ABCDE._timeperiod" },
];
const page = (one: Widget) => [
  { dashboard_pageid: "1", name: "", display_period: "0", widgets: [one] },
];
const scope = { hostid: "10", range: { from: "now-2h", to: "now" } };
const textOf = (one: Widget, name: string) =>
  one.fields.find((field) => field.name === name)?.value;

test("the host of the dashboard takes the place of a reference to it", () => {
  const problems = widget("problems", { "hostids._reference": "DASHBOARD._hostid" });
  expect(usesHost(page(problems))).toBe(true);
  expect(withScope(problems, scope).fields).toEqual([
    { type: "3", name: "hostids.0", value: "10" },
  ]);
  expect(withScope(problems, { ...scope, hostid: undefined })).toBe(problems);
  const other = widget("problems", { "hostids._reference": "ABCDE._hostids" });
  expect(usesHost(page(other))).toBe(false);
  expect(withScope(other, scope).fields).toEqual(other.fields);
});

test("graphs without their own time have that of the dashboard", () => {
  for (const fields of OF_DASHBOARD) {
    const graph = widget("graph", fields);
    expect(usesTime(page(graph))).toBe(true);
    const shown = withScope(graph, scope);
    expect(textOf(shown, "time_period.from")).toBe("now-2h");
    expect(textOf(shown, "time_period._reference")).toBeUndefined();
  }
  for (const fields of OTHER) {
    const graph = widget("graph", fields);
    expect(usesTime(page(graph))).toBe(false);
    expect(withScope(graph, scope)).toBe(graph);
  }
  expect(usesTime(page(widget("problems", {})))).toBe(false);
});
