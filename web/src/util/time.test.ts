import { afterAll, beforeAll, describe, expect, it } from "vitest";
import {
  formatAgo,
  formatDuration,
  isLive,
  moveRange,
  offsetText,
  parseTime,
  periodSeconds,
  rangeLabel,
  resolveRange,
  tickLabel,
  widenRange,
} from "./time";

const now = new Date(2026, 10, 21, 10, 30, 15);
const at = (...parts: [number, number, number, number?, number?, number?]) =>
  Math.floor(
    new Date(
      parts[0],
      parts[1] - 1,
      parts[2],
      parts[3] ?? 0,
      parts[4] ?? 0,
      parts[5] ?? 0,
    ).getTime() / 1000,
  );

describe("parseTime", () => {
  const cases: [string, "from" | "to", number | null][] = [
    ["now", "to", at(2026, 11, 21, 10, 30, 15)],
    ["now-1h", "from", at(2026, 11, 21, 9, 30, 15)],
    ["now-90s", "from", at(2026, 11, 21, 10, 28, 45)],
    ["now-1w", "from", at(2026, 11, 14, 10, 30, 15)],
    ["now-1M", "from", at(2026, 10, 21, 10, 30, 15)],
    ["now-1y", "from", at(2025, 11, 21, 10, 30, 15)],
    ["now/h", "from", at(2026, 11, 21, 10)],
    ["now/d", "from", at(2026, 11, 21)],
    ["now/d", "to", at(2026, 11, 21, 23, 59, 59)],
    ["now-1d/d", "from", at(2026, 11, 20)],
    ["now-1d/d", "to", at(2026, 11, 20, 23, 59, 59)],
    ["now/w", "from", at(2026, 11, 16)],
    ["now/M", "from", at(2026, 11, 1)],
    ["now/y", "from", at(2026, 1, 1)],
    ["now-1d/d+8h", "from", at(2026, 11, 20, 8)],
    ["2026-11-20", "from", at(2026, 11, 20)],
    ["2026-11-20 12:34", "from", at(2026, 11, 20, 12, 34)],
    ["2026-11-20T12:34:56", "from", at(2026, 11, 20, 12, 34, 56)],
    ["1795255809", "from", 1795255809],
    [" now ", "to", at(2026, 11, 21, 10, 30, 15)],
    ["yesterday", "from", null],
    ["now-", "from", null],
    ["now-1x", "from", null],
    ["now-h", "from", null],
    ["", "from", null],
  ];
  it.each(cases)("%s as %s", (text, end, clock) => {
    expect(parseTime(text, end, now)).toBe(clock);
  });
});

describe("parseTime on the days when clocks change", () => {
  // Vitest runs in the zone of TZ; the zone is put back for other tests.
  const zone = process.env.TZ;
  beforeAll(() => {
    process.env.TZ = "Europe/Berlin";
  });
  afterAll(() => {
    if (zone === undefined) delete process.env.TZ;
    else process.env.TZ = zone;
  });
  it("finds yesterday late on the long day of autumn", () => {
    const late = new Date(2026, 9, 25, 23, 30);
    const day = Math.floor(new Date(2026, 9, 24).getTime() / 1000);
    expect(parseTime("now-1d/d", "from", late)).toBe(day);
    expect(parseTime("now-1d/d", "to", late)).toBe(day + 86_400 - 1);
    expect(parseTime("now-1d", "from", late)).toBe(day + 23.5 * 3600);
  });
  it("ends the long day of autumn after 25 hours", () => {
    const noon = new Date(2026, 9, 25, 12);
    const from = parseTime("now/d", "from", noon) ?? 0;
    expect((parseTime("now/d", "to", noon) ?? 0) - from).toBe(25 * 3600 - 1);
  });
});

describe("ranges", () => {
  it("refuses an empty or reversed range", () => {
    expect(resolveRange({ from: "now", to: "now-1h" }, now)).toBeNull();
    expect(resolveRange({ from: "nonsense", to: "now" }, now)).toBeNull();
  });
  it("knows which end moves", () => {
    expect(isLive({ from: "now-1h", to: "now" })).toBe(true);
    expect(isLive({ from: "now-1h", to: "now-30m" })).toBe(false);
  });
  it("moves by its own length", () => {
    const moved = moveRange({ from: "1000000000", to: "1000003600" }, -1, now);
    expect(moved).toEqual({ from: "999996400", to: "1000000000" });
  });
  it("widens around the middle, but not into the future", () => {
    expect(widenRange({ from: "1000000000", to: "1000003600" }, now)).toEqual({
      from: "999998200",
      to: "1000005400",
    });
    expect(widenRange({ from: "now-1h", to: "now" }, now).to).toBe("now");
  });
  it("has words for presets", () => {
    expect(rangeLabel({ from: "now-6h", to: "now" })).toBe("Last 6 hours");
    expect(rangeLabel({ from: "now-7h", to: "now" })).toBe("now-7h to now");
  });
});

describe("formatDuration", () => {
  const cases: [number, string][] = [
    [0, "0s"],
    [59, "59s"],
    [60, "1m"],
    [61, "1m 1s"],
    [3600, "1h"],
    [3605, "1h"],
    [90_000, "1d 1h"],
    [40_000_000, "1y 97d"],
    [-5, "0s"],
  ];
  it.each(cases)("%d s is %s", (seconds, text) => {
    expect(formatDuration(seconds)).toBe(text);
  });
});

describe("tickLabel", () => {
  const cases: [number, number, string][] = [
    [at(2026, 11, 21, 10, 5), 300, "10:05"],
    [at(2026, 11, 21, 10, 5, 30), 30, "10:05:30"],
    [at(2026, 11, 21), 3600, "11-21"],
    [at(2026, 11, 21, 10), 86_400, "11-21"],
    [at(2026, 11, 1), 30 * 86_400, "2026-11"],
  ];
  it.each(cases)("%d every %d s is %s", (clock, step, text) => {
    expect(tickLabel(clock, step)).toBe(text);
  });
});

describe("formatAgo", () => {
  const cases: [number, string][] = [
    [0, "just now"],
    [45, "45 s ago"],
    [600, "10 min ago"],
    [7200, "2 h ago"],
    [300_000, "3 d ago"],
  ];
  it.each(cases)("%d s is %s", (age, text) => {
    expect(formatAgo(1_000_000 - age, 1_000_000)).toBe(text);
  });
});

describe("periodSeconds", () => {
  const cases: [string, number | null][] = [
    ["30", 30],
    ["30s", 30],
    ["5m", 300],
    ["1h", 3600],
    ["2d", 172_800],
    ["1w", 604_800],
    ["{$DELAY}", null],
    ["1h;50s/1-7", null],
  ];
  it.each(cases)("%s", (text, seconds) => {
    expect(periodSeconds(text)).toBe(seconds);
  });
});

describe("offsetText", () => {
  const cases: [number, string][] = [
    [0, "UTC"],
    [120, "UTC+2"],
    [345, "UTC+5:45"],
    [-210, "UTC−3:30"],
  ];
  it.each(cases)("%d", (minutes, text) => {
    expect(offsetText(minutes)).toBe(text);
  });
});
