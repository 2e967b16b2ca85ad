import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { RowOf } from "./gets";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import { session } from "./session-store";

/** A server of a pool. */
export interface PoolServer {
  name: string;
  address: string;
  port: string;
  /** "0": gets only clients that persist. */
  weight: string;
  /** "0": unlimited. */
  max_connections: string;
  /** "1": used if no other server is available. */
  backup: string;
  /** `up`, `drain` or `down`. */
  state: string;
  /** Monitored host that it is; "0": none. */
  hostid: string;
}

/** A health monitor of a pool beside the first one. */
export interface PoolMonitor {
  healthmonitorid: string;
}

/** The result of a check: `passes`, `fails` or `unknown`. */
export interface CheckResult {
  name: string;
  result: string;
  /** Why it does not pass; empty: it passes, or nothing is known. */
  reason: string;
}

/** A monitor as an engine reports it; times are Unix times in seconds, "0": never. */
export interface MonitorResult extends CheckResult {
  changed_at: string;
  checked_at: string;
}

/** A server of a pool in the result of `pool.health`. */
export interface ServerHealth {
  name: string;
  /** `up`, `down`, `down_on_some`, `not_checked`, `drain`, `disabled` or `unknown`. */
  state: string;
  /** Engines that have reported it lately. */
  engines: { engineid: string; name: string; state: string; monitors: MonitorResult[] }[];
  /** What the monitored host asks for: `drain`, `down`, or "": nothing. */
  host_effect: string;
  host_effect_ignored: boolean;
  host_checks: (CheckResult & { effect: string })[];
}

export interface PoolHealth {
  poolid: string;
  servers: ServerHealth[];
}

/** A pool of a pool group. */
export interface PoolMember {
  poolid: string;
  /** The highest with servers gets all requests. */
  priority: string;
  /** Share within the priority; "0": no new clients. */
  ratio: string;
}

/** Members of pools in the form of the engine's configuration. What is missing has its default. */
export interface PoolSettings {
  persistence: { type?: string; name?: string };
  retries: { count?: number; on?: string[]; budget_percent?: number };
  eject: { failures?: number; for?: string };
  /** `ca` and `crl`: PEM text. */
  tls: { ca?: string; sni?: string; crl?: string; expired_crl?: string };
}

/** What the server orders from an authority; without members: the certificate is given. */
export interface AcmeOrder {
  domains?: string[];
  /** `http-01`, `tls-alpn-01` or `dns-01`. */
  challenge?: string;
  directory?: string;
  /** PEM text. */
  ca?: string;
  contact?: string[];
  terms_agreed?: boolean;
}

/** Members of health monitors in that form; without members: none. */
export interface MonitorSettings {
  udp: { send?: string; expect?: string };
  dns: { name?: string; type?: string; rcodes?: string[] };
  script: { program?: string; parameters?: Record<string, string> };
  trigger_filter: {
    name?: string;
    tags?: { tag: string; value?: string }[];
    min_severity?: number;
    effect?: string;
  };
}

/** Members of virtual services in that form. */
export interface ServiceSettings {
  tls: {
    alpn?: string[];
    alt_svc?: string;
    min_version?: string;
    strict_sni?: boolean;
    client_ca?: string;
    client_auth?: string;
    client_crl?: string;
    expired_crl?: string;
  };
  timeouts: Record<string, string | number>;
  limits: Record<string, string | number>;
  rate_limit: Record<string, unknown>;
  authentication: Record<string, unknown>;
  compression: Record<string, unknown>;
  cache: Record<string, unknown>;
  mirror: Record<string, unknown>;
  forwarded: Record<string, unknown>;
  rules: unknown[];
  allow: string[];
  deny: string[];
}

