import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { worstOf } from "~/util/host-state";
import { rpc } from "./client";
import { pollInterval } from "./live";

export interface ProblemGroup {
  groupid: string;
  name: string;
  /** Hosts by the severity of their worst problem, 0 to 5. */
  worst: number[];
  /** Hosts with values and without problems. */
  well: number;
  /** Hosts without values. */
  unknown: number;
}

interface GroupedHost {
  hostid: string;
  hostgroups: readonly { groupid: string; name: string }[];
}

interface StateOf {
  data: boolean;
  problems: readonly number[];
}

/** Hosts of each group by the severity of their worst problem. */
export function problemGroups(
  hosts: readonly GroupedHost[],
  states: ReadonlyMap<string, StateOf>,
  groupids: readonly string[],
): ProblemGroup[] {
  const groups = new Map<string, ProblemGroup>();
  for (const { hostid, hostgroups } of hosts) {
    const state = states.get(hostid);
    const worst = worstOf(state?.problems ?? []);
    for (const { groupid, name } of hostgroups) {
      if (groupids.length > 0 && !groupids.includes(groupid)) continue;
      const group = groups.get(groupid) ?? {
        groupid,
        name,
        worst: [0, 0, 0, 0, 0, 0],
        well: 0,
        unknown: 0,
      };
      if (worst !== null) group.worst[worst] = (group.worst[worst] ?? 0) + 1;
      else if (state?.data) group.well++;
      else group.unknown++;
      groups.set(groupid, group);
    }
  }
  return [...groups.values()].sort((a, b) => a.name.localeCompare(b.name));
}

/** Hosts that are read; more are left out. */
const HOSTS_MAX = 2_000;
const MONITORED = "0";

/** Groups with their monitored hosts. `complete`: all hosts were read. */
export const problemGroupsQuery = (scope: {
  hostids: readonly string[];
  groupids: readonly string[];
}) =>
  queryOptions({
    queryKey: ["problems", "groups", scope],
    queryFn: async ({ signal }) => {
      const hosts = await rpc(
        "host.get",
        {
          output: ["hostid"],
          hostids: scope.hostids.length > 0 ? scope.hostids : undefined,
          groupids: scope.groupids.length > 0 ? scope.groupids : undefined,
          filter: { status: MONITORED },
          selectHostGroups: ["groupid", "name"],
          sortfield: "name",
          limit: HOSTS_MAX,
        },
        signal,
      );
      const raw =
        hosts.length === 0
          ? []
          : await rpc("host.states", { hostids: hosts.map(({ hostid }) => hostid) }, signal);
      const states = new Map(
        raw.map((row) => [
          row.hostid,
          { data: row.data === "1", problems: row.problems.map(Number) },
        ]),
      );
      return {
        groups: problemGroups(hosts, states, scope.groupids),
        complete: hosts.length < HOSTS_MAX,
      };
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
