import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { TagFilter } from "~/util/tags";
import { rpc } from "./client";
import { pollInterval } from "./live";

export interface WebGroup {
  groupid: string;
  name: string;
  ok: number;
  failed: number;
  unknown: number;
}

interface FailItem {
  hostid: string;
  lastvalue: string;
  lastclock: string;
}

interface GroupedHost {
  hostid: string;
  hostgroups: readonly { groupid: string; name: string }[];
}

/** Scenarios by the group of their host. The item `web.test.fail` has the number of the failed step, 0 for none. */
export function webGroups(
  items: readonly FailItem[],
  hosts: readonly GroupedHost[],
  groupids: readonly string[],
): WebGroup[] {
  const of = new Map(hosts.map((host) => [host.hostid, host.hostgroups]));
  const groups = new Map<string, WebGroup>();
  for (const { hostid, lastvalue, lastclock } of items) {
    for (const { groupid, name } of of.get(hostid) ?? []) {
      if (groupids.length > 0 && !groupids.includes(groupid)) continue;
      const group = groups.get(groupid) ?? { groupid, name, ok: 0, failed: 0, unknown: 0 };
      group[lastclock === "0" ? "unknown" : Number(lastvalue) > 0 ? "failed" : "ok"]++;
      groups.set(groupid, group);
    }
  }
  return [...groups.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** Scenarios that are read. */
const SCENARIOS_MAX = 5_000;

interface WebScope {
  hostids: readonly string[];
  groupids: readonly string[];
  tags: readonly TagFilter[];
  anyTag: 2 | undefined;
}

/** Web scenarios of monitored hosts that work and fail, by host group. */
export const webStatesQuery = (scope: WebScope) =>
  queryOptions({
    queryKey: ["web", "states", scope],
    queryFn: async ({ signal }) => {
      const items = await rpc(
        "item.get",
        {
          output: ["itemid", "hostid", "lastvalue", "lastclock"],
          hostids: scope.hostids.length > 0 ? scope.hostids : undefined,
          groupids: scope.groupids.length > 0 ? scope.groupids : undefined,
          tags: scope.tags.length > 0 ? scope.tags : undefined,
          evaltype: scope.anyTag,
          search: { key_: "web.test.fail[" },
          startSearch: true,
          webitems: true,
          monitored: true,
          limit: SCENARIOS_MAX,
        },
        signal,
      );
      const hostids = [...new Set(items.map((item) => item.hostid))];
      const hosts =
        hostids.length === 0
          ? []
          : await rpc(
              "host.get",
              { output: ["hostid"], hostids, selectHostGroups: ["groupid", "name"] },
              signal,
            );
      return webGroups(items, hosts, scope.groupids);
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "values" },
  });
