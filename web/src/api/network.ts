import { queryOptions } from "@tanstack/react-query";
import type { AnnounceParams } from "~/util/announce";
import type { Check } from "~/util/network";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { Members } from "./methods";

export interface NetworkRule {
  druleid: string;
  name: string;
  iprange: string;
  delay: string;
  /** "0" = switched on. */
  status: string;
  concurrency_max: string;
  error: string;
  dchecks: Check[];
  /** How many hosts it has found. */
  dhosts: string;
}

export interface FoundService {
  dserviceid: string;
  dhostid: string;
  dcheckid: string;
  value: string;
  port: string;
  /** "0" = up. */
  status: string;
  lastup: string;
  lastdown: string;
  ip: string;
  dns: string;
  /** Hosts with an interface at its address. */
  hosts: { hostid: string; name: string }[];
}

export interface FoundHost {
  dhostid: string;
  status: string;
  lastup: string;
  lastdown: string;
  rule: string;
  services: FoundService[];
}

export const networkRulesQuery = () =>
  queryOptions({
    queryKey: ["network", "rules"],
    queryFn: ({ signal }) =>
      rpc(
        "drule.get",
        { output: "extend", selectDChecks: "extend", selectDHosts: "count", sortfield: "name" },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export const networkRuleQuery = (druleid: string) =>
  queryOptions({
    queryKey: ["network", "rule", druleid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "drule.get",
        { druleids: druleid, output: "extend", selectDChecks: "extend", selectDHosts: "count" },
        signal,
      );
      return rows[0] ?? null;
    },
    meta: { live: "config" },
  });

/** Creates a rule, or changes the one given. */
export function saveNetworkRule(
  druleid: string | null,
  members: Members<"drule">,
): Promise<unknown> {
  if (!druleid) return rpc("drule.create", members);
  return rpc("drule.update", { druleid, ...members });
}

/** Switches rules on or off. */
export function enableNetworkRules(druleids: string[], on: boolean): Promise<unknown> {
  const status: "0" | "1" = on ? "0" : "1";
  return rpc(
    "drule.update",
    druleids.map((druleid) => ({ druleid, status })),
  );
}

export function deleteNetworkRules(druleids: string[]): Promise<unknown> {
  return rpc("drule.delete", druleids);
}

/** Hosts that discovery found, with their services, the newest change first. */
export const foundHostsQuery = (druleid: string | undefined) =>
  queryOptions({
    queryKey: ["network", "found", druleid ?? "all"],
    queryFn: async ({ signal }): Promise<FoundHost[]> => {
      const druleids = druleid ? [druleid] : undefined;
      const [hosts, services] = await Promise.all([
        rpc("dhost.get", { druleids, output: "extend", selectDRules: ["name"] }, signal),
        rpc(
          "dservice.get",
          { druleids, output: "extend", selectHosts: ["hostid", "name"] },
          signal,
        ),
      ]);
      const of = new Map<string, FoundService[]>();
      for (const service of services) {
        const list = of.get(service.dhostid);
        if (list) list.push(service);
        else of.set(service.dhostid, [service]);
      }
      const since = (host: FoundHost) => Number(host.lastup) + Number(host.lastdown);
      return hosts
        .map(({ drules, ...host }) => ({
          ...host,
          rule: drules[0]?.name ?? "",
          services: of.get(host.dhostid) ?? [],
        }))
        .sort((a, b) => since(b) - since(a));
    },
    refetchInterval: 10_000,
  });

/** Over which connections agents may announce themselves: bits, 1 unencrypted, 2 with a key. */
export const autoregistrationQuery = () =>
  queryOptions({
    queryKey: ["network", "autoregistration"],
    queryFn: async ({ signal }) =>
      Number((await rpc("autoregistration.get", {}, signal)).tls_accept),
    meta: { live: "config" },
  });

export function saveAutoregistration(members: AnnounceParams): Promise<unknown> {
  return rpc("autoregistration.update", members);
}
