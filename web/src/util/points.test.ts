import { describe, expect, it } from "vitest";
import { bucketWidth, chooseSource, mergeBuckets, nextSource, type Series } from "./points";

const NOW = 1_700_000_000;
const DAY = 86_400;

describe("chooseSource", () => {
  const cases: [string, string, string, string, number, number, Series["source"]][] = [
    // value type, delay, history, trends, from and till in days ago
    ["3", "1m", "31d", "365d", 1, 0, "history"],
    ["3", "1m", "31d", "365d", 7, 0, "trends"],
    ["3", "1h", "31d", "365d", 30, 0, "history"],
    ["3", "1m", "31d", "365d", 90, 89, "trends"],
    ["3", "1m", "31d", "0", 7, 0, "buckets"],
    ["0", "1m", "365d", "0", 365, 0, "buckets"],
    ["0", "0", "365d", "0", 365, 0, "buckets"],
    ["0", "1d", "365d", "0", 365, 0, "history"],
    ["0", "1m", "365d", "30d", 365, 0, "buckets"],
    ["0", "1m", "365d", "30d", 300, 299, "history"],
    ["0", "1m", "365d", "30d", 20, 0, "trends"],
    ["0", "1m", "{$KEEP}", "30d", 365, 0, "buckets"],
    ["0", "1m", "0", "365d", 1, 0, "trends"],
    ["4", "1m", "365d", "0", 365, 0, "history"],
  ];
  it.each(cases)("%s %s %s %s %d %d: %s", (type, delay, history, trends, from, till, source) => {
    const item = { itemid: "1", value_type: type, delay, history, trends };
    const span = { from: NOW - from * DAY, till: NOW - till * DAY };
    expect(chooseSource(item, span, NOW)).toBe(source);
  });
});

it("keeps buckets of an item that has too many raw values", () => {
  const series = (source: Series["source"]): Series => ({
    itemid: "1",
    source,
    clocks: [],
    values: [],
  });
  expect(nextSource("history", series("buckets"))).toBe("buckets");
  expect(nextSource("history", series("history"))).toBe("history");
  expect(nextSource("history", undefined)).toBe("history");
  expect(nextSource("trends", series("buckets"))).toBe("trends");
});

describe("bucketWidth", () => {
  it.each([
    [DAY, 300],
    [7 * DAY, 1800],
    [30 * DAY, 3600],
    [365 * DAY, 12 * 3600],
    [3650 * DAY, 4 * DAY],
    [3600, 5],
    [1, 1],
  ])("%d seconds: %d", (length, width) => {
    expect(bucketWidth({ from: NOW, till: NOW + length })).toBe(width);
  });
});

describe("mergeBuckets", () => {
  const buckets = (clocks: number[], values: number[]): Series => ({
    itemid: "1",
    source: "buckets",
    clocks,
    values,
    low: values.map((value) => value - 1),
    high: values.map((value) => value + 1),
  });
  it("replaces the last bucket and forgets what left", () => {
    const before = buckets([30, 90, 150, 200], [1, 2, 3, 4]);
    const tail = buckets([210, 245], [5, 6]);
    const merged = mergeBuckets(before, tail, 180, { from: 60, till: 250 });
    expect(merged).toEqual(buckets([90, 150, 210, 245], [2, 3, 5, 6]));
  });
  it("bears a tail without values", () => {
    const before = buckets([90], [2]);
    expect(mergeBuckets(before, buckets([], []), 120, { from: 60, till: 250 })).toEqual(before);
  });
});
