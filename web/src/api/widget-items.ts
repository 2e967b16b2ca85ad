import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { TagFilter } from "~/util/tags";
import { rpc } from "./client";
import { ITEM_ROW, type ItemRow } from "./items";
import { type LiveMeta, pollInterval } from "./live";
import { ValueType } from "./schema";

/** The items that a widget selects by patterns instead of ids. */
export interface ItemScope {
  hostids?: readonly string[];
  groupids?: readonly string[];
  /** Patterns of host names with `*`; one of them must match. */
  hosts?: readonly string[];
  hostTags?: readonly TagFilter[];
  anyHostTag?: 2;
  /** Patterns of item names with `*`; one of them must match. */
  names?: readonly string[];
  tags?: readonly TagFilter[];
  anyTag?: 2;
  /** Only numbers. */
  numeric?: boolean;
  /** Only items that are (`0`) or are not (`1`) supported. */
  state?: string;
  /** Hosts in maintenance are left out. */
  withoutMaintenance?: boolean;
  limit: number;
}

/** Hosts that patterns or tags of a widget select at most. */
const HOSTS_MAX = 1_000;
const NO_MAINTENANCE = "0";

const filled = <T>(list: readonly T[] | undefined) => (list?.length ? list : undefined);
const isAll = (patterns: readonly string[]) => patterns.includes("*");

/** The hosts of a scope; undefined: those of all items. */
async function hostsOf(
  scope: ItemScope,
  signal: AbortSignal,
): Promise<readonly string[] | undefined> {
  const patterns = filled(scope.hosts);
  const named = patterns !== undefined && !isAll(patterns);
  if (!named && !scope.hostTags?.length && !scope.withoutMaintenance) return filled(scope.hostids);
  const rows = await rpc(
    "host.get",
    {
      output: ["hostid"],
      hostids: filled(scope.hostids),
      groupids: filled(scope.groupids),
      search: named ? { name: patterns } : undefined,
      searchWildcardsEnabled: named || undefined,
      searchByAny: named || undefined,
      tags: filled(scope.hostTags),
      evaltype: scope.anyHostTag,
      filter: scope.withoutMaintenance ? { maintenance_status: NO_MAINTENANCE } : undefined,
      sortfield: "name",
      limit: HOSTS_MAX,
    },
    signal,
  );
  return rows.map((row) => row.hostid);
}

async function scopedItems(scope: ItemScope, signal: AbortSignal): Promise<ItemRow[]> {
  const hostids = await hostsOf(scope, signal);
  if (hostids?.length === 0) return [];
  const names = filled(scope.names);
  const named = names !== undefined && !isAll(names);
  return rpc(
    "item.get",
    {
      ...ITEM_ROW,
      hostids,
      groupids: filled(scope.groupids),
      monitored: true,
      search: named ? { name: names } : undefined,
      searchWildcardsEnabled: named || undefined,
      searchByAny: named || undefined,
      tags: filled(scope.tags),
      evaltype: scope.anyTag,
      filter: {
        ...(scope.numeric ? { value_type: [ValueType.Float, ValueType.Unsigned] } : {}),
        ...(scope.state ? { state: scope.state } : {}),
      },
      sortfield: "name",
      limit: scope.limit,
    },
    signal,
  );
}

/** Items by their ids; `hostid`: those with the same keys on that host. */
export interface ItemChoice {
  itemids: readonly string[];
  hostid: string | undefined;
}

async function chosenItems(
  { itemids, hostid }: ItemChoice,
  signal: AbortSignal,
): Promise<ItemRow[]> {
  if (itemids.length === 0) return [];
  const rows = await rpc("item.get", { ...ITEM_ROW, itemids }, signal);
  const own = itemids.flatMap((id) => rows.find((row) => row.itemid === id) ?? []);
  if (hostid === undefined || own.every((row) => row.hostid === hostid)) return own;
  const keys = own.map((row) => row.key_);
  const twins = await rpc(
    "item.get",
    { ...ITEM_ROW, hostids: hostid, filter: { key_: keys } },
    signal,
  );
  return keys.flatMap((key) => twins.find((row) => row.key_ === key) ?? []);
}

/** Items of a choice in its order, or of a scope by name. */
export const selectedItemsQuery = (selection: ItemChoice | ItemScope) =>
  queryOptions({
    queryKey: ["items", "selected", selection],
    queryFn: ({ signal }) =>
      "itemids" in selection ? chosenItems(selection, signal) : scopedItems(selection, signal),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: "itemids" in selection ? valuesOf(selection) : { live: "config" },
  });

const valuesOf = ({ itemids, hostid }: ItemChoice): LiveMeta => ({
  live: "values",
  itemids: hostid === undefined ? itemids : undefined,
});

/** The items of a choice, in its order. */
export const twinItemsQuery = (itemids: readonly string[], hostid: string | undefined) => ({
  ...selectedItemsQuery({ itemids, hostid }),
  enabled: itemids.length > 0,
});

/** The items of a scope with their newest values, by name. */
export const scopedItemsQuery = (scope: ItemScope) => selectedItemsQuery(scope);
