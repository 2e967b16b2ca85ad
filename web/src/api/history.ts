import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { isNumeric } from "~/util/format";
import { periodSeconds, resolveRange, type Span, type TimeRange } from "~/util/time";
import { rpc } from "./client";
import { pollInterval } from "./live";

interface HistoryPoint {
  itemid: string;
  clock: string;
  ns: string;
  value: string;
}

interface TrendPoint {
  itemid: string;
  clock: string;
  value_min: string;
  value_avg: string;
  value_max: string;
}

/** Points of one item in time order. `low` and `high` are there when the points are hourly trends. */
export interface Series {
  itemid: string;
  source: "history" | "trends";
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

/** More raw points than this for one line say no more than hourly trends do. */
const RAW_POINTS_MAX = 20_000;
const HOUR = 3600;
/** Spans up to this length are always drawn from raw values where those are kept. */
const RAW_SPAN_SECONDS = 26 * HOUR;

/** Raw values or hourly trends? By the length of the span, the item's interval and what is kept. */
export function chooseSource(item: SeriesItem, span: Span, now: number): Series["source"] {
  const kept = periodSeconds(item.history);
  const trends = periodSeconds(item.trends);
  if (trends === 0 || !isNumeric(item.value_type)) return "history";
  if (kept === 0 || (kept !== null && span.from < now - kept)) return "trends";
  const length = span.till - span.from;
  if (length <= RAW_SPAN_SECONDS) return "history";
  const delay = periodSeconds(item.delay.split(";")[0] ?? "") || 60;
  return length / delay > 4000 ? "trends" : "history";
}

async function rawPoints(
  item: SeriesItem,
  span: Span,
  signal?: AbortSignal,
): Promise<HistoryPoint[]> {
  const points = await rpc<HistoryPoint[]>(
    "history.get",
    {
      output: ["itemid", "clock", "ns", "value"],
      history: Number(item.value_type),
      itemids: [item.itemid],
      time_from: span.from,
      time_till: span.till,
      sortfield: "clock",
      sortorder: "DESC",
      limit: RAW_POINTS_MAX,
    },
    signal,
  );
  return points.reverse();
}

const stamp = (point: HistoryPoint) => Number(point.clock) + Number(point.ns) / 1e9;

async function fetchRaw(item: SeriesItem, span: Span, signal?: AbortSignal): Promise<Series> {
  const points = await rawPoints(item, span, signal);
  return {
    itemid: item.itemid,
    source: "history",
    clocks: points.map(stamp),
    values: points.map((point) => Number(point.value)),
  };
}

async function fetchTrends(item: SeriesItem, span: Span, signal?: AbortSignal): Promise<Series> {
  const points = await rpc<TrendPoint[]>(
    "trend.get",
    {
      output: ["itemid", "clock", "value_min", "value_avg", "value_max"],
      itemids: [item.itemid],
      time_from: span.from,
      time_till: span.till,
    },
    signal,
  );
  points.sort((a, b) => Number(a.clock) - Number(b.clock));
  const series = {
    itemid: item.itemid,
    source: "trends" as const,
    // An hour's trend stands in its middle.
    clocks: points.map((point) => Number(point.clock) + HOUR / 2),
    values: points.map((point) => Number(point.value_avg)),
    low: points.map((point) => Number(point.value_min)),
    high: points.map((point) => Number(point.value_max)),
  };
  // The running hour has no trend yet: its raw values finish the line.
  const lastHour = points.at(-1);
  const from = lastHour ? Number(lastHour.clock) + HOUR : span.from;
  const tail = await rawPoints(item, { from, till: span.till }, signal);
  for (const point of tail) {
    const value = Number(point.value);
    series.clocks.push(stamp(point));
    series.values.push(value);
    series.low.push(value);
    series.high.push(value);
  }
  return series;
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

/** The points of one item in a range. While the range moves with the clock only the new end is fetched. */
export const seriesQuery = (item: SeriesItem, range: TimeRange) =>
  queryOptions({
    queryKey: ["series", item.itemid, range.from, range.to],
    queryFn: async ({ signal, client, queryKey }): Promise<Series> => {
      const span = resolveRange(range);
      if (!span) return { itemid: item.itemid, source: "history", clocks: [], values: [] };
      if (chooseSource(item, span, Date.now() / 1000) === "trends") {
        return fetchTrends(item, span, signal);
      }
      const before = client.getQueryData<Series>(queryKey);
      const last = before?.source === "history" ? before.clocks.at(-1) : undefined;
      if (before && last !== undefined && last > span.from && range.from.startsWith("now")) {
        const tail = await fetchRaw(item, { from: Math.floor(last), till: span.till }, signal);
        return mergeTail(before, tail, span);
      }
      return fetchRaw(item, span, signal);
    },
    structuralSharing: false,
    refetchInterval: range.to === "now" ? pollInterval : false,
    meta: { live: range.to === "now" ? "values" : undefined, itemids: [item.itemid] },
  });

/** The newest values of any type, newest first: for text and logs. */
export const valuesQuery = (item: SeriesItem, limit: number) =>
  queryOptions({
    queryKey: ["values", item.itemid, limit],
    queryFn: ({ signal }) =>
      rpc<HistoryPoint[]>(
        "history.get",
        {
          output: ["itemid", "clock", "ns", "value"],
          history: Number(item.value_type),
          itemids: [item.itemid],
          sortfield: "clock",
          sortorder: "DESC",
          limit,
        },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "values", itemids: [item.itemid] },
  });

/** Points for many small lines at once, by item. */
export type Sparks = Map<string, { clocks: number[]; values: number[] }>;

export const SPARK_SECONDS = HOUR;
const SPARK_POINTS_MAX = 20_000;

async function sparkPoints(valueType: number, itemids: string[], signal?: AbortSignal) {
  if (itemids.length === 0) return [];
  return rpc<HistoryPoint[]>(
    "history.get",
    {
      output: ["itemid", "clock", "ns", "value"],
      history: valueType,
      itemids,
      time_from: Math.floor(Date.now() / 1000) - SPARK_SECONDS,
      sortfield: "clock",
      sortorder: "DESC",
      limit: SPARK_POINTS_MAX,
    },
    signal,
  );
}

export async function fetchSparks(
  items: Pick<SeriesItem, "itemid" | "value_type">[],
  signal?: AbortSignal,
): Promise<Sparks> {
  const ids = (type: string) => items.filter((i) => i.value_type === type).map((i) => i.itemid);
  const [floats, unsigned] = await Promise.all([
    sparkPoints(0, ids("0"), signal),
    sparkPoints(3, ids("3"), signal),
  ]);
  const sparks: Sparks = new Map();
  for (const point of [...floats, ...unsigned].reverse()) {
    let spark = sparks.get(point.itemid);
    if (!spark) {
      spark = { clocks: [], values: [] };
      sparks.set(point.itemid, spark);
    }
    spark.clocks.push(stamp(point));
    spark.values.push(Number(point.value));
  }
  return sparks;
}

export const sparksQuery = (items: Pick<SeriesItem, "itemid" | "value_type">[]) =>
  queryOptions({
    queryKey: ["sparks", items.map((item) => item.itemid)],
    queryFn: ({ signal }) => fetchSparks(items, signal),
    enabled: items.length > 0,
    staleTime: 20_000,
    refetchInterval: 30_000,
    placeholderData: keepPreviousData,
    structuralSharing: false,
  });
