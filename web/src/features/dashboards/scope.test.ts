import { expect, test } from "vitest";
import type { Widget } from "~/api/dashboards";
import { usesHost, usesTime } from "./scope";

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

test("widgets follow the host of the dashboard by a reference", () => {
  const problems = (reference: string) =>
    page(widget("problems", { "hostids._reference": reference }));
  expect(usesHost(problems("DASHBOARD._hostid"))).toBe(true);
  expect(usesHost(problems("ABCDE._hostids"))).toBe(false);
});

test("graphs without their own time have that of the dashboard", () => {
  for (const fields of OF_DASHBOARD) expect(usesTime(page(widget("graph", fields)))).toBe(true);
  for (const fields of OTHER) expect(usesTime(page(widget("graph", fields)))).toBe(false);
  expect(usesTime(page(widget("problems", {})))).toBe(false);
});
