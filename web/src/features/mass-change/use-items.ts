import { useQuery } from "@tanstack/react-query";
import { useId, useState } from "react";
import { type ItemFilter, itemIds } from "~/api/items";
import { type MassItem, readMassItems } from "~/api/mass-items";
import type { Selection } from "./button";

/** Items of one mass change. */
export const ITEMS_MAX = 50_000;
/** Rows of one request. */
const PORTION = 1_000;

/** The items, or that there are too many. */
export type Loaded = { items: MassItem[] } | "too many";

function idsOf(
  selection: Selection,
  everywhere: boolean,
  signal: AbortSignal,
): Promise<readonly string[]> {
  if ("ids" in selection) return Promise.resolve(selection.ids);
  const filter: ItemFilter = everywhere
    ? { ...selection.filter, monitored: false, ofHosts: true }
    : selection.filter;
  return itemIds(filter, 0, ITEMS_MAX + 1, signal);
}

/**
 * The selected items, read once in portions. `everywhere`: of a filter also the items that are not
 * monitored. They are not read again when something changes: a run reads each item before it changes it.
 */
export function useItems(selection: Selection, everywhere: boolean) {
  const id = useId();
  const [progress, setProgress] = useState({ done: 0, total: 0 });
  const query = useQuery({
    queryKey: ["mass-change", id, everywhere],
    queryFn: async ({ signal }): Promise<Loaded> => {
      const ids = await idsOf(selection, everywhere, signal);
      if (ids.length > ITEMS_MAX) return "too many";
      const items: MassItem[] = [];
      for (let at = 0; at < ids.length; at += PORTION) {
        setProgress({ done: at, total: ids.length });
        items.push(...(await readMassItems(ids.slice(at, at + PORTION), signal)));
      }
      return { items };
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
    refetchOnWindowFocus: false,
    refetchOnReconnect: false,
    structuralSharing: false,
  });
  return { ...query, progress };
}
