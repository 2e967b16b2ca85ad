import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HostState } from "~/util/host-state";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { MapElement, MapLink } from "./maps";
import { State, Status } from "./schema";

/** What is known of a trigger. */
export interface TriggerFacts {
  description: string;
  priority: string;
  /** It has a problem. */
  problem: boolean;
  /** It is enabled, and can be evaluated. */
  known: boolean;
  hostids: readonly string[];
}

export interface HostFacts {
  name: string;
  host: string;
  address: string;
  monitored: boolean;
}

/** All hosts of a group, as the server counts them. */
export interface GroupFacts {
  name: string;
  hosts: number;
  monitored: number;
  /** Monitored hosts with values. */
  withData: number;
  /** Open problems by severity, 0 to 5. */
  problems: readonly number[];
}

/** What the elements of a map are about, as far as the user may see it. */
export interface Facts {
  hosts: ReadonlyMap<string, HostFacts>;
  groups: ReadonlyMap<string, GroupFacts>;
  triggers: ReadonlyMap<string, TriggerFacts>;
  maps: ReadonlyMap<string, string>;
  states: ReadonlyMap<string, HostState>;
}

/** Ids of one `host.states` or `hostgroup.states`. */
const IDS_MAX = 1_000;
/** `value` of a trigger with a problem. */
const PROBLEM: string = "1";

const unique = (ids: readonly (string | undefined)[]) => [
  ...new Set(ids.filter((id) => id !== undefined)),
];

/** The rows of all ids, which a method takes in portions. */
async function inPortions<Row>(
  ids: readonly string[],
  read: (ids: readonly string[]) => Promise<readonly Row[]>,
): Promise<Row[]> {
  const rows: Row[] = [];
  for (let from = 0; from < ids.length; from += IDS_MAX)
    rows.push(...(await read(ids.slice(from, from + IDS_MAX))));
  return rows;
}

async function hostsOf(hostids: string[], signal: AbortSignal) {
  if (hostids.length === 0) return [];
  return rpc(
    "host.get",
    {
      output: ["hostid", "host", "name", "status"],
      hostids,
      selectInterfaces: ["ip", "dns", "useip", "main"],
    },
    signal,
  );
}

async function groupsOf(groupids: string[], signal: AbortSignal) {
  if (groupids.length === 0) return [];
  const [groups, states] = await Promise.all([
    rpc("hostgroup.get", { output: ["groupid", "name"], groupids }, signal),
    inPortions(groupids, (groupids) => rpc("hostgroup.states", { groupids }, signal)),
  ]);
  const stateOf = new Map(states.map((state) => [state.groupid, state]));
  return groups.flatMap(({ groupid, name }): [string, GroupFacts][] => {
    const state = stateOf.get(groupid);
    if (!state) return [];
    const [hosts, monitored, withData] = [state.hosts, state.monitored, state.with_data].map(
      Number,
    ) as [number, number, number];
    const problems = state.problems.map(Number);
    return [[groupid, { name, hosts, monitored, withData, problems }]];
  });
}

async function triggersOf(triggerids: string[], signal: AbortSignal) {
  if (triggerids.length === 0) return [];
  return rpc(
    "trigger.get",
    {
      output: ["triggerid", "description", "priority", "value", "status", "state"],
      triggerids,
      expandDescription: true,
      selectHosts: ["hostid"],
    },
    signal,
  );
}

/** What the elements and links of a map are about. */
export const mapFactsQuery = (
  elements: readonly Pick<MapElement, "elements">[],
  links: readonly Pick<MapLink, "linktriggers">[],
) => {
  const shown = elements.flatMap((element) => element.elements);
  const ids = {
    hosts: unique(shown.map((one) => one.hostid)),
    groups: unique(shown.map((one) => one.groupid)),
    maps: unique(shown.map((one) => one.sysmapid)),
    triggers: unique([
      ...shown.map((one) => one.triggerid),
      ...links.flatMap((link) => link.linktriggers.map((one) => one.triggerid)),
    ]).filter(Boolean),
  };
  return queryOptions({
    queryKey: ["problems", "map", ids],
    queryFn: async ({ signal }): Promise<Facts> => {
      const [hosts, triggers, groups, maps] = await Promise.all([
        hostsOf(ids.hosts, signal),
        triggersOf(ids.triggers, signal),
        groupsOf(ids.groups, signal),
        ids.maps.length > 0
          ? rpc("map.get", { output: ["sysmapid", "name"], sysmapids: ids.maps }, signal)
          : [],
      ]);
      const hostids = unique([
        ...hosts.map((host) => host.hostid),
        ...triggers.flatMap((trigger) => trigger.hosts.map((host) => host.hostid)),
      ]);
      const states = await inPortions(hostids, (hostids) =>
        rpc("host.states", { hostids }, signal),
      );
      return {
        hosts: new Map(
          hosts.map((host) => {
            const main = host.interfaces.find((one) => one.main === "1");
            const address = main?.useip === "1" ? main.ip : main?.dns;
            const facts = {
              name: host.name,
              host: host.host,
              address: address ?? "",
              monitored: host.status === Status.Enabled,
            };
            return [host.hostid, facts];
          }),
        ),
        groups: new Map(groups),
        maps: new Map(maps.map((map) => [map.sysmapid, map.name])),
        triggers: new Map(
          triggers.map((trigger) => {
            const enabled = trigger.status === Status.Enabled;
            const facts = {
              description: trigger.description,
              priority: trigger.priority,
              problem: enabled && trigger.value === PROBLEM,
              known: enabled && trigger.state === State.Normal,
              hostids: trigger.hosts.map((host) => host.hostid),
            };
            return [trigger.triggerid, facts];
          }),
        ),
        states: new Map(
          states.map((row) => [
            row.hostid,
            { data: row.data === "1", problems: row.problems.map(Number) },
          ]),
        ),
      };
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
};
