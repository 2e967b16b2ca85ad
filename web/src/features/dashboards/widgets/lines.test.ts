import { expect, test } from "vitest";
import type { ChartLine } from "~/charts/tooltip";
import { dataSetsOf, overridden, overridesOf } from "./data-sets";
import { bridged, inSteps, percentileOf, shiftedRange, simpleLimit, stacked } from "./lines";
import { isWild } from "./patterns";
import { Settings } from "./settings";

const settings = (fields: Record<string, string>) =>
  Settings.of({
    fields: Object.entries(fields).map(([name, value]) => ({ type: "1", name, value })),
  });
const line = (id: string, values: number[], right = false): ChartLine => ({
  id,
  name: id,
  units: "",
  clocks: values.map((_, n) => n),
  values,
  look: { right },
});

test("a data set of items has a colour for each, one of patterns has one for all", () => {
  const [items, patterns] = dataSetsOf(
    settings({
      "ds.0.dataset_type": "0",
      "ds.0.itemids.0": "7",
      "ds.0.itemids.1": "8",
      "ds.0.color.0": "FF0000",
      "ds.0.color.1": "00FF00",
      "ds.1.hosts.0": "web*",
      "ds.1.items.0": "*cpu",
      "ds.1.color": "0000FF",
      "ds.1.axisy": "1",
      "ds.1.aggregate_function": "3",
      "ds.1.aggregate_interval": "30m",
    }),
  );
  expect(items?.items.map(({ itemid, color }) => [itemid, color])).toEqual([
    ["7", "#FF0000"],
    ["8", "#00FF00"],
  ]);
  expect(patterns?.look).toMatchObject({ color: "#0000FF", right: true });
  expect([patterns?.aggregate, patterns?.every]).toEqual(["avg", 1800]);
});

test("an item of another widget is a reference", () => {
  const [set] = dataSetsOf(
    settings({ "ds.0.dataset_type": "0", "ds.0.itemids.0._reference": "NAV._itemid" }),
  );
  expect(set?.items).toEqual([{ reference: "NAV", color: undefined, isTotal: false }]);
});

test("overrides change only the items that their patterns select", () => {
  const all = settings({
    "ds.0.color": "FF0000",
    "or.0.items.0": "*write*",
    "or.0.color": "00FF00",
    "or.0.axisy": "1",
  });
  const [set] = dataSetsOf(all);
  if (!set) throw new Error("no data set");
  const styled = (name: string) => overridden(set, overridesOf(all), "web", name).look;
  expect(styled("Disk write rate")).toMatchObject({ color: "#00FF00", right: true });
  expect(styled("Disk read rate")).toMatchObject({ color: "#FF0000", right: false });
});

test("patterns stand for whole names", () => {
  expect(isWild("*cpu*", "System CPU time")).toBe(true);
  expect(isWild("cpu", "System CPU time")).toBe(false);
  expect(isWild("Fan [*]", "Fan [1.2]")).toBe(true);
});

test("a range moves by a shift", () => {
  const range = { from: "now-1h", to: "now" };
  expect(shiftedRange(range, "-1d")).toEqual({ from: "now-1h-1d", to: "now-1d" });
  expect(shiftedRange({ from: "1000000000", to: "1000003600" }, "-1h").from).toBe("999996400");
  expect(shiftedRange(range, "soon")).toBe(range);
});

test("steps have the result of their points and no more", () => {
  const points = [
    { clocks: [0, 10, 130], values: [1, 3, 9] },
    { clocks: [20], values: [5] },
  ];
  expect(inSteps(points, "avg", 60)).toEqual({ clocks: [30, 150], values: [3, 9] });
  expect(inSteps(points, "count", 60).values).toEqual([3, 1]);
});

test("missing values are zero, the last one, or a line", () => {
  const points = { clocks: [0, 1, 2, 50, 51], values: [4, 4, 4, 8, 8] };
  expect(bridged(points, "zero").values).toEqual([4, 4, 4, 0, 0, 8, 8]);
  expect(bridged(points, "last").values).toEqual([4, 4, 4, 4, 4, 8, 8]);
  expect(bridged(points, "joined").joined).toBe(true);
  expect(bridged(points, "gap")).toBe(points);
});

test("stacked lines stand on those before them, on their own side", () => {
  const lines = stacked(
    [line("a", [1, 2]), line("b", [3, 4]), line("c", [5, 5], true)],
    () => true,
  );
  expect(lines.map(({ values }) => values)).toEqual([
    [1, 2],
    [4, 6],
    [5, 5],
  ]);
  expect(lines.map(({ base }) => base)).toEqual([undefined, "a", undefined]);
  expect(lines[1]?.own).toEqual([3, 4]);
});

test("a percentile is one of the values of its side", () => {
  const lines = [line("a", [1, 2, 3, 4]), line("b", [100], true)];
  expect(percentileOf(lines, false, 50)).toBe(2);
  expect(percentileOf(lines, false, 100)).toBe(4);
  expect(percentileOf([], false, 95)).toBeNull();
});

test("only triggers that compare an item with a constant have a limit", () => {
  expect(simpleLimit("last(/web/system.cpu.util)>80")).toBe(80);
  expect(simpleLimit("min(/web/vfs.fs.free[/],5m)<2G")).toBe(2 * 1024 ** 3);
  expect(simpleLimit("last(/web/a)>1 and last(/web/b)>2")).toBeNull();
  expect(simpleLimit("last(/web/a)>{$LIMIT}")).toBeNull();
});
