import { describe, expect, it } from "vitest";
import { clockAt, knowsZone, wallAt } from "./zone";

const utc = (text: string) => Date.parse(`${text}Z`) / 1000;
const wall = (text: string) => {
  const [year = 0, month = 1, date = 1, hour = 0, minute = 0] = text.split(/[-T:]/).map(Number);
  return { year, month: month - 1, date, seconds: hour * 3600 + minute * 60 };
};

describe("time zones", () => {
  it.each([
    ["UTC", "2026-01-01T00:00", "2026-01-01T00:00"],
    ["Europe/Riga", "2026-11-22T02:00", "2026-11-22T00:00"],
    ["Europe/Riga", "2026-07-01T02:30", "2026-06-30T23:30"],
    ["America/New_York", "2025-12-31T19:00", "2026-01-01T00:00"],
    ["Asia/Kolkata", "2026-01-01T05:30", "2026-01-01T00:00"],
    // Shown twice: the first time counts.
    ["Europe/Riga", "2026-10-25T03:30", "2026-10-25T00:30"],
    // Midnight itself is skipped in São Paulo's last summer.
    ["America/Sao_Paulo", "2018-11-03T23:59", "2018-11-04T02:59"],
  ])("%s shows %s at %s UTC", (zone, shown, moment) => {
    expect(clockAt(wall(shown), zone)).toBe(utc(moment));
    expect(wallAt(utc(moment), zone)).toEqual(wall(shown));
  });

  it("brings a time that the clocks skip as late as they were moved", () => {
    expect(clockAt(wall("2026-03-29T03:30"), "Europe/Riga")).toBe(utc("2026-03-29T01:30"));
    expect(wallAt(utc("2026-03-29T01:30"), "Europe/Riga")).toEqual(wall("2026-03-29T04:30"));
  });

  it("takes the browser's zone where none is named", () => {
    const local = new Date(2026, 6, 1, 12, 34).getTime() / 1000;
    expect(wallAt(local)).toEqual(wall("2026-07-01T12:34"));
    expect(clockAt(wall("2026-07-01T12:34"))).toBe(local);
  });

  it("knows which zones there are", () => {
    expect(["Europe/Riga", "UTC", "Nowhere/Land"].map(knowsZone)).toEqual([true, true, false]);
  });
});
