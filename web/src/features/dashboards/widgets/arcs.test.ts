import { expect, test } from "vitest";
import { arcPath, pointAt, slicesOf } from "./arcs";

test("angles go clockwise from the top", () => {
  expect(pointAt(0, 10)).toEqual([0, -10]);
  expect(pointAt(Math.PI / 2, 10)).toEqual([10, 0]);
  expect(pointAt(Math.PI, 10)).toEqual([0, 10]);
});

test("an arc without length is not drawn, a whole ring is two halves", () => {
  expect(arcPath(1, 1, 10, 5)).toBe("");
  expect(arcPath(0, Math.PI * 2, 10, 5).match(/M/g)).toHaveLength(2);
  expect(arcPath(0, Math.PI * 1.5, 10, 5)).toContain("0 1 1");
});

test("slices share the circle by size; negative values have none", () => {
  const [a, b, c] = slicesOf([1, -5, 3]);
  expect([a?.share, b?.share, c?.share]).toEqual([0.25, 0, 0.75]);
  expect(c?.till).toBeCloseTo(Math.PI * 2);
  expect(slicesOf([0, 0]).map(({ share }) => share)).toEqual([0, 0]);
});
