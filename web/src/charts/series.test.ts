import { describe, expect, it } from "vitest";
import { align, summarize, thin, usualStep, valueRange, withGaps } from "./series";

const line = (clocks: number[], values = clocks.map((_, i) => i)) => ({ clocks, values });

describe("gaps", () => {
  it("takes the median step", () => {
    expect(usualStep([0, 10, 20, 30, 1000])).toBe(10);
    expect(usualStep([])).toBe(0);
    expect(usualStep([5])).toBe(0);
  });
  it("breaks a line that was silent", () => {
    const { clocks, values } = withGaps(line([0, 10, 20, 30, 200, 210]));
    expect(values).toEqual([0, 1, 2, 3, null, 4, 5]);
    expect(clocks[4]).toBeGreaterThan(30);
    expect(clocks[4]).toBeLessThan(200);
  });
  it("bears a late point", () => {
    expect(withGaps(line([0, 10, 20, 42])).values).not.toContain(null);
  });
});

describe("align", () => {
  it("gives lines a shared axis", () => {
    const { clocks, columns } = align([line([0, 10, 20]), line([5, 10, 15], [7, 8, 9])]);
    expect(clocks).toEqual([0, 5, 10, 15, 20]);
    expect(columns).toEqual([
      [0, undefined, 1, undefined, 2],
      [undefined, 7, 8, 9, undefined],
    ]);
  });
  it("bears no lines and empty lines", () => {
    expect(align([])).toEqual({ clocks: [], columns: [] });
    expect(align([line([])])).toEqual({ clocks: [], columns: [[]] });
  });
});

describe("valueRange", () => {
  const cases: [number | null, number | null, string, [number, number]][] = [
    [null, null, "", [0, 1]],
    [0, 0, "", [0, 1]],
    [5, 5, "", [0, 6]],
    [-5, -5, "", [-6, 0]],
    [0, 100, "", [0, 108]],
    [0, 100, "%", [0, 100]],
    [90, 100, "%", [0, 100]],
    [null, null, "%", [0, 100]],
    [1000, 1100, "B", [992, 1108]],
    [-100, 100, "", [-116, 116]],
    [-10, -1, "", [-10.72, 0]],
    [0, 200, "%", [0, 216]],
  ];
  it.each(cases)("%d to %d %s", (min, max, units, [low, high]) => {
    const range = valueRange(min, max, units);
    expect(range[0]).toBeCloseTo(low);
    expect(range[1]).toBeCloseTo(high);
  });
});

describe("valueRange of a zoomed chart", () => {
  it("fits percentages, within 0 and 100", () => {
    const [low, high] = valueRange(90, 100, "%", true);
    expect(low).toBeCloseTo(89.2);
    expect(high).toBe(100);
  });
});

describe("summarize", () => {
  it("counts", () => {
    expect(summarize({ clocks: [0, 1, 2], values: [4, 1, 7] })).toEqual({
      last: 7,
      min: 1,
      avg: 4,
      max: 7,
    });
  });
  it("uses the trends' extremes", () => {
    const s = summarize({ clocks: [0, 1], values: [4, 5], low: [1, 2], high: [9, 8] });
    expect([s.min, s.max]).toEqual([1, 9]);
  });
  it("knows nothing of nothing", () => {
    expect(summarize({ clocks: [], values: [] }).last).toBeNull();
  });
});

describe("thin", () => {
  it("keeps the extremes", () => {
    const clocks = Array.from({ length: 1000 }, (_, i) => i);
    const values = clocks.map((i) => (i === 503 ? 99 : i === 777 ? -99 : 0));
    const thinned = thin({ clocks, values }, 20);
    expect(thinned.values).toContain(99);
    expect(thinned.values).toContain(-99);
    expect(thinned.clocks.length).toBeLessThanOrEqual(40);
    expect([...thinned.clocks].sort((a, b) => a - b)).toEqual(thinned.clocks);
  });
  it("leaves short lines alone", () => {
    const short = line([1, 2, 3]);
    expect(thin(short, 20)).toBe(short);
  });
});
