import { rpc } from "./client";
import type { Members } from "./methods";

/** Creates a host, or changes the one given. */
export function saveHost(
  hostid: string | null,
  host: Members<"host">,
): Promise<{ hostids: string[] }> {
  return hostid ? rpc("host.update", { hostid, ...host }) : rpc("host.create", host);
}

export function deleteHost(hostid: string): Promise<unknown> {
  return rpc("host.delete", [hostid]);
}

export function setHostStatus(hostid: string, status: "0" | "1"): Promise<unknown> {
  return rpc("host.update", { hostid, status });
}

/** Links templates to hosts, keeping what the hosts have. */
export function linkTemplates(hostids: string[], templateids: string[]): Promise<unknown> {
  return rpc("host.massadd", {
    hosts: hostids.map((hostid) => ({ hostid })),
    templates: templateids.map((templateid) => ({ templateid })),
  });
}

/** Unlinks a template; with `clear` the items and triggers that came from it go too. */
export function unlinkTemplate(
  hostid: string,
  templateid: string,
  clear: boolean,
): Promise<unknown> {
  const key = clear ? "templateids_clear" : "templateids";
  return rpc("host.massremove", { hostids: [hostid], [key]: [templateid] });
}
