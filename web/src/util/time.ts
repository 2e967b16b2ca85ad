/** Seconds in each unit of the time syntax; days and longer units of a range are calendar steps (see `shift`). */
const UNIT_SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** A span as the address bar holds it: two expressions of the `now-1h` syntax or Unix seconds. */
export interface TimeRange {
  from: string;
  to: string;
}

/** A span in Unix seconds, `from` before `till`. */
export interface Span {
  from: number;
  till: number;
}

export const DEFAULT_RANGE: TimeRange = { from: "now-1h", to: "now" };

export const PRESETS: readonly { label: string; range: TimeRange }[] = [
  { label: "Last 5 minutes", range: { from: "now-5m", to: "now" } },
  { label: "Last 15 minutes", range: { from: "now-15m", to: "now" } },
  { label: "Last 30 minutes", range: { from: "now-30m", to: "now" } },
  { label: "Last 1 hour", range: { from: "now-1h", to: "now" } },
  { label: "Last 3 hours", range: { from: "now-3h", to: "now" } },
  { label: "Last 6 hours", range: { from: "now-6h", to: "now" } },
  { label: "Last 12 hours", range: { from: "now-12h", to: "now" } },
  { label: "Last 24 hours", range: { from: "now-24h", to: "now" } },
  { label: "Last 2 days", range: { from: "now-2d", to: "now" } },
  { label: "Last 7 days", range: { from: "now-7d", to: "now" } },
  { label: "Last 30 days", range: { from: "now-30d", to: "now" } },
  { label: "Last 90 days", range: { from: "now-90d", to: "now" } },
  { label: "Last year", range: { from: "now-1y", to: "now" } },
  { label: "Today", range: { from: "now/d", to: "now/d" } },
  { label: "Yesterday", range: { from: "now-1d/d", to: "now-1d/d" } },
  { label: "This week", range: { from: "now/w", to: "now/w" } },
];

const STEP = /^([+-])(\d+)([smhdwMy])/;
const ROUND = /^\/([mhdwMy])/;
const ABSOLUTE = /^(\d{4})-(\d{2})-(\d{2})(?:[ T](\d{2}):(\d{2})(?::(\d{2}))?)?$/;

function shift(date: Date, amount: number, unit: string): Date {
  const next = new Date(date);
  if (unit === "d" || unit === "w") next.setDate(next.getDate() + amount * (unit === "w" ? 7 : 1));
  else if (unit === "M") next.setMonth(next.getMonth() + amount);
  else if (unit === "y") next.setFullYear(next.getFullYear() + amount);
  else next.setTime(next.getTime() + amount * (UNIT_SECONDS[unit] ?? 0) * 1000);
  return next;
}

function floor(date: Date, unit: string): Date {
  const next = new Date(date);
  next.setMilliseconds(0);
  next.setSeconds(0);
  if (unit !== "m") next.setMinutes(0);
  if (unit !== "m" && unit !== "h") next.setHours(0);
  if (unit === "w") next.setDate(next.getDate() - ((next.getDay() + 6) % 7));
  if (unit === "M" || unit === "y") next.setDate(1);
  if (unit === "y") next.setMonth(0);
  return next;
}

/**
 * Reads one end of a range: `now`, `now-1h`, `now-1d/d`, `2026-11-21 10:00`, or Unix seconds.
 * Rounding (`/d`) goes down for the start and up to the last second for the end of a range.
 * Null means the text is not in this syntax.
 */
