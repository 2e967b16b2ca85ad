import { queryOptions } from "@tanstack/react-query";
import type { Lost } from "~/util/lost";
import { resolveRange, type TimeRange } from "~/util/time";
import { rpc } from "./client";

/** Most losses of one answer: more bands would cover a chart anyway. */
const LOST_MAX = 1_000;

/**
 * What damaged files cost these items, in a range or at all. Damage is found when the server starts,
 * so answers are good for minutes. Pages do not wait for it, and ignore errors.
 */
export const lostQuery = (itemids: readonly string[], range?: TimeRange) =>
  queryOptions({
    queryKey: ["lost", itemids, range?.from, range?.to],
    queryFn: async ({ signal }): Promise<Lost[]> => {
      const span = range ? resolveRange(range) : undefined;
      if (span === null) return [];
      const rows = await rpc(
        "history.gaps",
        {
          itemids: [...itemids],
          ...(span && { time_from: span.from, time_till: span.till }),
          limit: LOST_MAX,
        },
        signal,
      );
      return rows.map((row) => ({
        itemid: row.itemid,
        from: Number(row.time_from),
        till: Number(row.time_till),
        certain: row.scope === "item",
        reason: row.reason,
      }));
    },
    enabled: itemids.length > 0,
    staleTime: 5 * 60_000,
    retry: false,
    refetchOnWindowFocus: false,
  });
