import { describe, expect, it } from "vitest";
import { nearest } from "./tooltip";

describe("nearest", () => {
  const other = undefined;
  const cases: [string, (number | null | undefined)[], number, number | null][] = [
    ["a point of its own", [1, 2, 3], 1, 2],
    ["the nearer of two points", [1, other, other, 4], 2, 4],
    ["nothing in a gap", [1, null, 3], 1, null],
    ["nothing between a point and a gap", [1, other, null, 3], 1, null],
    ["nothing before the first point", [other, other, 3], 0, null],
    ["nothing past the last point", [1, other, other], 2, null],
    ["nothing in an empty line", [other, other], 1, null],
  ];
  it.each(cases)("finds %s", (_, column, idx, value) => {
    expect(nearest(column, idx)).toBe(value);
  });
});
