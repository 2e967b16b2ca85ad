import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HostInterface } from "~/util/interfaces";
import type { Tag, TagFilter } from "~/util/tags";
import { rpc } from "./client";
import type { GetParams } from "./gets";
import { pollInterval } from "./live";

/** The hosts that a widget selects. */
export interface HostScope {
  hostids?: readonly string[];
  groupids?: readonly string[];
  /** Patterns of names with `*`; one of them must match. */
  patterns?: readonly string[];
  tags?: readonly TagFilter[];
  anyTag?: 2;
  /** "0": monitored. */
  status?: string;
  withoutMaintenance?: boolean;
  /** Only hosts with problems of these severities. */
  severities?: readonly number[];
  limit: number;
}

const filled = <T>(list: readonly T[] | undefined) => (list?.length ? list : undefined);
const NO_MAINTENANCE = "0";

function narrowed(scope: HostScope) {
  const patterns = scope.patterns?.includes("*") ? undefined : filled(scope.patterns);
  return {
    hostids: filled(scope.hostids),
    groupids: filled(scope.groupids),
    search: patterns && { name: patterns },
    searchWildcardsEnabled: patterns && true,
    searchByAny: patterns && true,
    tags: filled(scope.tags),
    evaltype: scope.anyTag,
    severities: filled(scope.severities),
    filter: {
      ...(scope.status === undefined ? {} : { status: scope.status }),
      ...(scope.withoutMaintenance ? { maintenance_status: NO_MAINTENANCE } : {}),
    },
    sortfield: "name",
    limit: scope.limit,
  } satisfies GetParams<"host.get">;
}

export interface NavigatedHost {
  hostid: string;
  name: string;
  status: string;
  tags: Tag[];
  hostgroups: { groupid: string; name: string }[];
}

/** Hosts with their groups and tags, by name. */
export const navigatedHostsQuery = (scope: HostScope) =>
  queryOptions({
    queryKey: ["hosts", "navigated", scope],
    queryFn: ({ signal }): Promise<NavigatedHost[]> =>
      rpc(
        "host.get",
        {
          ...narrowed(scope),
          output: ["hostid", "name", "status"],
          selectTags: ["tag", "value"],
          selectHostGroups: ["groupid", "name"],
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export interface ReachableHost {
  hostid: string;
  /** Active checks: 0 unknown, 1 available, 2 not available. */
  active_available: string;
  interfaces: Pick<HostInterface, "type" | "available">[];
}

/** Hosts with the availability of their interfaces. */
export const reachableHostsQuery = (scope: HostScope) =>
  queryOptions({
    queryKey: ["hosts", "reachable", scope],
    queryFn: ({ signal }): Promise<ReachableHost[]> =>
      rpc(
        "host.get",
        {
          ...narrowed(scope),
          output: ["hostid", "active_available"],
          selectInterfaces: ["type", "available"],
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export interface PlacedHost {
  hostid: string;
  name: string;
  latitude: number;
  longitude: number;
}

/** Hosts whose inventory has a position. */
export const placedHostsQuery = (scope: HostScope) =>
  queryOptions({
    queryKey: ["hosts", "placed", scope],
    queryFn: async ({ signal }): Promise<PlacedHost[]> => {
      const rows = await rpc(
        "host.get",
        {
          ...narrowed(scope),
          output: ["hostid", "name"],
          selectInventory: ["location_lat", "location_lon"],
        },
        signal,
      );
      return rows.flatMap(({ hostid, name, inventory }) => {
        if (Array.isArray(inventory)) return [];
        const [latitude, longitude] = [inventory.location_lat, inventory.location_lon].map(
          (text) => (text.trim() === "" ? Number.NaN : Number(text)),
        );
        const isPlace =
          Math.abs(latitude ?? Number.NaN) <= 90 && Math.abs(longitude ?? Number.NaN) <= 180;
        return isPlace
          ? [{ hostid, name, latitude: latitude ?? 0, longitude: longitude ?? 0 }]
          : [];
      });
    },
    placeholderData: keepPreviousData,
    meta: { live: "config" },
  });
