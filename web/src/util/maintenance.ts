import { PeriodType } from "~/api/schema";
import { formatClock } from "./time";
import { clockAt, wallAt } from "./zone";

const DAY_S = 86_400;
/** A start is looked for this far ahead, as the server does. */
const AHEAD_DAYS_MAX = 8 * 366 + 1_000;
/** Shortest period that the server takes. */
export const LENGTH_MIN_S = 300;

/** When a period repeats, as the API counts: 0 once, 2 daily, 3 weekly, 4 monthly. */
export type Repeat = "0" | "2" | "3" | "4";

/** One time period of a maintenance; bit masks count from Monday and January. */
export interface Period {
  repeat: Repeat;
  /** Days, weeks, or the week of the month (5 = the last one). */
  every: number;
  months: number;
  weekdays: number;
  /** Day of the month; 0 where weekdays are chosen. */
  day: number;
  /** Start within the day, in seconds. */
  startTime: number;
  /** In seconds. */
  length: number;
  /** Unix time of the only start. */
  startDate: number;
}

/** When a maintenance runs: periods that start in a span of unix time. */
export interface Schedule {
  since: number;
  till: number;
  periods: readonly Period[];
  /** The server's time zone, which says when a day begins; the browser's where it is not known. */
  zone?: string;
}

interface Day {
  year: number;
  month: number;
  date: number;
}

function dayAt(clock: number, plus: number, zone?: string): Day {
  const { year, month, date } = wallAt(clock, zone);
  const moved = new Date(Date.UTC(year, month, date + plus));
  return { year: moved.getUTCFullYear(), month: moved.getUTCMonth(), date: moved.getUTCDate() };
}

const dayNumber = ({ year, month, date }: Day) => Date.UTC(year, month, date) / (DAY_S * 1000);
// Day 0 was a Thursday.
const weekdayOf = (number: number) => (number + 3) % 7;

function startsOn(period: Period, day: Day, { since, zone }: Schedule): boolean {
  const number = dayNumber(day);
  const first = dayNumber(dayAt(since, 0, zone));
  const weekday = weekdayOf(number);
  if (period.repeat === PeriodType.Daily)
    return number >= first && (number - first) % period.every === 0;
  if (period.repeat === PeriodType.Weekly) {
    const weeks = Math.floor((number - (first - weekdayOf(first))) / 7);
    return ((period.weekdays >> weekday) & 1) === 1 && weeks >= 0 && weeks % period.every === 0;
  }
  if (((period.months >> day.month) & 1) === 0) return false;
  if (period.weekdays === 0) return day.date === period.day;
  const last = day.date + 7 > new Date(Date.UTC(day.year, day.month + 1, 0)).getUTCDate();
  const nth = Math.floor((day.date - 1) / 7) + 1;
  return (
    ((period.weekdays >> weekday) & 1) === 1 && (period.every === 5 ? last : nth === period.every)
  );
}

/** Its start on a day; a time that the clocks skip comes as late as they were moved. */
function startOn(period: Period, day: Day, schedule: Schedule): number | null {
  if (!startsOn(period, day, schedule)) return null;
  const start = clockAt({ ...day, seconds: period.startTime }, schedule.zone);
  return start >= schedule.since ? start : null;
}

function latestStart(period: Period, schedule: Schedule, now: number): number | null {
  if (period.repeat === PeriodType.Once) return period.startDate <= now ? period.startDate : null;
  for (let back = 0; back <= Math.floor(period.length / DAY_S) + 2; back++) {
    const start = startOn(period, dayAt(now, -back, schedule.zone), schedule);
    if (start !== null && start <= now) return start;
  }
  return null;
}

function nextStart(period: Period, schedule: Schedule, after: number): number | null {
  const { since, till, zone } = schedule;
  if (period.repeat === PeriodType.Once) {
    const start = Math.max(period.startDate, since);
    const over = Math.min(period.startDate + period.length, till);
    return start > after && start < over ? start : null;
  }
  const from = Math.max(after, since - 1);
  for (let ahead = -1; ahead < AHEAD_DAYS_MAX; ahead++) {
    const day = dayAt(from, ahead, zone);
    if (ahead > 1 && clockAt({ ...day, seconds: 0 }, zone) >= till) return null;
    const start = startOn(period, day, schedule);
    if (start !== null && start >= till) return null;
    if (start !== null && start > from) return start;
  }
  return null;
}

/** Until when it runs, if it runs at `now`. */
export function runsUntil(schedule: Schedule, now: number): number | null {
  if (now < schedule.since || now >= schedule.till) return null;
  let until: number | null = null;
  for (const period of schedule.periods) {
    const start = latestStart(period, schedule, now);
    const end = start === null ? now : start + period.length;
    if (end > now && end > (until ?? 0)) until = end;
  }
  return until === null ? null : Math.min(until, schedule.till);
}

