import { describe, expect, it } from "vitest";
import { pointAt } from "./tooltip";

describe("pointAt", () => {
  const other = undefined;
  const clocks = [0, 10, 20, 30];
  const cases: [string, (number | null | undefined)[], number, number | null][] = [
    ["a point of its own", [1, 2, 3, 4], 10, 1],
    ["the nearer of two points", [1, other, other, 4], 18, 3],
    ["the nearer of two points before the middle", [1, other, other, 4], 12, 0],
    ["nothing in a gap", [1, null, 3, 4], 10, null],
    ["nothing between a point and a gap", [1, other, null, 3], 9, null],
    ["a point next to a gap", [1, null, 3, 4], 1, 0],
    ["a single point between gaps", [null, 2, null, null], 11, 1],
    ["nothing before the first point", [other, other, 3, 4], 4, null],
    ["nothing before the start of the data", [1, 2, 3, 4], -5, null],
    ["nothing after the last point", [1, 2, other, other], 25, null],
    ["nothing after the end of the data", [1, 2, 3, 4], 33, null],
    ["the last point just after it", [1, 2, 3, 4], 32, 3],
    ["nothing in an empty line", [other, other, other, other], 10, null],
  ];
  it.each(cases)("finds %s", (_, column, at, index) => {
    expect(pointAt(column, clocks, at, 2)).toBe(index);
  });
});
