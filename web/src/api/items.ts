import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Mapping } from "~/util/format";
import type { Tag, TagFilter } from "~/util/tags";
import { includesAll, wordsOf } from "~/util/words";
import { rpc, rpcCount } from "./client";
import type { GetParams } from "./gets";
import { pollInterval } from "./live";

export interface ItemRow {
  itemid: string;
  hostid: string;
  name: string;
  key_: string;
  type: string;
  value_type: string;
  units: string;
  delay: string;
  history: string;
  trends: string;
  status: string;
  /** 0 supported, 1 not supported (see `error`). */
  state: string;
  error: string;
  lastvalue: string;
  lastclock: string;
  prevvalue: string;
  /** "0": the item has no value before the newest. */
  prevclock: string;
  templateid: string;
  flags: string;
  tags: Tag[];
  hosts: { hostid: string; name: string; status: string }[];
  valuemap: { mappings: Mapping[] } | [];
}

export interface PreprocessingStep {
  type: string;
  params: string;
  error_handler: string;
  error_handler_params: string;
}

export interface Item extends ItemRow {
  description: string;
  interfaceid: string;
  master_itemid: string;
  params: string;
  url: string;
  snmp_oid: string;
  valuemapid: string;
  trapper_hosts: string;
  preprocessing: PreprocessingStep[];
}

/** What is read of the items of a list. */
export const ITEM_ROW = {
  output: [
    "itemid",
    "hostid",
    "name",
    "key_",
    "type",
    "value_type",
    "units",
    "delay",
    "history",
    "trends",
    "status",
    "state",
    "error",
    "lastvalue",
    "lastclock",
    "prevvalue",
    "prevclock",
    "templateid",
    "flags",
  ],
  selectTags: ["tag", "value"],
  selectHosts: ["hostid", "name", "status"],
  selectValueMap: ["mappings"],
  webitems: true,
} as const;

/** What a list of items is narrowed down to; it mirrors the address bar. */
export interface ItemFilter {
  text?: string;
  hostids?: string[];
  groupids?: string[];
  tags?: TagFilter[];
  /** Only items of monitored hosts that are enabled themselves. */
  monitored?: boolean;
  /** Only items of hosts, also of those that are not monitored. */
  ofHosts?: boolean;
  state?: string;
}

function narrowed(filter: ItemFilter) {
  return {
    hostids: filter.hostids?.length ? filter.hostids : undefined,
    groupids: filter.groupids?.length ? filter.groupids : undefined,
    tags: filter.tags?.length ? filter.tags : undefined,
    monitored: filter.monitored || undefined,
    templated: filter.ofHosts ? false : undefined,
    filter: filter.state ? { state: filter.state } : undefined,
    search: filter.text ? { name: filter.text, key_: filter.text } : undefined,
    searchByAny: filter.text ? true : undefined,
    webitems: true,
  } satisfies GetParams<"item.get">;
}

/** How many items match. */
export const itemTotalQuery = (filter: ItemFilter) =>
  queryOptions({
    queryKey: ["items", "total", filter],
    queryFn: ({ signal }) => rpcCount("item.get", narrowed(filter), signal),
    placeholderData: keepPreviousData,
    meta: { live: "config" },
  });

/** The ids of a window of the list; the server sorts and cuts. */
export async function itemIds(
  filter: ItemFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const rows = await rpc(
    "item.get",
    {
      ...narrowed(filter),
      output: ["itemid"],
      sortfield: "name",
      limit,
      offset: offset || undefined,
    },
    signal,
  );
  return rows.map((row) => row.itemid);
}

export function fetchItemRows(itemids: string[], signal?: AbortSignal): Promise<ItemRow[]> {
  return rpc("item.get", { ...ITEM_ROW, itemids }, signal);
}

export const itemsQuery = (itemids: string[]) =>
  queryOptions({
    queryKey: ["items", "rows", itemids],
    queryFn: ({ signal }) => fetchItemRows(itemids, signal),
    enabled: itemids.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "values", itemids },
  });

/** All items of one host, without a window: for choosing graphs and for the host's own page. */
export const hostItemsQuery = (hostid: string, search?: string) =>
  queryOptions({
    queryKey: ["items", "host", hostid, search ?? ""],
    queryFn: ({ signal }) =>
      rpc(
        "item.get",
        {
          ...ITEM_ROW,
          hostids: [hostid],
          search: search ? { key_: search } : undefined,
          startSearch: search ? true : undefined,
          sortfield: "name",
        },
        signal,
      ),
    enabled: hostid !== "",
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "values" },
  });

