import { describe, expect, it } from "vitest";
import {
  lengthSeconds,
  lengthText,
  nextRuns,
  type Period,
  periodWords,
  runsUntil,
  type Schedule,
  stateAt,
  stateWords,
  timeSeconds,
  timeText,
} from "./maintenance";
import { formatClock } from "./time";

const at = (text: string) => new Date(text).getTime() / 1000;
const DAY = 86_400;
/** A Wednesday, local time. */
const WEDNESDAY = at("2024-12-18T00:00:00");
const period = (more: Partial<Period>): Period => ({
  repeat: "2",
  every: 1,
  months: 0,
  weekdays: 0,
  day: 0,
  startTime: 7200,
  length: 3600,
  startDate: 0,
  ...more,
});
const schedule = (...periods: Period[]): Schedule => ({
  since: WEDNESDAY,
  till: WEDNESDAY + 400 * DAY,
  periods,
});

describe("runsUntil", () => {
  const december = 1 << 11;
  const third = { repeat: "4", months: december, weekdays: 0b100, every: 3 } as const;
  const cases: [string, Partial<Period>, string, boolean][] = [
    ["once, at its start", { repeat: "0", startDate: WEDNESDAY }, "2024-12-18T00:00:00", true],
    ["once, at its end", { repeat: "0", startDate: WEDNESDAY }, "2024-12-18T01:00:00", false],
    ["daily", {}, "2024-12-18T02:00:00", true],
    ["a second too early", {}, "2024-12-18T01:59:59", false],
    ["every other day", { every: 2 }, "2024-12-19T02:00:00", false],
    ["every other day, the third", { every: 2 }, "2024-12-20T02:00:00", true],
    ["over midnight", { startTime: 82_800, length: 7200 }, "2024-12-19T00:30:00", true],
    ["longer than a day", { repeat: "3", weekdays: 4, length: 3 * DAY }, "2024-12-20T12:00", true],
    ["weekly", { repeat: "3", weekdays: 0b100 }, "2024-12-18T02:00:00", true],
    ["weekly, another day", { repeat: "3", weekdays: 0b100 }, "2024-12-19T02:00:00", false],
    ["second week", { repeat: "3", weekdays: 4, every: 2 }, "2024-12-25T02:00:00", false],
    ["third week", { repeat: "3", weekdays: 4, every: 2 }, "2025-01-01T02:00:00", true],
    ["day of a month", { repeat: "4", months: december, day: 18 }, "2024-12-18T02:30:00", true],
    ["other month", { repeat: "4", months: 1 << 10, day: 18 }, "2024-12-18T02:30:00", false],
    ["third Wednesday", third, "2024-12-18T02:30:00", true],
    ["fourth Wednesday", third, "2024-12-25T02:30:00", false],
    ["last Wednesday", { ...third, every: 5 }, "2024-12-25T02:30:00", true],
    ["before it counts", {}, "2024-12-17T02:30:00", false],
  ];
  it.each(cases)("%s", (_, more, clock, on) => {
    expect(runsUntil(schedule(period(more)), at(clock)) !== null).toBe(on);
  });
  it("takes the longest, cut where the maintenance is over", () => {
    const two = schedule(period({}), period({ length: 7200 }));
    expect(runsUntil(two, at("2024-12-18T02:10:00"))).toBe(at("2024-12-18T04:00:00"));
    const cut = { ...two, till: at("2024-12-18T03:00:00") };
    expect(runsUntil(cut, at("2024-12-18T02:10:00"))).toBe(at("2024-12-18T03:00:00"));
  });
});

describe("nextRuns", () => {
  const starts = (s: Schedule, after: number, count = 3) =>
    nextRuns(s, after, count).map((run) => formatClock(run.start, "minute"));
  it("merges the periods", () => {
    const saturday = period({ repeat: "3", weekdays: 0b100000 });
    const monthly = period({ repeat: "4", months: 4095, day: 31, startTime: 0 });
    expect(starts(schedule(saturday, monthly), WEDNESDAY, 4)).toEqual([
      "2024-12-21 02:00",
      "2024-12-28 02:00",
      "2024-12-31 00:00",
      "2025-01-04 02:00",
    ]);
  });
  it("ends with the maintenance, and where a day never comes", () => {
    const short = { ...schedule(period({})), till: WEDNESDAY + DAY };
    expect(starts(short, WEDNESDAY)).toEqual(["2024-12-18 02:00"]);
    const never = period({ repeat: "4", months: 2, day: 30 });
    expect(starts(schedule(never), WEDNESDAY)).toEqual([]);
  });
  it("knows a single one until it is over", () => {
    const once = schedule(period({ repeat: "0", startDate: WEDNESDAY + 600 }));
    expect(nextRuns(once, WEDNESDAY, 2)).toEqual([
      { start: WEDNESDAY + 600, end: WEDNESDAY + 4200 },
    ]);
    expect(nextRuns(once, WEDNESDAY + 600, 2)).toEqual([]);
  });
});

