import { useQueries, useQuery } from "@tanstack/react-query";
import { useCallback, useRef, useState } from "react";
import { type LiveMeta, pollInterval } from "./live";

interface WindowOptions<T> {
  /** First part of the query key; whatever else changes the rows belongs in here. */
  queryKey: readonly unknown[];
  /** The ids of all rows, in the order shown. */
  ids: readonly string[];
  /** Indexes of the first and last row on screen. */
  visible: readonly [number, number];
  fetch: (ids: string[], signal: AbortSignal) => Promise<T[]>;
  idOf: (row: T) => string;
  live?: LiveMeta["live"];
  size?: number;
}

/**
 * Fetches only the windows of a long list that are on screen. Rows seen before are kept and shown
 * until fresh ones arrive, so that a list that shifts by one does not flicker.
 */
export function useWindows<T>(options: WindowOptions<T>): (index: number) => T | undefined {
  const { queryKey, ids, visible, fetch, idOf, live, size = 100 } = options;
  const rows = useRef(new Map<string, T>());
  const first = Math.max(0, Math.floor(visible[0] / size));
  const last = Math.floor(Math.min(visible[1], Math.max(0, ids.length - 1)) / size);
  const windows: string[][] = [];
  for (let n = first; n <= last && ids.length > 0; n++)
    windows.push(ids.slice(n * size, (n + 1) * size));
  useQueries({
    queries: windows.map((window) => ({
      queryKey: [...queryKey, window],
      queryFn: async ({ signal }: { signal: AbortSignal }) => {
        const fetched = await fetch(window, signal);
        const known = new Set<string>();
        for (const row of fetched) {
          rows.current.set(idOf(row), row);
          known.add(idOf(row));
        }
        for (const id of window) if (!known.has(id)) rows.current.delete(id);
        return fetched;
      },
      refetchInterval: pollInterval,
      meta: { live, itemids: live === "values" ? window : undefined },
      structuralSharing: false,
    })),
    combine: (results) => {
      // Also what the query cache had from an earlier visit.
      for (const result of results) {
        for (const row of result.data ?? []) rows.current.set(idOf(row), row);
      }
      return results.map((result) => result.dataUpdatedAt).join();
    },
  });
  return (index) => {
    const id = ids[index];
    return id === undefined ? undefined : rows.current.get(id);
  };
}

/** The rows on screen, as a table tells them and `useWindows` needs them. */
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
  const shown = useRef<{ list: string; offset: number; rows: T[] } | null>(null);
  if (query.data) shown.current = { list, offset, rows: query.data };
  const rows = shown.current?.list === list ? shown.current : null;
  return {
    rowAt: (index: number): T | undefined => rows?.rows[index - rows.offset],
    ready: rows !== null,
    error: query.error,
    refetch: query.refetch,
  };
}