/** The next starts after `after`, soonest first, with their ends. */
export function nextRuns(
  schedule: Schedule,
  after: number,
  count: number,
): { start: number; end: number }[] {
  const runs: { start: number; end: number }[] = [];
  let from = after;
  while (runs.length < count) {
    let best: { start: number; end: number } | null = null;
    for (const period of schedule.periods) {
      const start = nextStart(period, schedule, from);
      if (start === null || (best && start > best.start)) continue;
      const begun = period.repeat === PeriodType.Once ? period.startDate : start;
      const end = Math.min(begun + period.length, schedule.till);
      if (!best || start < best.start || end > best.end) best = { start, end };
    }
    if (!best) break;
    runs.push(best);
    from = best.start;
  }
  return runs;
}

export type State =
  | { is: "running"; until: number }
  | { is: "planned"; next: number }
  | { is: "over" };

export function stateAt(schedule: Schedule, now: number): State {
  const until = runsUntil(schedule, now);
  if (until !== null) return { is: "running", until };
  const next = nextRuns(schedule, now, 1)[0];
  return next ? { is: "planned", next: next.start } : { is: "over" };
}

const two = (n: number) => String(n).padStart(2, "0");

export function stateWords(state: State): string {
  if (state.is === "running") return `Running until ${formatClock(state.until, "minute")}`;
  if (state.is === "planned") return `Next ${formatClock(state.next, "minute")}`;
  return "Expired";
}

export const WEEKDAYS = ["Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun"] as const;
export const MONTHS = [
  "Jan",
  "Feb",
  "Mar",
  "Apr",
  "May",
  "Jun",
  "Jul",
  "Aug",
  "Sep",
  "Oct",
  "Nov",
  "Dec",
] as const;
export const WEEKS = ["first", "second", "third", "fourth", "last"] as const;

/** The names of a bit mask's bits. */
function chosen(mask: number, names: readonly string[]): string {
  return names.filter((_, bit) => (mask >> bit) & 1).join(", ");
}

/** Seconds of a day as a time box has them: `02:30`. */
export function timeText(seconds: number): string {
  return `${two(Math.floor(seconds / 3600))}:${two(Math.floor((seconds % 3600) / 60))}`;
}

/** The same back; null for what is no time. */
export function timeSeconds(text: string): number | null {
  const match = /^([01]?\d|2[0-3]):([0-5]\d)$/.exec(text.trim());
  return match ? Number(match[1]) * 3600 + Number(match[2]) * 60 : null;
}

/** A length as people type it: `1d 2h 30m`; nothing is rounded away but seconds. */
export function lengthText(seconds: number): string {
  const days = Math.floor(seconds / DAY_S);
  const hours = Math.floor((seconds % DAY_S) / 3600);
  const minutes = Math.floor((seconds % 3600) / 60);
  const parts = [days && `${days}d`, hours && `${hours}h`, minutes && `${minutes}m`];
  return parts.filter(Boolean).join(" ") || "0m";
}

/** The same back, in seconds; null for what cannot be read. */
export function lengthSeconds(text: string): number | null {
  const match =
    /^(?:(\d{1,4})\s*w)?\s*(?:(\d{1,5})\s*d)?\s*(?:(\d{1,5})\s*h)?\s*(?:(\d{1,6})\s*m)?$/.exec(
      text.trim().toLowerCase(),
    );
  if (!match?.[0]) return null;
  const [, weeks = "0", days = "0", hours = "0", minutes = "0"] = match;
  return (Number(weeks) * 7 + Number(days)) * DAY_S + Number(hours) * 3600 + Number(minutes) * 60;
}

/** When a period runs, in words: `Every Sat, Sun at 02:00 for 2h`. */
export function periodWords(period: Period): string {
  const { every } = period;
  const rest = `at ${timeText(period.startTime)} for ${lengthText(period.length)}`;
  if (period.repeat === PeriodType.Once) {
    const d = new Date(period.startDate * 1000);
    const time = `${two(d.getHours())}:${two(d.getMinutes())}`;
    return `Once, ${formatClock(period.startDate, "day")} at ${time} for ${lengthText(period.length)}`;
  }
  if (period.repeat === PeriodType.Daily)
    return `${every === 1 ? "Every day" : `Every ${every} days`} ${rest}`;
  const weekdays = period.weekdays === 127 ? "day" : chosen(period.weekdays, WEEKDAYS);
  if (period.repeat === PeriodType.Weekly) {
    if (every === 1) return `Every ${weekdays} ${rest}`;
    return `Every ${every} weeks on ${weekdays === "day" ? "every day" : weekdays} ${rest}`;
  }
  const months = period.months === 4095 ? "every month" : chosen(period.months, MONTHS);
  if (period.weekdays === 0) return `On day ${period.day} of ${months} ${rest}`;
  return `On the ${WEEKS[every - 1] ?? "first"} ${weekdays} of ${months} ${rest}`;
}
