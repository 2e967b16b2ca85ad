import type { Host, Macro } from "~/api/hosts";
import type { Members } from "~/api/methods";
import { InterfaceType, Origin, Status } from "~/api/schema";
import { type HostInterface, interfaceParams } from "~/util/interfaces";
import { macroParams, macrosProblem } from "~/util/macros";
import { oneOf } from "~/util/one-of";
import { type OwnerDraft, ownerDraft, ownerParams, unlinkedTemplates } from "~/util/owner-draft";

/** A host as the form holds it. TLS bits: 1 unencrypted, 2 pre-shared key, 4 certificate. */
export interface HostDraft extends OwnerDraft {
  description: string;
  monitored: boolean;
  interfaces: HostInterface[];
  macros: Macro[];
  tlsConnect: string;
  tlsAccept: number;
  pskIdentity: string;
  psk: string;
  tlsIssuer: string;
  tlsSubject: string;
  ipmiAuthtype: string;
  ipmiPrivilege: string;
  ipmiUsername: string;
  ipmiPassword: string;
  /** What collects its values: 0 the server, 1 a proxy, 2 a proxy group. */
  monitoredBy: string;
  proxyid: string;
  proxyGroupid: string;
}

/** A proxy or a proxy group collects its values. */
export function isOfProxy(host: Host): boolean {
  return host.monitored_by === "1" || host.monitored_by === "2";
}

/** Discovery made the host: what is not people's follows its prototype. */
export function isDiscovered(host: Host | null): boolean {
  return host?.flags === Origin.Discovered;
}

export function draftOf(host: Host | null, firstInterface: HostInterface): HostDraft {
  return {
    ...ownerDraft(host, host?.hostgroups, host?.parentTemplates),
    description: host?.description ?? "",
    monitored: host?.status !== Status.Disabled,
    interfaces: host?.interfaces ?? [firstInterface],
    macros: host?.macros ?? [],
    tlsConnect: host?.tls_connect ?? "1",
    tlsAccept: Number(host?.tls_accept ?? 1),
    pskIdentity: "",
    psk: "",
    tlsIssuer: host?.tls_issuer ?? "",
    tlsSubject: host?.tls_subject ?? "",
    ipmiAuthtype: host?.ipmi_authtype ?? "-1",
    ipmiPrivilege: host?.ipmi_privilege ?? "2",
    ipmiUsername: host?.ipmi_username ?? "",
    ipmiPassword: host?.ipmi_password ?? "",
    monitoredBy: host?.monitored_by ?? "0",
    proxyid: host?.proxyid ?? "0",
    proxyGroupid: host?.proxy_groupid ?? "0",
  };
}

export function usesPsk(draft: HostDraft): boolean {
  return draft.tlsConnect === "2" || (draft.tlsAccept & 2) !== 0;
}

export function usesCertificate(draft: HostDraft): boolean {
  return draft.tlsConnect === "4" || (draft.tlsAccept & 4) !== 0;
}

export function usesIpmi(draft: HostDraft): boolean {
  return draft.interfaces.some((iface) => iface.type === InterfaceType.Ipmi);
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function problemsOf(draft: HostDraft, isNew: boolean): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.host.trim()) problems.host = "Enter a host name.";
  else if (!/^[\w .-]+$/.test(draft.host)) {
    problems.host =
      "Use only letters, digits, spaces, dots, dashes and underscores. The visible name has no such limit.";
  }
  if (draft.groupids.length === 0) problems.groups = "Choose at least one group.";
  if (usesPsk(draft) && isNew && (!draft.pskIdentity || !draft.psk)) {
    problems.psk = "Enter a PSK identity and a key.";
  }
  if (draft.monitoredBy === "1" && draft.proxyid === "0") problems.proxy = "Choose a proxy.";
  if (draft.monitoredBy === "2" && draft.proxyGroupid === "0")
    problems.proxy = "Choose a proxy group.";
  const macro = macrosProblem(draft.macros);
  if (macro) problems.macros = macro;
  if (draft.psk && !/^([0-9a-fA-F]{2}){16,256}$/.test(draft.psk)) {
    problems.psk = "The key must have 32 to 512 hexadecimal digits.";
  }
  return problems;
}

/**
 * The draft as `host.create` and `host.update` take it. With `clear`, what unlinked templates
 * brought goes with them; without, it stays as the host's own.
 */
export function hostParams(draft: HostDraft, before: Host | null, clear: boolean): Members<"host"> {
  const { host, name, groups, ...own } = ownerParams(
    draft,
    clear ? unlinkedTemplates(draft, before) : [],
  );
  const params = {
    description: draft.description,
    status: draft.monitored ? "0" : "1",
    macros: macroParams(draft.macros),
    ...own,
  } satisfies Members<"host">;
  if (isDiscovered(before)) return params;
  return {
    ...params,
    host,
    name,
    groups,
    interfaces: draft.interfaces.map(interfaceParams),
    monitored_by: oneOf(draft.monitoredBy, ["0", "1", "2"]),
    ...(draft.monitoredBy === "1" && { proxyid: draft.proxyid }),
    ...(draft.monitoredBy === "2" && { proxy_groupid: draft.proxyGroupid }),
    tls_connect: oneOf(draft.tlsConnect, ["1", "2", "4"]),
    tls_accept: String(draft.tlsAccept),
    tls_psk_identity: usesPsk(draft) && draft.pskIdentity ? draft.pskIdentity : undefined,
    tls_psk: usesPsk(draft) && draft.psk ? draft.psk : undefined,
    tls_issuer: usesCertificate(draft) ? draft.tlsIssuer : undefined,
    tls_subject: usesCertificate(draft) ? draft.tlsSubject : undefined,
    ...(usesIpmi(draft) && {
      ipmi_authtype: draft.ipmiAuthtype,
      ipmi_privilege: draft.ipmiPrivilege,
      ipmi_username: draft.ipmiUsername,
      ipmi_password: draft.ipmiPassword,
    }),
  };
}
