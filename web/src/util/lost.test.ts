import { expect, test } from "vitest";
import { type Lost, lostAt, unite, withLost } from "./lost";

const lost = (from: number, till: number, more: Partial<Lost> = {}): Lost => ({
  itemid: "1",
  from,
  till,
  certain: true,
  reason: "1.seg: missing",
  ...more,
});
const spans = (ranges: { from: number; till: number }[]) =>
  ranges.map(({ from, till }) => [from, till]);

test.each([
  ["nothing", [], []],
  [
    "ranges apart",
    [lost(20, 30), lost(0, 10)],
    [
      [0, 10],
      [20, 30],
    ],
  ],
  ["the same range of two items", [lost(0, 10), lost(0, 10, { itemid: "2" })], [[0, 10]]],
  ["overlapping ranges", [lost(0, 10), lost(5, 15), lost(15, 20)], [[0, 20]]],
  ["a range inside another", [lost(0, 30), lost(5, 10), lost(20, 25)], [[0, 30]]],
  [
    "certain and possible loss, apart",
    [lost(0, 30), lost(10, 20, { certain: false }), lost(25, 40)],
    [
      [0, 40],
      [10, 20],
    ],
  ],
])("unites %s", (_, from, to) => {
  expect(spans(unite(from))).toEqual(to);
});

test.each([
  ["inside", 5, 0, true],
  ["at its end", 10, 0, true],
  ["next to it", 12, 2, true],
  ["farther away", 13, 2, undefined],
  ["before it", -1, 0, undefined],
])("the loss at a time %s", (_, at, slack, certain) => {
  const ranges = [lost(0, 10, { certain: false }), lost(0, 10)];
  expect(lostAt(ranges, at, slack)?.certain).toBe(certain);
});

const value = (clock: number) => ({ clock: String(clock) });
const shown = (rows: ReturnType<typeof withLost<{ clock: string }>>) =>
  rows.map((row) => ("clock" in row ? row.clock : `${row.from}-${row.till}`));

test.each([
  ["between values", [lost(11, 19)], true, ["30", "20", "11-19", "10"]],
  ["after the newest value", [lost(31, 40)], true, ["31-40", "30", "20", "10"]],
  ["older than a complete list", [lost(1, 5)], true, ["30", "20", "10", "1-5"]],
  ["older than a part of the values", [lost(1, 5)], false, ["30", "20", "10"]],
  ["over some values", [lost(5, 25)], true, ["30", "5-25", "20", "10"]],
  [
    "several at one place",
    [lost(11, 13), lost(14, 19)],
    true,
    ["30", "20", "14-19", "11-13", "10"],
  ],
])("a loss %s", (_, ranges, whole, to) => {
  expect(shown(withLost([value(30), value(20), value(10)], ranges, whole))).toEqual(to);
});

test("a list without values has the losses alone", () => {
  expect(shown(withLost([], [lost(1, 5), lost(7, 9)], true))).toEqual(["7-9", "1-5"]);
});