it("tells its state in words", () => {
  const words = (clock: string) => stateWords(stateAt(daily, at(clock)));
  const daily = { ...schedule(period({})), till: at("2024-12-20T00:00:00") };
  expect(words("2024-12-18T02:10:00")).toBe("Running until 2024-12-18 03:00");
  expect(words("2024-12-18T03:00:00")).toBe("Next 2024-12-19 02:00");
  expect(words("2024-12-01T03:00:00")).toBe("Next 2024-12-18 02:00");
  expect(words("2024-12-19T03:00:00")).toBe("Expired");
});

describe("periodWords", () => {
  const cases: [Partial<Period>, string][] = [
    [{ repeat: "0", startDate: WEDNESDAY }, "Once, 2024-12-18 at 00:00 for 1h"],
    [{}, "Every day at 02:00 for 1h"],
    [{ every: 3 }, "Every 3 days at 02:00 for 1h"],
    [{ repeat: "3", weekdays: 0b1100000 }, "Every Sat, Sun at 02:00 for 1h"],
    [{ repeat: "3", weekdays: 1, every: 2 }, "Every 2 weeks on Mon at 02:00 for 1h"],
    [{ repeat: "4", months: 4095, day: 1 }, "On day 1 of every month at 02:00 for 1h"],
    [
      { repeat: "4", months: 0b1001, weekdays: 0b1000000, every: 5 },
      "On the last Sun of Jan, Apr at 02:00 for 1h",
    ],
  ];
  it.each(cases)("%j", (more, words) => expect(periodWords(period(more))).toBe(words));
});

describe("the server's time zone", () => {
  const utc = (text: string) => Date.parse(`${text}Z`) / 1000;
  const daily = (zone: string): Schedule => ({
    since: utc("2026-03-27T00:00:00"),
    till: utc("2026-04-27T00:00:00"),
    periods: [period({ startTime: 3 * 3600 + 1800 })],
    zone,
  });
  it.each([
    ["UTC", ["2026-03-28T03:30", "2026-03-29T03:30", "2026-03-30T03:30"]],
    // The clocks skip from 03:00 to 04:00 on the 29th.
    ["Europe/Riga", ["2026-03-28T01:30", "2026-03-29T01:30", "2026-03-30T00:30"]],
    ["America/New_York", ["2026-03-28T07:30", "2026-03-29T07:30", "2026-03-30T07:30"]],
  ])("says when periods start: %s", (zone, starts) => {
    const runs = nextRuns(daily(zone), utc("2026-03-27T12:00:00"), 3);
    expect(runs.map((run) => run.start)).toEqual(starts.map((text) => utc(`${text}:00`)));
    expect(runsUntil(daily(zone), utc(`${starts[1]}:00`))).toBe(utc(`${starts[1]}:00`) + 3600);
    expect(runsUntil(daily(zone), utc(`${starts[1]}:00`) - 1)).toBeNull();
  });
});

describe("lengths and times", () => {
  const lengths: [string, number | null, string?][] = [
    ["2h", 7200],
    ["90m", 5400, "1h 30m"],
    ["1d 2h 30m", 95_400],
    ["1w", 604_800, "7d"],
    ["1H30M", 5400, "1h 30m"],
    ["", null],
    ["2", null],
    ["2h 1d", null],
    ["-1h", null],
  ];
  it.each(lengths)("%s", (text, seconds, back = text) => {
    expect(lengthSeconds(text)).toBe(seconds);
    if (seconds !== null) expect(lengthText(seconds)).toBe(back);
  });
  it("reads times of day", () => {
    expect(["02:30", "2:30", "24:00", "12", ""].map(timeSeconds)).toEqual([
      9000,
      9000,
      null,
      null,
      null,
    ]);
    expect(timeText(9000)).toBe("02:30");
  });
});
