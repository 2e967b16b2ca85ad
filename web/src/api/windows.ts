import { useQuery } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { type LiveMeta, pollInterval } from "./live";

/** The rows on screen, as a table reports them. */
export function useVisible() {
  const [visible, setVisible] = useState<readonly [number, number]>([0, 0]);
  const onVisible = useCallback(
    (first: number, last: number) =>
      setVisible((old) => (old[0] === first && old[1] === last ? old : [first, last])),
    [],
  );
  return [visible, onVisible] as const;
}

/** Windows begin and end at multiples of this. */
const WINDOW_STEP = 50;
/** A window taller than any screen has a fault behind it. */
const WINDOW_MAX = 250;

/** The window of rows to fetch for the rows on screen. */
export function windowOf(visible: readonly [number, number]): { offset: number; limit: number } {
  const offset = Math.floor(visible[0] / WINDOW_STEP) * WINDOW_STEP;
  const end = Math.ceil((visible[1] + 1) / WINDOW_STEP) * WINDOW_STEP;
  return { offset, limit: Math.min(Math.max(end - offset, WINDOW_STEP), WINDOW_MAX) };
}

/** What a page reads, in one or several queries. */
export interface Reads {
  error: Error | null;
  /** Unix milliseconds of the oldest data shown; 0 if some were never read. */
  dataUpdatedAt: number;
  refetch: () => unknown;
}

/** Several queries as one. */
export function together(...queries: readonly Reads[]): Reads {
  return {
    error: queries.find((query) => query.error)?.error ?? null,
    dataUpdatedAt: Math.min(...queries.map((query) => query.dataUpdatedAt)),
    refetch: () => Promise.all(queries.map((query) => query.refetch())),
  };
}

interface RowWindowOptions<T> {
  /** First part of the query key: all that changes rows or their order. */
  queryKey: readonly unknown[];
  /** Indexes of the first and last row on screen. */
  visible: readonly [number, number];
  fetch: (offset: number, limit: number, signal: AbortSignal) => Promise<T[]>;
  live?: LiveMeta["live"];
}

/**
 * Rows of a list that the server sorts, counts and cuts: only those on screen are fetched, in one
 * request, so that they belong to one state of the list.
 */
export function useRowWindow<T>({ queryKey, visible, fetch, live }: RowWindowOptions<T>) {
  const { offset, limit } = windowOf(visible);
  const query = useQuery({
    queryKey: [...queryKey, offset, limit],
    queryFn: ({ signal }) => fetch(offset, limit, signal),
    refetchInterval: pollInterval,
    meta: { live },
    structuralSharing: false,
  });
  const list = JSON.stringify(queryKey);
  // While the next window is fetched, rows that it shares with the last one stay.
  const shown = useRef<{ list: string; offset: number; rows: T[]; at: number } | null>(null);
  if (query.data) shown.current = { list, offset, rows: query.data, at: query.dataUpdatedAt };
  const rows = shown.current?.list === list ? shown.current : null;
  return {
    rowAt: (index: number): T | undefined => rows?.rows[index - rows.offset],
    ready: rows !== null,
    error: query.error,
    dataUpdatedAt: rows?.at ?? 0,
    refetch: query.refetch,
  };
}
