import { expect, test } from "vitest";
import type { Widget } from "~/api/dashboards";
import {
  type Bus,
  hostFor,
  hostsFor,
  rangeFor,
  type Signals,
  sourceOf,
  sourcesOf,
  withSignals,
} from "./bus";

const widget = (fields: Record<string, string>): Widget => ({
  widgetid: "1",
  type: "honeycomb",
  name: "",
  x: "0",
  y: "0",
  width: "12",
  height: "5",
  view_mode: "0",
  fields: Object.entries(fields).map(([name, value]) => ({ type: "1", name, value })),
});
const busOf = (signals: Record<string, Partial<Signals>>, pageHost?: string): Bus => ({
  signals: new Map(Object.entries(signals)),
  send: () => undefined,
  pageHost,
});

test("a reference names the widget and what it sends", () => {
  expect(sourceOf("ABCDE._hostid")).toEqual({ reference: "ABCDE", signal: "_hostid" });
  expect(sourceOf("ABCDE")).toBeUndefined();
  expect(sourceOf("._hostid")).toBeUndefined();
  expect(sourcesOf(widget({ "itemid._reference": "AA._itemid", reference: "BB" }))).toHaveLength(1);
});

test("a widget has the host of the widget that it listens to", () => {
  const listener = widget({ "override_hostid._reference": "NAV._hostid", "hostids.0": "7" });
  expect(hostFor(busOf({}), listener).source).toBeDefined();
  expect(hostsFor(busOf({}), listener)).toEqual(["7"]);
  expect(hostsFor(busOf({ NAV: { _hostid: "9" } }), listener)).toEqual(["9"]);
  expect(hostsFor(busOf({ NAV: { _hostid: "9" } }, "5"), listener)).toEqual(["5"]);
});

test("the host of the dashboard is that of the page", () => {
  const listener = widget({ "override_hostid._reference": "DASHBOARD._hostid" });
  expect(hostFor(busOf({}, "5"), listener).value).toBe("5");
  expect(hostFor(busOf({ DASHBOARD: { _hostid: "6" } }), listener).value).toBe("6");
});

test("an own time wins over that of the dashboard, unreadable ones do not count", () => {
  const { signals } = busOf({ DASHBOARD: { _timeperiod: { from: "now-2d", to: "now" } } });
  expect(rangeFor(signals, widget({ "time_period.from": "now-1d" })).from).toBe("now-1d");
  expect(rangeFor(signals, widget({ "time_period.from": "yesterday" })).from).toBe("now-2d");
  expect(rangeFor(new Map(), widget({})).from).toBe("now-1h");
});

test("a signal replaces only what it names", () => {
  const first = withSignals(new Map(), "NAV", { _hostid: "1", _itemid: "2" });
  expect(withSignals(first, "NAV", { _hostid: "3" }).get("NAV")).toEqual({
    _hostid: "3",
    _itemid: "2",
  });
  expect(first.get("NAV")).toEqual({ _hostid: "1", _itemid: "2" });
});
