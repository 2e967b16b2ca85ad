import { isNumeric } from "./format";
import { periodSeconds, type Span } from "./time";

/** Points of one item in time order. `low` and `high` are there when each stands for many values. */
export interface Series {
  itemid: string;
  source: "history" | "trends" | "buckets";
  clocks: number[];
  values: number[];
  low?: number[];
  high?: number[];
}

/** What of an item decides where its points come from. */
export interface SeriesItem {
  itemid: string;
  value_type: string;
  delay: string;
  history: string;
  trends: string;
}

const HOUR = 3600;
const DAY = 24 * HOUR;
/** Spans up to this length are always drawn from raw values where those are kept. */
const RAW_SPAN_SECONDS = 26 * HOUR;

/** So many buckets are a line's points on the widest screen. */
const BUCKETS_MAX = 1000;
const BUCKET_SECONDS = [
  1,
  2,
  5,
  10,
  15,
  30,
  60,
  300,
  600,
  1800,
  HOUR,
  2 * HOUR,
  3 * HOUR,
  6 * HOUR,
  12 * HOUR,
];

/** Raw values, hourly trends or buckets? By the span, the item's interval and what is kept. */
export function chooseSource(item: SeriesItem, span: Span, now: number): Series["source"] {
  if (!isNumeric(item.value_type)) return "history";
  const kept = periodSeconds(item.history) ?? Number.POSITIVE_INFINITY;
  const trends = periodSeconds(item.trends) ?? Number.POSITIVE_INFINITY;
  const since = now - span.from;
  const length = span.till - span.from;
  const delay = periodSeconds(item.delay.split(";")[0] ?? "") || 60;
  const many = length > RAW_SPAN_SECONDS && length / delay > 4000;
  if (trends === 0) return many ? "buckets" : "history";
  // What is kept longer shows more of the span.
  if (since > trends && kept > trends) return many ? "buckets" : "history";
  if (kept === 0 || since > kept) return "trends";
  return many ? "trends" : "history";
}

/**
 * The source while a range goes on: an item that had too many values for raw points keeps its
 * buckets, so that its values are not fetched in vain each time.
 */
export function nextSource(chosen: Series["source"], before: Series | undefined): Series["source"] {
  return chosen === "history" && before?.source === "buckets" ? "buckets" : chosen;
}

/** Seconds of a bucket: round ones, so that buckets stay the same while the span moves. */
export function bucketWidth(span: Span): number {
  const least = (span.till - span.from) / BUCKETS_MAX;
  const width = BUCKET_SECONDS.find((seconds) => seconds >= least);
  return width ?? Math.ceil(least / DAY) * DAY;
}

/** Puts buckets from the second `from` on in the place of `before`'s, and drops what left the span. */
export function mergeBuckets(before: Series, tail: Series, from: number, span: Span): Series {
  const stays = (_: number, i: number) => {
    const clock = before.clocks[i] ?? 0;
    return clock >= span.from && clock < from;
  };
  const merged = (old: number[] = [], fresh: number[] = []) => [...old.filter(stays), ...fresh];
  return {
    ...before,
    clocks: merged(before.clocks, tail.clocks),
    values: merged(before.values, tail.values),
    low: merged(before.low, tail.low),
    high: merged(before.high, tail.high),
  };
}

/** Appends what came after `before`'s last point and drops what left the span. */
export function mergeTail(before: Series, tail: Series, span: Span): Series {
  const last = before.clocks.at(-1) ?? Number.NEGATIVE_INFINITY;
  let start = 0;
  while (start < before.clocks.length && (before.clocks[start] ?? 0) < span.from) start++;
  const clocks = before.clocks.slice(start);
  const values = before.values.slice(start);
  for (const [i, clock] of tail.clocks.entries()) {
    if (clock <= last) continue;
    clocks.push(clock);
    values.push(tail.values[i] ?? Number.NaN);
  }
  return { ...before, clocks, values };
}
