import { queryOptions } from "@tanstack/react-query";
import { rpc, rpcCount } from "./client";
import { State, Status } from "./schema";

/** Numbers of objects. Items and triggers are those of hosts, not of templates. */
export interface Totals {
  hosts: { enabled: number; disabled: number };
  templates: number;
  /** `supported` and `notSupported` are monitored; `idle` are disabled or on disabled hosts. */
  items: { supported: number; notSupported: number; idle: number };
  /** `problem`, `ok` and `unknown` are monitored; `idle` are disabled or on disabled hosts. */
  triggers: { problem: number; ok: number; unknown: number; idle: number };
  users: number;
}

async function itemTotals(signal: AbortSignal): Promise<Totals["items"]> {
  const all = { templated: false, webitems: true } as const;
  const monitored = { monitored: true, webitems: true } as const;
  const notSupported = { ...monitored, filter: { state: State.NotSupported } };
  const [total, running, failing] = await Promise.all([
    rpcCount("item.get", all, signal),
    rpcCount("item.get", monitored, signal),
    rpcCount("item.get", notSupported, signal),
  ]);
  return { supported: running - failing, notSupported: failing, idle: total - running };
}

const PROBLEM = "1";

async function triggerTotals(signal: AbortSignal): Promise<Totals["triggers"]> {
  const monitored = { monitored: true } as const;
  const normal = { ...monitored, filter: { state: State.Normal } };
  const inProblem = { ...monitored, filter: { state: State.Normal, value: PROBLEM } };
  const [total, running, known, problem] = await Promise.all([
    rpcCount("trigger.get", { templated: false }, signal),
    rpcCount("trigger.get", monitored, signal),
    rpcCount("trigger.get", normal, signal),
    rpcCount("trigger.get", inProblem, signal),
  ]);
  return { problem, ok: known - problem, unknown: running - known, idle: total - running };
}

/** Counting all items takes the server longer than other pages' queries. */
const TOTALS_MS = 30_000;

export const totalsQuery = () =>
  queryOptions({
    queryKey: ["system", "totals"],
    queryFn: async ({ signal }): Promise<Totals> => {
      const hosts = (status: string) => rpcCount("host.get", { filter: { status } }, signal);
      const [enabled, disabled, templates, users, items, triggers] = await Promise.all([
        hosts(Status.Enabled),
        hosts(Status.Disabled),
        rpcCount("template.get", {}, signal),
        rpcCount("user.get", {}, signal),
        itemTotals(signal),
        triggerTotals(signal),
      ]);
      return { hosts: { enabled, disabled }, templates, users, items, triggers };
    },
    refetchInterval: TOTALS_MS,
  });

/** What the server says of itself and how it is set up. */
export interface ServerFacts {
  apiVersion: string;
  zone: string;
  /** Undefined: unknown. */
  auditLog: boolean | undefined;
  heartbeat: boolean;
}

const FACTS_MS = 10_000;

export const serverFactsQuery = () =>
  queryOptions({
    queryKey: ["system", "facts"],
    queryFn: async ({ signal }): Promise<ServerFacts> => {
      const [apiVersion, zone, settings, auditLog] = await Promise.all([
        rpc("apiinfo.version", [], signal),
        rpc("apiinfo.timezone", [], signal),
        rpc("settings.get", { output: ["heartbeat_url", "heartbeat_period"] }, signal),
        isAuditEnabled(signal),
      ]);
      const heartbeat = settings.heartbeat_url !== "" && settings.heartbeat_period !== "0";
      return { apiVersion, zone, auditLog, heartbeat };
    },
    refetchInterval: FACTS_MS,
    meta: { live: "config" },
  });

async function isAuditEnabled(signal: AbortSignal): Promise<boolean | undefined> {
  const settings = await rpc("settings.get", { output: ["auditlog_enabled"] }, signal);
  const flag = settings.auditlog_enabled;
  return flag === undefined ? undefined : flag === "1";
}

/** Whether changes are recorded. */
export const auditEnabledQuery = () =>
  queryOptions({
    queryKey: ["system", "audit"],
    queryFn: async ({ signal }) => (await isAuditEnabled(signal)) ?? null,
    meta: { live: "config" },
  });

/** Nodes of the server's cluster; a server without one has a node without a name. */
export const haNodesQuery = () =>
  queryOptions({
    queryKey: ["system", "nodes"],
    queryFn: ({ signal }) => rpc("hanode.get", { output: "extend", sortfield: "name" }, signal),
    refetchInterval: FACTS_MS,
  });

/** The time zone of the server. */
export const serverZoneQuery = () =>
  queryOptions({
    queryKey: ["system", "zone"],
    queryFn: ({ signal }) => rpc("apiinfo.timezone", [], signal),
    staleTime: Number.POSITIVE_INFINITY,
  });
