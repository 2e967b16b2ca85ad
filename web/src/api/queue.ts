import { queryOptions } from "@tanstack/react-query";
import { type DelayedItem, delayedItems, type PolledItem } from "~/util/queue";
import { rpc } from "./client";

export interface Queue {
  delayed: DelayedItem[];
  /** How many items were looked at, and whether that was all of them. */
  examined: number;
  complete: boolean;
}

const EXAMINED_MAX = 20_000;
/**
 * Delayed items. Worked out here from the items' newest values until the API lists the server's own
 * queue; pages depend on the shape of the answer alone.
 */
export const queueQuery = () =>
  queryOptions({
    queryKey: ["queue"],
    queryFn: async ({ signal }): Promise<Queue> => {
      const items = await rpc<PolledItem[]>(
        "item.get",
        {
          output: ["itemid", "name", "key_", "delay", "type", "lastclock"],
          selectHosts: ["hostid", "name"],
          selectInterfaces: ["available", "error"],
          selectPreprocessing: ["type"],
          monitored: true,
          filter: { type: [0, 3, 10, 11, 12, 13, 14, 16, 19, 20], state: 0 },
          limit: EXAMINED_MAX,
        },
        signal,
      );
      return {
        delayed: delayedItems(items, Date.now() / 1000),
        examined: items.length,
        complete: items.length < EXAMINED_MAX,
      };
    },
    refetchInterval: 10_000,
  });