const options = <T>(list: string, queryFn: (context: { signal: AbortSignal }) => Promise<T[]>) =>
  queryOptions({
    queryKey: ["balancing", list],
    queryFn,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

const EXTENDED = { output: "extend", sortfield: "name" } as const;

export const servicesQuery = () =>
  options("services", ({ signal }) =>
    rpc("virtualservice.get", { ...EXTENDED, selectCertificates: "extend" }, signal),
  );
export const poolsQuery = () =>
  options("pools", ({ signal }) =>
    rpc(
      "pool.get",
      { ...EXTENDED, selectServers: "extend", selectFurtherMonitors: "extend" },
      signal,
    ),
  );
export const poolGroupsQuery = () =>
  options("pool groups", ({ signal }) =>
    rpc("poolgroup.get", { ...EXTENDED, selectMembers: "extend" }, signal),
  );
export const monitorsQuery = () =>
  options("monitors", ({ signal }) => rpc("healthmonitor.get", EXTENDED, signal));
export const vipsQuery = () => options("vips", ({ signal }) => rpc("vip.get", EXTENDED, signal));
export const certificatesQuery = () =>
  options("certificates", ({ signal }) => rpc("certificate.get", EXTENDED, signal));
export const engineGroupsQuery = () =>
  options("engine groups", ({ signal }) =>
    rpc("enginegroup.get", { ...EXTENDED, selectVirtualServices: "count" }, signal),
  );

/** The host with the figures of an object; null: the server listens for no engines, or the user may not see it. */
export const figuresHostQuery = (kind: "service" | "pool", id: string) =>
  queryOptions({
    queryKey: ["balancing", "host", kind, id],
    queryFn: async ({ signal }) => {
      const filter = { host: [`lb.${kind}.${id}`] };
      const [host] = await rpc("host.get", { output: ["hostid"], filter }, signal);
      return host ?? null;
    },
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** One object with what its form shows; null if it is gone. */
const one = <T>(
  list: string,
  id: string,
  queryFn: (context: { signal: AbortSignal }) => Promise<T[]>,
) =>
  queryOptions({
    queryKey: ["balancing", "one", list, id] as readonly unknown[],
    queryFn: async (context) => (await queryFn(context))[0] ?? null,
    meta: { live: "config" },
  });

export const serviceQuery = (id: string) =>
  one("service", id, ({ signal }) =>
    rpc(
      "virtualservice.get",
      { output: "extend", selectCertificates: "extend", virtualserviceids: id },
      signal,
    ),
  );
export const poolQuery = (id: string) =>
  one("pool", id, ({ signal }) =>
    rpc(
      "pool.get",
      {
        output: "extend",
        selectServers: "extend",
        selectFurtherMonitors: "extend",
        poolids: id,
      },
      signal,
    ),
  );
/** How engines see the servers of a pool now; they report every 10 seconds. */
export const poolHealthQuery = (id: string) =>
  queryOptions({
    queryKey: ["balancing", "health", id],
    queryFn: async ({ signal }) => {
      const [found] = await rpc("pool.health", { poolids: [id] }, signal);
      return found ?? null;
    },
    refetchInterval: 5_000,
  });
export const poolGroupQuery = (id: string) =>
  one("pool group", id, ({ signal }) =>
    rpc("poolgroup.get", { output: "extend", selectMembers: "extend", poolgroupids: id }, signal),
  );
export const monitorQuery = (id: string) =>
  one("monitor", id, ({ signal }) =>
    rpc("healthmonitor.get", { output: "extend", healthmonitorids: id }, signal),
  );
export const vipQuery = (id: string) =>
  one("vip", id, ({ signal }) => rpc("vip.get", { output: "extend", vipids: id }, signal));
export const certificateQuery = (id: string) =>
  one("certificate", id, ({ signal }) =>
    rpc("certificate.get", { output: "extend", certificateids: id }, signal),
  );
export const engineGroupQuery = (id: string) =>
  one("engine group", id, ({ signal }) =>
    rpc(
      "enginegroup.get",
      { output: "extend", selectVirtualServices: "count", enginegroupids: id },
      signal,
    ),
  );

interface Extended {
  output: "extend";
}

export type Service = RowOf<"virtualservice.get", Extended & { selectCertificates: "extend" }>;
export type Pool = RowOf<
  "pool.get",
  Extended & { selectServers: "extend"; selectFurtherMonitors: "extend" }
>;
export type PoolGroup = RowOf<"poolgroup.get", Extended & { selectMembers: "extend" }>;
export type Monitor = RowOf<"healthmonitor.get", Extended>;
export type Vip = RowOf<"vip.get", Extended>;
export type Certificate = RowOf<"certificate.get", Extended>;
export type EngineGroup = RowOf<"enginegroup.get", Extended & { selectVirtualServices: "count" }>;

/** Creates a virtual service, or changes the one given; so do the others. */
export const saveService = (id: string | null, members: Members<"virtualservice">) =>
  id
    ? rpc("virtualservice.update", { virtualserviceid: id, ...members })
    : rpc("virtualservice.create", members);
export const savePool = (id: string | null, members: Members<"pool">) =>
  id ? rpc("pool.update", { poolid: id, ...members }) : rpc("pool.create", members);
export const savePoolGroup = (id: string | null, members: Members<"poolgroup">) =>
  id ? rpc("poolgroup.update", { poolgroupid: id, ...members }) : rpc("poolgroup.create", members);
export const saveMonitor = (id: string | null, members: Members<"healthmonitor">) =>
  id
    ? rpc("healthmonitor.update", { healthmonitorid: id, ...members })
    : rpc("healthmonitor.create", members);
export const saveVip = (id: string | null, members: Members<"vip">) =>
  id ? rpc("vip.update", { vipid: id, ...members }) : rpc("vip.create", members);
export const saveCertificate = (id: string | null, members: Members<"certificate">) =>
  id
    ? rpc("certificate.update", { certificateid: id, ...members })
    : rpc("certificate.create", members);
/** Orders certificates now. */
export const renewCertificates = (ids: string[]) => rpc("certificate.renew", ids);
export const saveEngineGroup = (id: string | null, members: Members<"enginegroup">) =>
  id
    ? rpc("enginegroup.update", { enginegroupid: id, ...members })
    : rpc("enginegroup.create", members);

/** The change that enables or disables services. */
export const servicesSwitched = (ids: string[], on: boolean) => {
  const status: "0" | "1" = on ? "0" : "1";
  return ids.map((virtualserviceid) => ({ virtualserviceid, status }));
};
export const enableServices = (ids: string[], on: boolean) =>
  rpc("virtualservice.update", servicesSwitched(ids, on));
export const deleteServices = (ids: string[]) => rpc("virtualservice.delete", ids);
export const deletePools = (ids: string[]) => rpc("pool.delete", ids);
export const deletePoolGroups = (ids: string[]) => rpc("poolgroup.delete", ids);
export const deleteMonitors = (ids: string[]) => rpc("healthmonitor.delete", ids);
export const deleteVips = (ids: string[]) => rpc("vip.delete", ids);
export const deleteCertificates = (ids: string[]) => rpc("certificate.delete", ids);
export const deleteEngineGroups = (ids: string[]) => rpc("enginegroup.delete", ids);

/** Whether the user may change what the load balancer does; admins may read it. */
export const mayBalance = (): boolean => session()?.type === 3;
