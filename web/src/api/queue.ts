import { queryOptions } from "@tanstack/react-query";
import {
  type DelayedItem,
  type LateItem,
  lateReason,
  type QueueLine,
  queueLines,
  type RawQueueLine,
} from "~/util/queue";
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
        rpc<RawQueueLine[]>("queue.get", { type: "overview" }, signal),
        rpc<RawQueueLine[]>("queue.get", { type: "overview by proxy" }, signal),
      ]);
      return { types: queueLines(types, "itemtype"), proxies: queueLines(proxies, "proxyid") };
    },
    refetchInterval: REFRESH_MS,
  });

interface LateRow extends LateItem {
  itemid: string;
  name: string;
  key_: string;
  delay: string;
  type: string;
  hosts: { hostid: string; name: string; proxyid?: string }[];
}

/** The most overdue items with their reasons. */
export const delayedItemsQuery = () =>
  queryOptions({
    queryKey: ["queue", "details"],
    queryFn: async ({ signal }): Promise<DelayedItem[]> => {
      const queue = await rpc<{ itemid: string | number; nextcheck: string | number }[]>(
        "queue.get",
        { type: "details", limit: DETAILS_MAX },
        signal,
      );
      if (queue.length === 0) return [];
      const items = await rpc<LateRow[]>(
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
      return queue.flatMap(({ itemid, nextcheck }) => {
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
            reason: lateReason(item),
          },
        ];
      });
    },
    refetchInterval: REFRESH_MS,
  });

/** Names of proxies; empty where there are none or they may not be seen. */
export const proxyNamesQuery = (proxyids: string[]) =>
  queryOptions({
    queryKey: ["proxies", "names", proxyids],
    queryFn: async ({ signal }) => {
      const rows = await rpc<{ proxyid: string; name: string }[]>(
        "proxy.get",
        { output: ["proxyid", "name"], proxyids },
        signal,
      ).catch(() => []);
      return new Map(rows.map((row) => [row.proxyid, row.name]));
    },
    enabled: proxyids.length > 0,
    staleTime: 60_000,
  });
