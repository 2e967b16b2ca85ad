import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HostInterface } from "~/util/interfaces";
import type { Tag, TagFilter } from "~/util/tags";
import { wordsOf } from "~/util/words";
import { rpc, rpcCount } from "./client";
import type { GetParams } from "./gets";
import { pollInterval } from "./live";

/**
 * `type`: 0 text, 1 secret, 2 vault. Secrets come without their value. `automatic`: 1 discovery made
 * it and keeps it, 0 people.
 */
export interface Macro {
  hostmacroid?: string;
  macro: string;
  value?: string;
  type: string;
  description: string;
  automatic?: string;
}

export interface HostRow {
  hostid: string;
  host: string;
  name: string;
  /** 0 monitored, 1 not monitored. */
  status: string;
  maintenance_status: string;
  /** The maintenance in effect; 0 = none. */
  maintenanceid: string;
  /** 1: values are not collected while it runs. */
  maintenance_type: string;
  /** Active checks: 0 unknown, 1 available, 2 not available. */
  active_available: string;
  interfaces: HostInterface[];
  tags: Tag[];
  inheritedTags?: Tag[];
  parentTemplates: { templateid: string; name: string }[];
  hostgroups: { groupid: string; name: string }[];
  items: string;
  triggers: string;
  discoveries: string;
}

export interface Host extends HostRow {
  description: string;
  macros: Macro[];
  tls_connect: string;
  tls_accept: string;
  tls_issuer: string;
  tls_subject: string;
  ipmi_authtype: string;
  ipmi_privilege: string;
  ipmi_username: string;
  ipmi_password: string;
  flags: string;
  /** What collects its values: 0 the server, 1 a proxy, 2 a proxy group. */
  monitored_by: string;
  proxyid: string;
  proxy_groupid: string;
}

/** What the list of hosts is narrowed down to; it mirrors the address bar. */
export interface HostFilter {
  text?: string;
  groupids?: string[];
  templateids?: string[];
  tags?: TagFilter[];
  status?: string;
  sort?: "name" | "status";
  desc?: boolean;
}

const ROW = {
  output: [
    "hostid",
    "host",
    "name",
    "status",
    "maintenance_status",
    "maintenanceid",
    "maintenance_type",
    "active_available",
  ],
  selectInterfaces: [
    "interfaceid",
    "type",
    "main",
    "useip",
    "ip",
    "dns",
    "port",
    "available",
    "error",
  ],
  selectTags: ["tag", "value"],
  selectParentTemplates: ["templateid", "name"],
  selectHostGroups: ["groupid", "name"],
  selectItems: "count",
  selectTriggers: "count",
  selectDiscoveries: "count",
} as const;

function narrowed(filter: HostFilter) {
  return {
    groupids: filter.groupids?.length ? filter.groupids : undefined,
    templateids: filter.templateids?.length ? filter.templateids : undefined,
    tags: filter.tags?.length ? filter.tags : undefined,
    filter: filter.status ? { status: filter.status } : undefined,
    search: filter.text ? { host: filter.text, name: filter.text } : undefined,
    searchByAny: filter.text ? true : undefined,
  } satisfies GetParams<"host.get">;
}

/** How many hosts match. */
export const hostTotalQuery = (filter: HostFilter) =>
  queryOptions({
    queryKey: ["hosts", "total", narrowed(filter)],
    queryFn: ({ signal }) => rpcCount("host.get", narrowed(filter), signal),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** The rows of a window of the list; the server sorts and cuts. */
export function hostWindow(
  filter: HostFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<HostRow[]> {
  return rpc(
    "host.get",
    {
      ...ROW,
      ...narrowed(filter),
      sortfield: filter.sort ?? "name",
      sortorder: filter.desc ? "DESC" : "ASC",
      limit,
      offset: offset || undefined,
    },
    signal,
  );
}

export const hostQuery = (hostid: string) =>
  queryOptions({
    queryKey: ["hosts", "one", hostid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "host.get",
        {
          ...ROW,
          hostids: [hostid],
          output: "extend",
          selectInterfaces: "extend",
          selectMacros: "extend",
          selectInheritedTags: ["tag", "value"],
        },
        signal,
      );
      return rows[0] ?? null;
    },
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export interface NamedHost {
  hostid: string;
  name: string;
}

/** A handful of hosts by name, for pickers and the palette. */
function hostSearch(text: string) {
  const words = wordsOf(text);
  if (words.length > 1) return { search: { name: words } };
  return text ? { search: { name: text, host: text }, searchByAny: true } : {};
}

/** A handful by name: one word also by the technical name, several by the visible name alone. */
export const hostSearchQuery = (text: string, limit = 20) =>
  queryOptions({
    queryKey: ["hosts", "search", text, limit],
    queryFn: ({ signal }) =>
      rpc(
        "host.get",
        {
          output: ["hostid", "name"],
          ...hostSearch(text),
          sortfield: "name",
          limit,
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** The interfaces of hosts, as they are now. */
export const hostAddressesQuery = (hostids: string[]) =>
  queryOptions({
    queryKey: ["hosts", "addresses", hostids],
    queryFn: ({ signal }) =>
      rpc(
        "host.get",
        { output: ["hostid", "name"], hostids, selectInterfaces: "extend", sortfield: "name" },
        signal,
      ),
  });

export const hostNamesQuery = (hostids: string[]) =>
  queryOptions({
    queryKey: ["hosts", "names", hostids],
    queryFn: ({ signal }) => rpc("host.get", { output: ["hostid", "name"], hostids }, signal),
    enabled: hostids.length > 0,
    staleTime: 60_000,
  });

/** The host that stands for the server itself. */
export const selfHostQuery = () =>
  queryOptions({
    queryKey: ["hosts", "self"],
    queryFn: async ({ signal }) => {
      const output = ["hostid", "name"] as const;
      const named = await rpc("host.get", { output, filter: { host: ["Vedette"] } }, signal);
      if (named[0]) return named[0];
      const items = await rpc(
        "item.get",
        {
          output: ["itemid"],
          filter: { key_: "zabbix[wcache,values]" },
          selectHosts: output,
          limit: 1,
        },
        signal,
      );
      return items[0]?.hosts[0] ?? null;
    },
    staleTime: 60_000,
  });