export interface FoundItem {
  itemid: string;
  name: string;
  key_: string;
  hosts: { hostid: string; name: string }[];
}

const FOUND = ["itemid", "name", "key_"] as const;

/** What finds a handful by name or key, for pickers and the palette. */
const named = (text: string) =>
  ({
    output: FOUND,
    search: text ? { name: text, key_: text } : undefined,
    searchByAny: true,
    sortfield: "name",
    limit: 20,
  }) as const;

const searchItems = (
  text: string,
  more: Partial<GetParams<"item.get">>,
  signal: AbortSignal,
): Promise<FoundItem[]> =>
  rpc(
    "item.get",
    { ...named(text), ...more, selectHosts: ["hostid", "name"], output: FOUND },
    signal,
  );

export const itemSearchQuery = (
  text: string,
  options: { hostid?: string; numeric?: boolean } = {},
) =>
  queryOptions({
    queryKey: ["items", "search", text, options],
    queryFn: ({ signal }) => {
      const more = {
        hostids: options.hostid ? [options.hostid] : undefined,
        filter: options.numeric ? { value_type: [0, 3] } : undefined,
      };
      return searchItems(text, more, signal);
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/**
 * Items of hosts whose host and item names together have all words of the text: `web-01 cpu`.
 * Items of templates have no values and are left out.
 */
export const hostItemSearchQuery = (text: string) =>
  queryOptions({
    queryKey: ["items", "palette", text],
    queryFn: async ({ signal }) => {
      const words = wordsOf(text);
      const own = { templated: false };
      if (words.length < 2) return searchItems(text, own, signal);
      const hosts = await rpc(
        "host.get",
        { output: ["hostid"], search: { name: words }, searchByAny: true, limit: 50 },
        signal,
      );
      const [named, ofHosts] = await Promise.all([
        searchItems(text, { ...own, search: { name: words }, searchByAny: false }, signal),
        hosts.length === 0
          ? []
          : searchItems(
              text,
              {
                ...own,
                hostids: hosts.map((host) => host.hostid),
                search: { name: words },
                limit: 200,
              },
              signal,
            ),
      ]);
      const seen = new Set(named.map((item) => item.itemid));
      const combined = ofHosts.filter(
        (item) =>
          !seen.has(item.itemid) && includesAll(`${item.hosts[0]?.name} ${item.name}`, text),
      );
      return [...combined, ...named];
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** Prototypes of a host or template alone, or of all. */
export const itemPrototypeSearchQuery = (text: string, hostid?: string) =>
  queryOptions({
    queryKey: ["items", "prototypes", text, hostid],
    queryFn: ({ signal }) => {
      const hostids = hostid ? [hostid] : undefined;
      const selectHosts = ["hostid", "name"] as const;
      return rpc("itemprototype.get", { ...named(text), hostids, selectHosts }, signal);
    },
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

const NAMED = { output: FOUND, selectHosts: ["hostid", "name"] } as const;

/** Names of items, also of templates, with their hosts. */
export const itemNamesQuery = (itemids: readonly string[]) =>
  queryOptions({
    queryKey: ["items", "names", itemids],
    queryFn: ({ signal }) => rpc("item.get", { ...NAMED, itemids }, signal),
    enabled: itemids.length > 0,
    staleTime: 60_000,
  });

/** Names of item prototypes with their hosts. */
export const itemPrototypeNamesQuery = (itemids: readonly string[]) =>
  queryOptions({
    queryKey: ["item prototypes", "names", itemids],
    queryFn: ({ signal }) => rpc("itemprototype.get", { ...NAMED, itemids }, signal),
    enabled: itemids.length > 0,
    staleTime: 60_000,
  });

/** The value map's rows of an item; the API writes "none" as an empty array. */
export function mappingsOf(item: Pick<ItemRow, "valuemap">): Mapping[] {
  return Array.isArray(item.valuemap) ? [] : item.valuemap.mappings;
}

/** The type of the task. */
const CHECK_NOW = 6;

/** Has these items checked now; the new values come like all others. */
export function checkNow(itemids: readonly string[]): Promise<unknown> {
  return rpc(
    "task.create",
    itemids.map((itemid) => ({ type: CHECK_NOW, request: { itemid } })),
  );
}
