/** Statuses: unlike those of other objects, 1 is enabled. */
export const SLA_ON = "1";
export const SLA_OFF = "0";

export const PERIODS = [
  ["0", "Daily"],
  ["1", "Weekly"],
  ["2", "Monthly"],
  ["3", "Quarterly"],
  ["4", "Annually"],
] as const;

export const periodName = (period: string) =>
  PERIODS.find(([one]) => one === period)?.[1] ?? `Period ${period}`;

/** What a service did in a period. */
export interface SliCell {
  /** Seconds. */
  uptime: number | string;
  downtime: number | string;
  /** Per cent; negative: unknown, as before the service existed. */
  sli: number | string;
  /** Seconds of downtime that are left; negative: exceeded. */
  error_budget: number | string;
  excluded_downtimes?: { name: string; period_from: number | string; period_to: number | string }[];
}

export interface SlaPeriod {
  period_from: number | string;
  period_to: number | string;
}

/** Whether an indicator meets its objective. Without any time measured it is unknown, never good. */
export type Verdict = "met" | "missed" | "unknown";

export function verdictOf(cell: SliCell | undefined, slo: number): Verdict {
  if (!cell) return "unknown";
  const sli = Number(cell.sli);
  if (!Number.isFinite(sli) || sli < 0) return "unknown";
  if (Number(cell.uptime) + Number(cell.downtime) <= 0) return "unknown";
  return sli >= slo ? "met" : "missed";
}

/** "99.95 %"; nothing that is below 100 is rounded up to it. */
export function percent(value: number): string {
  // What binary fractions lack does not count.
  const shown = Math.floor(value * 10_000 + 1e-6) / 10_000;
  return `${shown} %`;
}

export const sliWords = (cell: SliCell | undefined, slo: number) =>
  !cell || verdictOf(cell, slo) === "unknown" ? "Unknown" : percent(Number(cell.sli));

/** Days as "2026-11-21" in a time zone; empty or unknown: the browser's. */
function daysIn(zone: string | undefined): Intl.DateTimeFormat {
  try {
    return new Intl.DateTimeFormat("sv-SE", { timeZone: zone || undefined });
  } catch {
    return new Intl.DateTimeFormat("sv-SE");
  }
}

/** A period as a text: its day, or its first and last day, in the time zone of the agreement. */
export function periodWords({ period_from, period_to }: SlaPeriod, zone?: string): string {
  const days = daysIn(zone);
  const first = days.format(Number(period_from) * 1000);
  // The end is the first second of the next period.
  const last = days.format((Number(period_to) - 1) * 1000);
  return first === last ? first : `${first} – ${last}`;
}

const DAY_S = 86_400;
const WEEK_S = 7 * DAY_S;
export const WEEKDAY_NAMES = [
  "Sunday",
  "Monday",
  "Tuesday",
  "Wednesday",
  "Thursday",
  "Friday",
  "Saturday",
] as const;

/** Seconds from the start of the week on Sunday. */
export interface ScheduleSpan {
  period_from: number;
  period_to: number;
}

const minutes = (text: string): number | null => {
  const found = /^(\d{1,2}):(\d{2})$/.exec(text);
  if (!found) return null;
  const [hours, rest] = [Number(found[1]), Number(found[2])];
  return rest < 60 && hours * 60 + rest <= 24 * 60 ? hours * 60 + rest : null;
};

/** The spans of a day, as "08:00-12:00, 13:00-18:00"; null if it cannot be read. */
export function daySpans(text: string): [from: number, to: number][] | null {
  const spans: [number, number][] = [];
  for (const part of text.split(",").map((one) => one.trim())) {
    if (!part) continue;
    const [from = "", to = "", ...more] = part.split("-").map((one) => one.trim());
    const [start, end] = [minutes(from), minutes(to)];
    if (more.length > 0 || start === null || end === null || start >= end) return null;
    spans.push([start * 60, end * 60]);
  }
  return spans;
}

/** A week as the API has it, from the texts of its days, Sunday first. Spans of a day are merged. */
export function scheduleOf(days: readonly string[]): ScheduleSpan[] {
  const spans = days.flatMap((text, day) =>
    (daySpans(text) ?? []).map(([from, to]) => ({
      period_from: day * DAY_S + from,
      period_to: day * DAY_S + to,
    })),
  );
  const merged: ScheduleSpan[] = [];
  for (const span of spans.toSorted((a, b) => a.period_from - b.period_from)) {
    const last = merged.at(-1);
    if (last && span.period_from <= last.period_to)
      last.period_to = Math.max(last.period_to, span.period_to);
    else merged.push({ ...span });
  }
  return merged;
}

const two = (n: number) => String(n).padStart(2, "0");
const clockOf = (s: number) => `${two(Math.floor(s / 3600))}:${two(Math.floor((s % 3600) / 60))}`;

/** The texts of the days of a week, Sunday first. */
export function daysOf(schedule: readonly ScheduleSpan[]): string[] {
  return WEEKDAY_NAMES.map((_, day) =>
    schedule
      .map(({ period_from, period_to }) => [
        Math.max(period_from - day * DAY_S, 0),
        Math.min(period_to - day * DAY_S, DAY_S),
      ])
      .filter(([from = 0, to = 0]) => from < to)
      .map(([from = 0, to = 0]) => `${clockOf(from)}-${clockOf(to)}`)
      .join(", "),
  );
}

/** Whether a schedule is the whole week; so is none. */
export function isAlways(schedule: readonly ScheduleSpan[]): boolean {
  if (schedule.length === 0) return true;
  const [first] = schedule;
  return schedule.length === 1 && first?.period_from === 0 && first.period_to === WEEK_S;
}
