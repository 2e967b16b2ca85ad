import { queryOptions } from "@tanstack/react-query";
import { type DelayedItem, lateReason, type QueueLine, queueLines } from "~/util/queue";
import { rpc } from "./client";

const REFRESH_MS = 5_000;
/** Delayed items looked at in detail: the most overdue ones. */
export const DETAILS_MAX = 1_000;

/** The server's own queue by item type, and by proxy. */
export const queueOverviewQuery = () =>
  queryOptions({
    queryKey: ["queue", "overview"],
    queryFn: async ({ signal }): Promise<{ types: QueueLine[]; proxies: QueueLine[] }> => {
      const [types, proxies] = await Promise.all([
        rpc("queue.get", { type: "overview" }, signal),
        rpc("queue.get", { type: "overview by proxy" }, signal),
      ]);
      return { types: queueLines(types, "itemtype"), proxies: queueLines(proxies, "proxyid") };
    },
    refetchInterval: REFRESH_MS,
  });

/** `reason`: why, in the server's words, where it tells. */
export interface Late {
  itemid: string | number;
  nextcheck: string | number;
  reason?: string;
}

/** The most overdue items with their reasons. */
export const delayedItemsQuery = () =>
  queryOptions({
    queryKey: ["queue", "details"],
    queryFn: async ({ signal }): Promise<DelayedItem[]> => {
      const queue = await rpc("queue.get", { type: "details", limit: DETAILS_MAX }, signal);
      if (queue.length === 0) return [];
      const items = await rpc(
        "item.get",
        {
          output: ["itemid", "name", "key_", "delay", "type", "lastclock", "state", "error"],
          itemids: queue.map((row) => String(row.itemid)),
          selectHosts: ["hostid", "name", "proxyid"],
          selectInterfaces: ["available", "error"],
        },
        signal,
      );
      const byId = new Map(items.map((item) => [item.itemid, item]));
      return queue.flatMap(({ itemid, nextcheck, reason }) => {
        const item = byId.get(String(itemid));
        if (!item) return [];
        return [
          {
            itemid: item.itemid,
            name: item.name,
            key: item.key_,
            type: item.type,
            hostid: item.hosts[0]?.hostid ?? "",
            host: item.hosts[0]?.name ?? "",
            delay: item.delay,
            lastclock: Number(item.lastclock),
            due: Number(nextcheck),
            reason: lateReason(item, reason),
          },
        ];
      });
    },
    refetchInterval: REFRESH_MS,
  });