export function parseTime(text: string, end: "from" | "to", now = new Date()): number | null {
  const trimmed = text.trim();
  if (/^\d{9,11}$/.test(trimmed)) return Number(trimmed);
  const parts = ABSOLUTE.exec(trimmed);
  if (parts) {
    const [, year, month, day, hour = "0", minute = "0", second = "0"] = parts.map((p) => p ?? "0");
    const date = new Date(
      Number(year),
      Number(month) - 1,
      Number(day),
      Number(hour),
      Number(minute),
      Number(second),
    );
    return Math.floor(date.getTime() / 1000);
  }
  if (!trimmed.startsWith("now")) return null;
  let rest = trimmed.slice(3);
  let date = now;
  while (rest) {
    const step = STEP.exec(rest);
    const round = ROUND.exec(rest);
    if (step) {
      const [whole, sign, amount, unit = "s"] = step;
      date = shift(date, Number(amount) * (sign === "-" ? -1 : 1), unit);
      rest = rest.slice(whole.length);
    } else if (round) {
      const [whole, unit = "d"] = round;
      date = floor(date, unit);
      if (end === "to") date = new Date(floor(shift(date, 1, unit), unit).getTime() - 1000);
      rest = rest.slice(whole.length);
    } else return null;
  }
  return Math.floor(date.getTime() / 1000);
}

/** The span of a range at this moment; an unreadable or empty one gives null. */
export function resolveRange(range: TimeRange, now = new Date()): Span | null {
  const from = parseTime(range.from, "from", now);
  const till = parseTime(range.to, "to", now);
  if (from === null || till === null || from >= till) return null;
  return { from, till };
}

/** Whether the end of the range moves with the clock. */
export function isLive(range: TimeRange): boolean {
  return range.to.trim() === "now";
}

/** A range in words, for the button of the picker. */
export function rangeLabel(range: TimeRange): string {
  const preset = PRESETS.find((p) => p.range.from === range.from && p.range.to === range.to);
  if (preset) return preset.label;
  if (range.from.startsWith("now")) return `${range.from} to ${range.to}`;
  const span = resolveRange(range);
  if (!span) return "Unreadable range";
  const end = isLive(range) ? "now" : formatClock(span.till, "minute");
  return `${formatClock(span.from, "minute")} to ${end}`;
}

/** The neighbouring range of the same length; relative ranges become absolute. */
export function moveRange(range: TimeRange, direction: -1 | 1, now = new Date()): TimeRange {
  const span = resolveRange(range, now);
  if (!span) return range;
  const step = (span.till - span.from) * direction;
  return { from: String(span.from + step), to: String(span.till + step) };
}

/** The range of twice the length around the same middle, never into the future. */
export function widenRange(range: TimeRange, now = new Date()): TimeRange {
  const span = resolveRange(range, now);
  if (!span) return range;
  const half = Math.floor((span.till - span.from) / 2);
  const nowSeconds = Math.floor(now.getTime() / 1000);
  if (span.till + half >= nowSeconds) return { from: String(nowSeconds - half * 4), to: "now" };
  return { from: String(span.from - half), to: String(span.till + half) };
}

const two = (n: number) => String(n).padStart(2, "0");

/** How exactly a moment is written: whole days, minutes (plans), or seconds (events and values). */
export type Precision = "day" | "minute" | "second";

const LENGTHS: Record<Precision, number> = { day: 10, minute: 16, second: 19 };

/** Local date and time, `2026-11-21 10:05:09`: the one format of absolute times. */
export function formatClock(clock: number, precision: Precision = "second"): string {
  const d = new Date(clock * 1000);
  const date = [d.getFullYear(), two(d.getMonth() + 1), two(d.getDate())].join("-");
  const time = [d.getHours(), d.getMinutes(), d.getSeconds()].map(two).join(":");
  return `${date} ${time}`.slice(0, LENGTHS[precision]);
}

/** Local date and time as boxes of the browser hold them, `2026-11-21T10:05`. */
export function formatLocal(clock: number): string {
  return formatClock(clock, "minute").replace(" ", "T");
}

/** A label of a time axis whose ticks are `step` seconds apart: the time, or the day where one begins. */
export function tickLabel(clock: number, step: number): string {
  const d = new Date(clock * 1000);
  const midnight = d.getHours() === 0 && d.getMinutes() === 0 && d.getSeconds() === 0;
  if (step >= 86_400 || midnight) {
    return step >= 28 * 86_400
      ? formatClock(clock, "day").slice(0, 7)
      : formatClock(clock, "day").slice(5);
  }
  const time = `${two(d.getHours())}:${two(d.getMinutes())}`;
  return step < 60 ? `${time}:${two(d.getSeconds())}` : time;
}

