/** The five timings of a record, in microseconds; the last is the sum. */
export interface Timed {
  client_rtt: string;
  connect: string;
  response: string;
  transfer: string;
  total: string;
}

export type Part = Exclude<keyof Timed, "total">;

/** What follows another, in this order. */
export const PARTS: readonly Part[] = ["client_rtt", "connect", "response", "transfer"];
export const PART_NAMES: Readonly<Record<keyof Timed, string>> = {
  client_rtt: "Client round trip",
  connect: "Connect",
  response: "Response",
  transfer: "Transfer",
  total: "Total",
};

/** Columns by which records can be grouped, and what they are. */
export const GROUPS: readonly (readonly [column: string, name: string])[] = [
  ["service", "Virtual service"],
  ["pool", "Pool"],
  ["server", "Server"],
  ["status", "Status"],
  ["fault", "Fault"],
  ["end", "End"],
  ["client", "Client"],
  ["user", "User"],
  ["method", "Method"],
  ["host", "Host"],
  ["path", "Path"],
  ["engine", "Engine"],
];

/** Microseconds for people: three digits and a unit. */
export function formatMicros(us: number): string {
  if (us < 1_000) return `${Math.round(us)} µs`;
  if (us < 999_500) return `${rounded(us / 1_000)} ms`;
  return `${rounded(us / 1_000_000)} s`;
}

function rounded(value: number): string {
  const digits = value < 9.995 ? 2 : value < 99.95 ? 1 : 0;
  return value.toFixed(digits);
}

/**
 * The time that fills a bar in a list, in microseconds: nine of ten records are no slower. With the slowest
 * one, a single outlier would make all other bars too small to compare.
 */
export function fullBar(records: readonly Timed[]): number {
  const totals = records.map((record) => Number(record.total)).sort((a, b) => a - b);
  return totals[Math.ceil(totals.length * 0.9) - 1] ?? 0;
}

/** Widths of the parts of a record's bar in percent; the bar of a slower record is full. */
export function widths(record: Timed, full: number): readonly (readonly [Part, number])[] {
  const sum = PARTS.reduce((us, part) => us + Number(record[part]), 0);
  const scale = Math.max(sum, full);
  return PARTS.flatMap((part) => {
    const us = Number(record[part]);
    return us > 0 ? [[part, (us / scale) * 100] as const] : [];
  });
}

export interface FilterFault {
  text: string;
  /** What is right before the wrong part, the wrong part, and what follows. */
  parts: readonly [string, string, string];
}

/** Where a filter is wrong, from the error of the API; null if the error is about something else. */
export function filterFault(filter: string, error: string): FilterFault | null {
  const found = /^Invalid parameter "\/filter": (.*), at character (\d+): "(.*)"\.$/s.exec(error);
  if (!found) return null;
  const [, text = "", position = "1", wrong = ""] = found;
  // Positions count characters, not the halves of which JavaScript makes some.
  const characters = [...filter];
  const from = Number(position) - 1;
  const to = from + [...wrong].length;
  const part = (begin: number, end?: number) => characters.slice(begin, end).join("");
  return {
    text: `${text.charAt(0).toUpperCase()}${text.slice(1)}.`,
    parts: [part(0, from), part(from, to), part(to)],
  };
}

/** A filter with one more condition: this column has this value. Quotes cannot be written in filters. */
export function narrowed(filter: string, column: string, value: string): string {
  const [begin = "", ...rest] = value.split('"');
  const operator = rest.length ? "^=" : "=";
  const quoted = /^[^\s,]+$/.test(begin) ? begin : `"${begin}"`;
  return `${filter.trim()} ${column}${operator}${quoted}`.trim();
}
