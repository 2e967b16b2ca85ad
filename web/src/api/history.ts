import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { isNumeric } from "~/util/format";
import {
  bucketWidth,
  chooseSource,
  mergeBuckets,
  mergeTail,
  nextSource,
  type Series,
  type SeriesItem,
} from "~/util/points";
import { resolveRange, type Span, type TimeRange } from "~/util/time";
import { rpc } from "./client";
import type { HistoryPoint } from "./gets";
import { pollInterval } from "./live";

/** Raw points of one line; an item with more values in the span is drawn from buckets. */
export const RAW_POINTS_MAX = 5_000;
const HOUR = 3600;

async function rawPoints(
  item: SeriesItem,
  span: Span,
  signal?: AbortSignal,
): Promise<HistoryPoint[]> {
  const points = await rpc(
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

/** Raw values, or buckets where there are too many values: never only a part of the span. */
export async function fetchHistory(
  item: SeriesItem,
  span: Span,
  signal?: AbortSignal,
): Promise<Series> {
  const raw = await fetchRaw(item, span, signal);
  if (raw.clocks.length < RAW_POINTS_MAX || !isNumeric(item.value_type)) return raw;
  return fetchBuckets(item, span, bucketWidth(span), signal);
}

async function fetchTrends(item: SeriesItem, span: Span, signal?: AbortSignal): Promise<Series> {
  const points = await rpc(
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
  const tail = await fetchHistory(item, { from, till: span.till }, signal);
  series.clocks.push(...tail.clocks);
  series.values.push(...tail.values);
  series.low.push(...(tail.low ?? tail.values));
  series.high.push(...(tail.high ?? tail.values));
  return series;
}

async function fetchBuckets(
  item: SeriesItem,
  span: Span,
  width: number,
  signal?: AbortSignal,
): Promise<Series> {
  const points = await rpc(
    "history.buckets",
    {
      output: ["clock", "value_min", "value_avg", "value_max"],
      history: Number(item.value_type),
      itemids: [item.itemid],
      time_from: span.from,
      time_till: span.till,
      width,
    },
    signal,
  );
  // A point stands in the middle of what the span has of its bucket.
  const middle = (start: number) =>
    (Math.max(start, span.from) + Math.min(start + width, span.till)) / 2;
  return {
    itemid: item.itemid,
    source: "buckets",
    clocks: points.map((point) => middle(Number(point.clock))),
    values: points.map((point) => Number(point.value_avg)),
    low: points.map((point) => Number(point.value_min)),
    high: points.map((point) => Number(point.value_max)),
  };
}

/** The points of one item in a range. While the range moves with the clock only the new end is fetched. */
export const seriesQuery = (item: SeriesItem, range: TimeRange) =>
  queryOptions({
    queryKey: ["series", item.itemid, range.from, range.to],
    queryFn: async ({ signal, client, queryKey }): Promise<Series> => {
      const span = resolveRange(range);
      if (!span) return { itemid: item.itemid, source: "history", clocks: [], values: [] };
      const before = client.getQueryData<Series>(queryKey);
      const source = nextSource(chooseSource(item, span, Date.now() / 1000), before);
      if (source === "trends") return fetchTrends(item, span, signal);
      const last = before?.source === source ? before.clocks.at(-1) : undefined;
      const goesOn = last !== undefined && last > span.from && range.from.startsWith("now");
      if (source === "buckets") {
        const width = bucketWidth(span);
        if (!before || !goesOn) return fetchBuckets(item, span, width, signal);
        // The last bucket has got more values; those before got at most late ones.
        const from = Math.max(Math.floor(last / width) * width, span.from);
        const tail = await fetchBuckets(item, { from, till: span.till }, width, signal);
        return mergeBuckets(before, tail, from, span);
      }
      if (before && goesOn) {
        const tail = await fetchRaw(item, { from: Math.floor(last), till: span.till }, signal);
        if (tail.clocks.length < RAW_POINTS_MAX) return mergeTail(before, tail, span);
      }
      return fetchHistory(item, span, signal);
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
      rpc(
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
/** Seconds of a bucket of a small line, which is about a hundred pixels wide. */
const SPARK_WIDTH = 60;

async function sparkPoints(valueType: number, itemids: string[], signal?: AbortSignal) {
  if (itemids.length === 0) return [];
  return rpc(
    "history.buckets",
    {
      output: ["itemid", "clock", "value_avg"],
      history: valueType,
      itemids,
      time_from: Math.floor(Date.now() / 1000) - SPARK_SECONDS,
      time_till: Math.floor(Date.now() / 1000),
      width: SPARK_WIDTH,
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
  for (const point of [...floats, ...unsigned]) {
    let spark = sparks.get(point.itemid);
    if (!spark) {
      spark = { clocks: [], values: [] };
      sparks.set(point.itemid, spark);
    }
    spark.clocks.push(Number(point.clock) + SPARK_WIDTH / 2);
    spark.values.push(Number(point.value_avg));
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
