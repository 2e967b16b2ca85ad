import { formatClock, formatDuration, formatWeekday } from "./time";

/** Who of a schedule gets a message. */
export const ON_CALL_WHO = [
  ["0", "On call at that time"],
  ["1", "Next in turn"],
  ["2", "Everyone of the schedule"],
] as const;

/** The recipients that a schedule stands for: "On call in Databases". */
export function onCallWords(who: string, schedule: string): string {
  const words: Record<string, string> = {
    "0": "On call in",
    "1": "Next in turn of",
    "2": "Everyone of",
  };
  return `${words[who] ?? `Unknown users (${who}) of`} ${schedule}`;
}

/** What a layer does on holidays. */
export const HOLIDAY_RULES = [
  ["0", "As on other days"],
  ["1", "Not on holidays"],
  ["2", "Only on holidays"],
] as const;

interface RawShift {
  scheduleid: string;
  userid: string;
  from: string;
  to: string;
  layer: string;
  overrideid: string;
  gap: string;
}

/** A time in which a user is on call, or nobody. */
export interface Shift {
  scheduleid: string;
  /** "0": nobody. */
  userid: string;
  from: number;
  to: number;
  /** Place of the layer; -1: an override, or a gap. */
  layer: number;
  /** "0": none. */
  overrideid: string;
  isGap: boolean;
}

export const shiftOf = (row: RawShift): Shift => ({
  scheduleid: row.scheduleid,
  userid: row.userid,
  from: Number(row.from),
  to: Number(row.to),
  layer: Number(row.layer),
  overrideid: row.overrideid,
  isGap: row.gap === "1",
});

/**
 * Shifts in their order; those that continue another of the same user are one with it. Overrides stay
 * separate, unless `across` is set.
 */
export function joined(shifts: readonly Shift[], across = false): Shift[] {
  const result: Shift[] = [];
  for (const shift of shifts) {
    const last = result.at(-1);
    const continues =
      last !== undefined &&
      last.scheduleid === shift.scheduleid &&
      last.userid === shift.userid &&
      (across || last.overrideid === shift.overrideid) &&
      last.to === shift.from;
    if (continues) result[result.length - 1] = { ...last, to: shift.to };
    else result.push(shift);
  }
  return result;
}

/** Who is on call at a moment, and who after that; undefined: unknown. */
export function nowAndNext(
  shifts: readonly Shift[],
  now: number,
): { current: Shift | undefined; next: Shift | undefined } {
  const all = joined(shifts, true);
  const at = all.findIndex(({ from, to }) => from <= now && now < to);
  return { current: all[at], next: at < 0 ? undefined : all[at + 1] };
}

const DAYS = 7;

/** The midnights of a week, in the browser's time: 8 moments from the day of `clock`, or weeks after it. */
export function weekFrom(clock: number, weeks = 0): number[] {
  return Array.from({ length: DAYS + 1 }, (_, n) => {
    const day = new Date(clock * 1000);
    day.setDate(day.getDate() + weeks * DAYS + n);
    return Math.floor(day.setHours(0, 0, 0, 0) / 1000);
  });
}

/** Whether a day that begins then is a Saturday or a Sunday. */
export const isWeekend = (midnight: number) => [0, 6].includes(new Date(midnight * 1000).getDay());

/** Where a moment is between the first and the last of `days`, in per cent; days are equally wide. */
export function placeOf(clock: number, days: readonly number[]): number {
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  const at = Math.min(Math.max(clock, first), last);
  const day = days.findLastIndex((start) => start <= at);
  const count = days.length - 1;
  if (day >= count) return 100;
  const start = days[day] ?? at;
  const end = days[day + 1] ?? at;
  return ((day + (at - start) / Math.max(end - start, 1)) / count) * 100;
}

export interface Block extends Shift {
  left: number;
  width: number;
}

/** The shifts within these days, with their places in per cent. */
export function blocksOf(shifts: readonly Shift[], days: readonly number[]): Block[] {
  const [first = 0, last = 0] = [days[0], days.at(-1)];
  return shifts
    .filter(({ from, to }) => from < last && to > first)
    .map((shift) => {
      const left = placeOf(shift.from, days);
      return { ...shift, left, width: placeOf(shift.to, days) - left };
    });
}

/** The part of a shift that is within a day. */
export interface Part {
  from: number;
  to: number;
  shift: Shift;
}

/** The shifts of each day, cut to it. */
export function byDay(shifts: readonly Shift[], days: readonly number[]): Part[][] {
  return days.slice(0, -1).map((start, n) => {
    const end = days[n + 1] ?? start;
    return shifts
      .filter(({ from, to }) => from < end && to > start)
      .map((shift) => ({
        shift,
        from: Math.max(shift.from, start),
        to: Math.min(shift.to, end),
      }));
  });
}

/** "Mon 2026-11-23". */
export const dayWords = (clock: number) => `${formatWeekday(clock)} ${formatClock(clock, "day")}`;

/** "Mon 2026-11-23 09:00". */
export const momentWords = (clock: number) =>
  `${formatWeekday(clock)} ${formatClock(clock, "minute")}`;

/** "09:00"; the end of a day is "24:00". */
export function timeWords(clock: number, dayEnd?: number): string {
  return clock === dayEnd ? "24:00" : formatClock(clock, "minute").slice(11);
}

/** "Mon 2026-11-23 09:00 – 17:00", with the day of the end if it is another one. */
export function shiftWords({ from, to }: { from: number; to: number }): string {
  const sameDay = formatClock(from, "day") === formatClock(to, "day");
  return `${momentWords(from)} – ${sameDay ? timeWords(to) : momentWords(to)}`;
}

/** "until Mon 2026-11-23 09:00, for 3d 4h". */
export const untilWords = (to: number, now: number) =>
  `until ${momentWords(to)}, for ${formatDuration(Math.max(to - now, 0))}`;

/** A fixed place in the palette for each user, in the order of their ids. */
export function colorPlaces(userids: readonly string[]): ReadonlyMap<string, number> {
  const unique = [...new Set(userids)].sort((a, b) => Number(a) - Number(b));
  return new Map(unique.map((id, at) => [id, at]));
}
