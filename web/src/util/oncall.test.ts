import { describe, expect, it } from "vitest";
import {
  blocksOf,
  byDay,
  isWeekend,
  joined,
  nowAndNext,
  placeOf,
  type Shift,
  shiftOf,
  weekFrom,
} from "./oncall";

const shift = (userid: string, from: number, to: number, more: Partial<Shift> = {}): Shift => ({
  scheduleid: "1",
  userid,
  from,
  to,
  layer: 0,
  overrideid: "0",
  isGap: userid === "0",
  ...more,
});

describe("shifts", () => {
  it("reads rows of the server", () => {
    const row = { scheduleid: "1", userid: "0", from: "10", to: "20", layer: "-1" };
    expect(shiftOf({ ...row, overrideid: "0", gap: "1" })).toEqual(
      shift("0", 10, 20, { layer: -1 }),
    );
  });
  it("joins what continues, and nothing across a gap or another schedule", () => {
    const shifts = [shift("1", 0, 10), shift("1", 10, 20, { layer: 1 }), shift("1", 30, 40)];
    expect(joined(shifts).map(({ from, to }) => [from, to])).toEqual([
      [0, 20],
      [30, 40],
    ]);
    const override = shift("1", 20, 25, { overrideid: "7" });
    expect(joined([shift("1", 0, 20), override])).toHaveLength(2);
    expect(joined([shift("1", 0, 20), override], true)).toHaveLength(1);
    const other = shift("1", 20, 30, { scheduleid: "2" });
    expect(joined([shift("1", 0, 20), other])).toHaveLength(2);
  });
  it("knows who is on call and who is next", () => {
    const shifts = [shift("1", 0, 10), shift("0", 10, 20), shift("2", 20, 30)];
    expect(nowAndNext(shifts, 9).current?.userid).toBe("1");
    expect(nowAndNext(shifts, 10)).toMatchObject({ current: { isGap: true }, next: { from: 20 } });
    expect(nowAndNext(shifts, 30)).toEqual({ current: undefined, next: undefined });
  });
});

describe("a week", () => {
  const noon = new Date(2026, 10, 25, 12).getTime() / 1000;
  const days = weekFrom(noon);
  it("begins at the midnight of the day", () => {
    const local = (clock: number) => new Date(clock * 1000);
    expect(days).toHaveLength(8);
    expect(days.map((clock) => local(clock).getHours())).toEqual(Array(8).fill(0));
    expect(days.map((clock) => local(clock).getDate())).toEqual([25, 26, 27, 28, 29, 30, 1, 2]);
    expect(weekFrom(noon, 1)[0]).toBe(days[7]);
    expect(weekFrom(days[0] ?? 0)).toEqual(days);
    expect(weekFrom((days[1] ?? 0) - 1)).toEqual(days);
    expect(days.slice(0, 7).map(isWeekend)).toEqual([
      false,
      false,
      false,
      true,
      true,
      false,
      false,
    ]);
  });
  it("places moments by day, whatever the length of the days", () => {
    // The second of these days has 25 hours.
    const long = [0, 24, 49, 73];
    expect(placeOf(24, long)).toBeCloseTo(100 / 3);
    expect(placeOf(49, long)).toBeCloseTo(200 / 3);
    expect(placeOf(36.5, long)).toBeCloseTo(50);
    expect([placeOf(-5, long), placeOf(73, long), placeOf(99, long)]).toEqual([0, 100, 100]);
  });
  it("cuts shifts to its days", () => {
    const [first = 0, second = 0, third = 0] = days;
    const over = shift("1", first - 3_600, second + 3_600);
    const parts = byDay([over, shift("2", second + 3_600, third)], days);
    expect(parts.map((day) => day.map((part) => part.shift.userid))).toEqual([
      ["1"],
      ["1", "2"],
      ...Array(5).fill([]),
    ]);
    expect(parts[0]?.[0]).toMatchObject({ from: first, to: second });
    expect(blocksOf([over, shift("1", 0, 10)], days)).toMatchObject([
      { left: 0, from: first - 3_600 },
    ]);
  });
});
