import type { Certificate, EngineGroup, PoolServer, Vip } from "~/api/balancing";
import { InterfaceType } from "~/api/schema";
import type { HostInterface } from "~/util/interfaces";
import { newServer, poolDraft, poolProblems } from "../pool-draft";
import { portProblem, present } from "../service-draft";
import { problems as words } from "./texts";

export type Protocol = "http" | "https" | "tcp" | "tls" | "udp";

/** New objects among the choices; other values are ids of existing ones. */
export const ANY_ADDRESS = "any";
export const NEW = "new";
/** Of health monitors. */
export type Check = "http" | "tcp" | "none" | `id ${string}`;

export interface BalanceDraft {
  name: string;
  protocol: Protocol;
  /** A VIP, `ANY_ADDRESS` or `NEW`. */
  vip: string;
  address: string;
  port: string;
  /** A certificate or `NEW`. */
  certificateid: string;
  certificate: string;
  private_key: string;
  servers: PoolServer[];
  check: Check;
  path: string;
  /** An engine group or `NEW`; "": not chosen. */
  enginegroupid: string;
}

/** Every IPv4 address of a machine. */
export const UNSPECIFIED = "0.0.0.0";
const PORTS: Record<Protocol, string> = { http: "80", https: "443", tcp: "", tls: "", udp: "" };
const CHECKS: Record<Protocol, Check> = {
  http: "http",
  https: "http",
  tcp: "tcp",
  tls: "tcp",
  udp: "none",
};

export const hasTls = (protocol: Protocol) => protocol === "https" || protocol === "tls";
export const isHttp = (protocol: Protocol) => protocol === "http" || protocol === "https";

/** What there is to choose from. */
interface Existing {
  groups: readonly Pick<EngineGroup, "enginegroupid">[];
  vips: readonly Pick<Vip, "vipid" | "ipv4">[];
  certificates: readonly Pick<Certificate, "certificateid">[];
}

/** The draft with which the page begins; most choices are made where there is one. */
export function balanceDraft({ groups, vips, certificates }: Existing): BalanceDraft {
  const any = vips.find((vip) => vip.ipv4 === UNSPECIFIED);
  const [only, ...others] = groups;
  const [certificate, ...more] = certificates;
  return {
    name: "",
    protocol: "http",
    vip: any?.vipid ?? ANY_ADDRESS,
    address: "",
    port: PORTS.http,
    certificateid: certificate && more.length === 0 ? certificate.certificateid : NEW,
    certificate: "",
    private_key: "",
    servers: [newServer([])],
    check: "http",
    path: "/",
    enginegroupid: only ? (others.length ? "" : only.enginegroupid) : NEW,
  };
}

/** Another protocol: its usual port and check, unless the user has chosen others. */
export function withProtocol(draft: BalanceDraft, protocol: Protocol): Partial<BalanceDraft> {
  const port = draft.port === PORTS[draft.protocol] ? PORTS[protocol] : draft.port;
  const isNew = draft.check === "http" || draft.check === "tcp";
  // No new monitor fits UDP.
  const usual = draft.check === CHECKS[draft.protocol] || (protocol === "udp" && isNew);
  return { protocol, port, check: usual ? CHECKS[protocol] : draft.check };
}

/** `10.0.0.1:8000` or `[2001:db8::1]:8000` in the box of an address: both parts. */
export function splitAddress(text: string): Partial<PoolServer> {
  const found = /^\s*(?:\[([\da-fA-F:.]+)\]|([\d.]+)):(\d{1,5})\s*$/.exec(text);
  if (!found) return { address: text };
  const [, six, four, port = ""] = found;
  return { address: six ?? four ?? "", port };
}

interface HostWithInterfaces {
  hostid: string;
  name: string;
  interfaces: readonly HostInterface[];
}

/** The address of a host: that of its default interface, of an agent if it has one. */
function hostAddress({ interfaces }: HostWithInterfaces): string {
  const known = interfaces.filter((one) => one.ip !== "");
  const first =
    known.find((one) => one.main === "1" && one.type === InterfaceType.Agent) ??
    known.find((one) => one.main === "1") ??
    known[0];
  return first?.ip ?? "";
}

/** Servers with these hosts, which keep the port of the others; and the hosts without an address. */
export function addHosts(servers: readonly PoolServer[], hosts: readonly HostWithInterfaces[]) {
  let next = [...servers];
  const without: string[] = [];
  for (const host of hosts) {
    const address = hostAddress(host);
    if (!address) {
      without.push(host.name);
      continue;
    }
    const names = new Set(next.map((one) => one.name));
    const made = newServer(next);
    const name = names.has(host.name) ? made.name : host.name;
    const server = { ...made, name, address, hostid: host.hostid };
    // The empty row that the page begins with.
    next = [...next.filter((one) => one.address.trim() !== ""), server];
  }
  return { servers: next, without };
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function balanceProblems(draft: BalanceDraft): Record<string, string> {
  const newCertificate = hasTls(draft.protocol) && draft.certificateid === NEW;
  return present({
    name: draft.name.trim() ? undefined : words.name,
    address: draft.vip === NEW && !draft.address.trim() ? words.address : undefined,
    port: portProblem(draft.port),
    certificate:
      newCertificate && !draft.certificate.includes("-----BEGIN ") ? words.certificate : undefined,
    private_key:
      newCertificate && !draft.private_key.includes("-----BEGIN ") ? words.key : undefined,
    servers: poolProblems({ ...poolDraft(null), servers: draft.servers }).servers,
    path: draft.check === "http" && !draft.path.trim().startsWith("/") ? words.path : undefined,
    enginegroupid: draft.enginegroupid ? undefined : words.group,
  });
}
