import { expect, test } from "vitest";
import { colorFor, contrastOf, inkOn, legible, thresholdNumber } from "./colors";

const thresholds = [
  { from: 80, color: "#ff0000" },
  { from: 0, color: "#000000" },
];

test("a value has the colour of the highest threshold that it reaches", () => {
  expect(colorFor(-1, thresholds)).toBeUndefined();
  expect(colorFor(0, thresholds)).toBe("#000000");
  expect(colorFor(80, thresholds)).toBe("#ff0000");
});

test("colours between thresholds are blended, not beyond them", () => {
  expect(colorFor(40, thresholds, true)).toBe("#800000");
  expect(colorFor(200, thresholds, true)).toBe("#ff0000");
  expect(colorFor(-5, thresholds, true)).toBeUndefined();
});

test("thresholds have sizes and times", () => {
  expect(thresholdNumber("2K", "B")).toBe(2048);
  expect(thresholdNumber("2K", "bps")).toBe(2000);
  expect(thresholdNumber("5m", "s")).toBe(300);
  expect(thresholdNumber("-1.5", "")).toBe(-1.5);
  expect(thresholdNumber("high", "")).toBeNaN();
});

test("text on any colour can be read", () => {
  for (const color of ["#ffff00", "#1e88e5", "#7f7f7f", "#ff465c", "#e53935", "#000000"]) {
    expect(contrastOf(inkOn(color), color)).toBeGreaterThanOrEqual(4.5);
  }
  expect(legible("#ffffff", "#ffffff")).toBeUndefined();
  expect(legible("#000000", "#ffffff")).toBe("#000000");
});