/** A length of time in its two largest units: `3d 4h`, `12m 5s`, `8s`. */
export function formatDuration(seconds: number): string {
  let rest = Math.max(0, Math.floor(seconds));
  const parts: string[] = [];
  const units: [string, number][] = [
    ["y", 31_536_000],
    ["d", 86_400],
    ["h", 3600],
    ["m", 60],
    ["s", 1],
  ];
  for (const [name, size] of units) {
    const n = Math.floor(rest / size);
    if (n > 0 || (name === "s" && parts.length === 0)) parts.push(`${n}${name}`);
    else if (parts.length > 0) break;
    rest -= n * size;
    if (parts.length === 2) break;
  }
  return parts.join(" ");
}

/** How long ago, in one unit: `just now`, `12 s ago`, `3 h ago`. */
export function formatAgo(clock: number, now = Date.now() / 1000): string {
  const age = Math.max(0, now - clock);
  if (age < 3) return "just now";
  if (age < 100) return `${Math.floor(age)} s ago`;
  if (age < 6000) return `${Math.floor(age / 60)} min ago`;
  if (age < 48 * 3600) return `${Math.floor(age / 3600)} h ago`;
  return `${Math.floor(age / 86_400)} d ago`;
}

/** Seconds of an update interval or a storage period (`30s`, `5m`, `1d`); null with macros in it. */
export function periodSeconds(text: string): number | null {
  const match = /^(\d+)([smhdw]?)$/.exec(text.trim());
  if (!match) return null;
  return Number(match[1]) * (match[2] ? (UNIT_SECONDS[match[2]] ?? 1) : 1);
}

/** How far local time is from UTC at a moment, in minutes: `UTC+2`, `UTC−3:30`, `UTC`. */
export function offsetText(minutes: number): string {
  if (minutes === 0) return "UTC";
  const rest = Math.abs(minutes) % 60;
  const hours = Math.floor(Math.abs(minutes) / 60);
  return `UTC${minutes < 0 ? "−" : "+"}${hours}${rest ? `:${two(rest)}` : ""}`;
}

/** The offset in force at a moment: clocks change during the year. */
export function zoneAt(clock: number): string {
  return offsetText(-new Date(clock * 1000).getTimezoneOffset());
}

/** The time zone of the browser. */
export const localZone = (): string => Intl.DateTimeFormat().resolvedOptions().timeZone;

const WEEKDAY = new Intl.DateTimeFormat("en", { weekday: "short" });

/** The day of the week in local time: "Mon". */
export const formatWeekday = (clock: number): string => WEEKDAY.format(clock * 1000);

/** The zone that times are shown in: `Europe/Riga (UTC+2)`. */
export function zoneName(): string {
  const offset = zoneAt(Date.now() / 1000);
  const zone = localZone();
  return zone && zone !== offset ? `${zone} (${offset})` : offset;
}

/** The day of a moment in a time zone, as "2026-11-21"; without one or with an unknown one: the browser's. */
export function dayIn(clock: number, zone: string | undefined): string {
  try {
    return new Intl.DateTimeFormat("sv-SE", { timeZone: zone || undefined }).format(clock * 1000);
  } catch {
    return formatClock(clock, "day");
  }
}

/** A time of day and a date in a zone. */
export interface Moment {
  hours: number;
  minutes: number;
  seconds: number;
  date: string;
  zone: string;
}

/** A time in a zone; an unknown zone is that of the browser. */
export function momentIn(clock: number, zone: string | undefined): Moment {
  const format = (timeZone: string | undefined) =>
    new Intl.DateTimeFormat("sv-SE", { timeZone, dateStyle: "short", timeStyle: "medium" });
  let formatter = format(undefined);
  try {
    formatter = format(zone || undefined);
  } catch {
    // The zone is unknown to the browser.
  }
  const [date = "", time = ""] = formatter.format(clock * 1000).split(" ");
  const [hours = 0, minutes = 0, seconds = 0] = time.split(":").map(Number);
  return { hours, minutes, seconds, date, zone: formatter.resolvedOptions().timeZone };
}
