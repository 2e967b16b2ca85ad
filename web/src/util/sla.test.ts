import { expect, test } from "vitest";
import {
  daySpans,
  daysOf,
  isAlways,
  percent,
  periodWords,
  scheduleOf,
  sliWords,
  verdictOf,
} from "./sla";

const cell = (sli: number, uptime = 100, downtime = 0) => ({
  sli,
  uptime,
  downtime,
  error_budget: 0,
});

test("an indicator is met, missed or unknown, and unknown is not met", () => {
  expect(verdictOf(cell(99.9), 99.9)).toBe("met");
  expect(verdictOf(cell(99.89), 99.9)).toBe("missed");
  expect(verdictOf(cell(-1, 0, 0), 0)).toBe("unknown");
  expect(verdictOf(cell(100, 0, 0), 99)).toBe("unknown");
  expect(verdictOf(undefined, 99)).toBe("unknown");
  expect(sliWords(cell(-1, 0, 0), 99)).toBe("Unknown");
});

test("periods are days of the time zone of the agreement", () => {
  const day = { period_from: 1_577_829_600, period_to: 1_577_916_000 };
  expect(periodWords(day, "Europe/Riga")).toBe("2020-01-01");
  expect(periodWords({ ...day, period_to: 1_580_508_000 }, "Europe/Riga")).toBe(
    "2020-01-01 – 2020-01-31",
  );
  expect(periodWords(day, "no/zone")).toMatch(/^20(19|20)-/);
});

test("a percentage is not rounded up", () => {
  expect(percent(99.99999)).toBe("99.9999 %");
  expect(percent(100)).toBe("100 %");
});

test("a week is written by days and read back", () => {
  const days = ["", "08:00-12:00, 13:00-18:00", "", "", "", "", "00:00-24:00"];
  const schedule = scheduleOf(days);
  expect(schedule).toEqual([
    { period_from: 86_400 + 8 * 3600, period_to: 86_400 + 12 * 3600 },
    { period_from: 86_400 + 13 * 3600, period_to: 86_400 + 18 * 3600 },
    { period_from: 6 * 86_400, period_to: 7 * 86_400 },
  ]);
  expect(daysOf(schedule)).toEqual(days);
});

test("spans over midnight are split into days, and touching ones are merged", () => {
  expect(daysOf([{ period_from: 22 * 3600, period_to: 30 * 3600 }]).slice(0, 2)).toEqual([
    "22:00-24:00",
    "00:00-06:00",
  ]);
  const always = scheduleOf(Array.from({ length: 7 }, () => "00:00-24:00"));
  expect(always).toEqual([{ period_from: 0, period_to: 604_800 }]);
  expect(isAlways(always)).toBe(true);
  expect(isAlways(always.slice(1))).toBe(true);
  expect(isAlways([{ period_from: 0, period_to: 60 }])).toBe(false);
});

test.each(["8", "12:00-08:00", "08:00-25:00", "08:61-09:00", "1:00-2:00-3:00"])(
  "%s is no span",
  (text) => {
    expect(daySpans(text)).toBeNull();
  },
);
