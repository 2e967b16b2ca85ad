import type { Pool, PoolServer } from "~/api/balancing";
import type { Members } from "~/api/methods";
import { portProblem, present } from "./service-draft";

/** A pool as the form holds it. Members have the names of the API. */
export interface PoolDraft {
  name: string;
  description: string;
  algorithm: string;
  hash_key: string;
  /** Ids of health monitors. */
  monitors: string[];
  /** "": a server must pass all. */
  min_monitors: string;
  host_maintenance: string;
  /** `type` "": none. */
  persistence: { type: string; name: string };
  /** Empty texts: their defaults. */
  retries: { count: string; budget_percent: string; on: string[] };
  eject: { failures: string; for: string };
  /** "": servers that come back have their whole share at once. */
  slow_start: string;
  send_proxy: string;
  /** Both empty: servers are reached without TLS. */
  tls: { ca: string; sni: string; crl: string; expired_crl: string };
  servers: PoolServer[];
}

export const RETRIED = [
  ["connect", "Connection failed"],
  ["closed", "Connection closed"],
  ["timeout", "Timeout"],
] as const;

const numeral = (value: number | undefined) => (value === undefined ? "" : String(value));

/** A server at the end of a list; it has the port of the one before it. */
export function newServer(servers: readonly PoolServer[]): PoolServer {
  const names = new Set(servers.map((server) => server.name));
  let number = servers.length + 1;
  while (names.has(`server${number}`)) number++;
  return {
    name: `server${number}`,
    address: "",
    port: servers.at(-1)?.port ?? "80",
    weight: "1",
    max_connections: "0",
    backup: "0",
    state: "up",
    hostid: "0",
  };
}

/** Ids of all health monitors of a pool, in their order. */
export const monitorsOf = (pool: Pick<Pool, "healthmonitorid" | "further_monitors">): string[] =>
  [pool.healthmonitorid, ...pool.further_monitors.map((one) => one.healthmonitorid)].filter(
    (id) => id !== "0",
  );

export function poolDraft(pool: Pool | null): PoolDraft {
  return {
    name: pool?.name ?? "",
    description: pool?.description ?? "",
    algorithm: pool?.algorithm ?? "round_robin",
    hash_key: pool?.hash_key ?? "",
    monitors: pool ? monitorsOf(pool) : [],
    min_monitors: pool && pool.min_monitors !== "0" ? pool.min_monitors : "",
    host_maintenance: pool?.host_maintenance ?? "ignore",
    persistence: { type: pool?.persistence.type ?? "", name: pool?.persistence.name ?? "" },
    retries: {
      count: numeral(pool?.retries.count),
      budget_percent: numeral(pool?.retries.budget_percent),
      on: pool?.retries.on ?? ["connect"],
    },
    eject: { failures: numeral(pool?.eject.failures), for: pool?.eject.for ?? "" },
    slow_start: pool?.slow_start ?? "",
    send_proxy: pool?.send_proxy ?? "",
    tls: {
      ca: pool?.tls.ca ?? "",
      sni: pool?.tls.sni ?? "",
      crl: pool?.tls.crl ?? "",
      expired_crl: pool?.tls.expired_crl ?? "refuse",
    },
    servers: pool?.servers ?? [newServer([])],
  };
}

const isNumber = (text: string, most: number) =>
  /^\d{0,6}$/.test(text.trim()) && Number(text) <= most;

function serverProblem(server: PoolServer, servers: readonly PoolServer[]): string | undefined {
  if (!server.name.trim()) return "Enter a name.";
  if (servers.filter((other) => other.name.trim() === server.name.trim()).length > 1) {
    return `Two servers have the name ${server.name.trim()}.`;
  }
  if (!server.address.trim()) return `Enter the address of ${server.name.trim()}.`;
  const port = portProblem(server.port);
  if (port) return port;
  if (!server.weight.trim() || !isNumber(server.weight, 65_535)) {
    return "Enter a weight from 0 to 65535.";
  }
  if (!isNumber(server.max_connections, 65_535)) return "Enter a limit from 0 to 65535.";
  return undefined;
}

/** What is wrong with a draft, by member; the server has the last word on the rest. */
export function poolProblems(draft: PoolDraft): Record<string, string> {
  const servers = draft.servers.map((server) => serverProblem(server, draft.servers));
  return present({
    name: draft.name.trim() ? undefined : "Enter a name.",
    hash_key:
      draft.algorithm !== "header_hash" || draft.hash_key.trim()
        ? undefined
        : "Enter the name of a header.",
    servers: draft.servers.length ? servers.find(Boolean) : "Add at least one server.",
    min_monitors: isNumber(draft.min_monitors, 16) ? undefined : "Enter a number up to 16.",
    retries:
      isNumber(draft.retries.count, 255) && isNumber(draft.retries.budget_percent, 255)
        ? undefined
        : "Retries are whole numbers.",
    eject: isNumber(draft.eject.failures, 65_535) ? undefined : "Failures are a whole number.",
  });
}

/** Nothing for servers whose revocation lists are not checked. */
const revocation = ({ crl, expired_crl }: PoolDraft["tls"]) =>
  crl.trim() ? { crl, expired_crl } : {};

/** A draft without problems, as `pool.create` and `pool.update` take it. */
export function poolParams(draft: PoolDraft): Members<"pool"> {
  const { persistence, retries, eject, tls } = draft;
  const [first = "0", ...further] = draft.monitors;
  const number = (text: string) => (text.trim() ? Number(text) : undefined);
  const secure = tls.ca.trim() !== "" || tls.sni.trim() !== "";
  return {
    name: draft.name.trim(),
    description: draft.description,
    algorithm: draft.algorithm,
    hash_key: draft.algorithm === "header_hash" ? draft.hash_key.trim() : "",
    healthmonitorid: first,
    further_monitors: further.map((healthmonitorid) => ({ healthmonitorid })),
    min_monitors: draft.min_monitors.trim() || "0",
    host_maintenance: draft.host_maintenance,
    persistence: persistence.type
      ? {
          type: persistence.type,
          name: persistence.type === "source_ip" ? undefined : persistence.name.trim() || undefined,
        }
      : {},
    retries: {
      count: number(retries.count),
      budget_percent: number(retries.budget_percent),
      on: retries.on,
    },
    eject: { failures: number(eject.failures), for: eject.for.trim() || undefined },
    slow_start: draft.slow_start.trim(),
    send_proxy: draft.send_proxy,
    tls: secure ? { ca: tls.ca, sni: tls.sni.trim(), ...revocation(tls) } : {},
    servers: draft.servers.map((server) => ({
      ...server,
      name: server.name.trim(),
      address: server.address.trim(),
      port: server.port.trim(),
      max_connections: server.max_connections.trim() || "0",
    })),
  };
}
