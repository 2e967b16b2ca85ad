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
  groupids: readonly string[];
}

/** What the elements of a map are about, as far as the user may see it. */
export interface Facts {
  hosts: ReadonlyMap<string, HostFacts>;
  groups: ReadonlyMap<string, string>;
  triggers: ReadonlyMap<string, TriggerFacts>;
  maps: ReadonlyMap<string, string>;
  states: ReadonlyMap<string, HostState>;
}

/** Hosts of one `host.states`. */
const HOSTS_MAX = 1_000;
/** `value` of a trigger with a problem. */
const PROBLEM: string = "1";

const unique = (ids: readonly (string | undefined)[]) => [
  ...new Set(ids.filter((id) => id !== undefined)),
];

async function hostsOf(by: { hostids: string[] } | { groupids: string[] }, signal: AbortSignal) {
  const [ids] = Object.values(by);
  if (!ids || ids.length === 0) return [];
  return rpc(
    "host.get",
    {
      output: ["hostid", "host", "name", "status"],
      ...by,
      selectInterfaces: ["ip", "dns", "useip", "main"],
      selectHostGroups: ["groupid"],
      limit: HOSTS_MAX,
    },
    signal,
  );
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
export const mapFactsQuery = (elements: readonly MapElement[], links: readonly MapLink[]) => {
  const shown = elements.flatMap((element) => element.elements);
  const ids = {
    hosts: unique(shown.map((one) => one.hostid)),
    groups: unique(shown.map((one) => one.groupid)),
    maps: unique(shown.map((one) => one.sysmapid)),
    triggers: unique([
      ...shown.map((one) => one.triggerid),
      ...links.flatMap((link) => link.linktriggers.map((one) => one.triggerid)),
    ]),
  };
  return queryOptions({
    queryKey: ["problems", "map", ids],
    queryFn: async ({ signal }): Promise<Facts> => {
      const [own, members, triggers, groups, maps] = await Promise.all([
        hostsOf({ hostids: ids.hosts }, signal),
        hostsOf({ groupids: ids.groups }, signal),
        triggersOf(ids.triggers, signal),
        ids.groups.length > 0
          ? rpc("hostgroup.get", { output: ["groupid", "name"], groupids: ids.groups }, signal)
          : [],
        ids.maps.length > 0
          ? rpc("map.get", { output: ["sysmapid", "name"], sysmapids: ids.maps }, signal)
          : [],
      ]);
      const hosts = [...own, ...members];
      const hostids = unique([
        ...hosts.map((host) => host.hostid),
        ...triggers.flatMap((trigger) => trigger.hosts.map((host) => host.hostid)),
      ]).slice(0, HOSTS_MAX);
      const states = hostids.length > 0 ? await rpc("host.states", { hostids }, signal) : [];
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
              groupids: host.hostgroups.map((group) => group.groupid),
            };
            return [host.hostid, facts];
          }),
        ),
        groups: new Map(groups.map((group) => [group.groupid, group.name])),
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
