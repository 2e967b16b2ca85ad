import type { Members } from "~/api/methods";
import type { ProxyGroupRow, ProxyRow } from "~/api/proxies";
import { oneOf } from "~/util/one-of";

/** Timeouts by item type, with the field's default. */
export const TIMEOUTS = [
  ["timeout_zabbix_agent", "Zabbix agent", "3s"],
  ["timeout_simple_check", "Simple check", "3s"],
  ["timeout_snmp_agent", "SNMP agent", "3s"],
  ["timeout_external_check", "External check", "3s"],
  ["timeout_db_monitor", "Database monitor", "3s"],
  ["timeout_http_agent", "HTTP agent", "3s"],
  ["timeout_ssh_agent", "SSH agent", "3s"],
  ["timeout_telnet_agent", "TELNET agent", "3s"],
  ["timeout_script", "Script", "3s"],
  ["timeout_browser", "Browser", "60s"],
] as const;
type Timeout = (typeof TIMEOUTS)[number][0];

const ACTIVE = "0";
const PSK = 2;
const CERTIFICATE = 4;

/** A proxy as the dialog holds it. TLS bits: 1 unencrypted, 2 pre-shared key, 4 certificate. */
export interface ProxyDraft {
  name: string;
  groupid: string;
  localAddress: string;
  localPort: string;
  mode: string;
  allowedAddresses: string;
  address: string;
  port: string;
  description: string;
  tlsConnect: string;
  tlsAccept: number;
  pskIdentity: string;
  psk: string;
  issuer: string;
  subject: string;
  ownTimeouts: boolean;
  timeouts: Record<Timeout, string>;
}

export function proxyDraft(proxy: ProxyRow | null): ProxyDraft {
  return {
    name: proxy?.name ?? "",
    groupid: proxy?.proxy_groupid ?? "0",
    localAddress: proxy?.local_address ?? "",
    localPort: proxy?.local_port ?? "10051",
    mode: proxy?.operating_mode ?? ACTIVE,
    allowedAddresses: proxy?.allowed_addresses ?? "",
    address: proxy?.address ?? "127.0.0.1",
    port: proxy?.port ?? "10051",
    description: proxy?.description ?? "",
    tlsConnect: proxy?.tls_connect ?? "1",
    tlsAccept: Number(proxy?.tls_accept ?? 1),
    pskIdentity: "",
    psk: "",
    issuer: proxy?.tls_issuer ?? "",
    subject: proxy?.tls_subject ?? "",
    ownTimeouts: proxy?.custom_timeouts === "1",
    timeouts: Object.fromEntries(
      TIMEOUTS.map(([name, , usual]) => [name, proxy?.[name] || usual]),
    ) as Record<Timeout, string>,
  };
}

export const isActive = (draft: ProxyDraft) => draft.mode === ACTIVE;
const kinds = (draft: ProxyDraft) => (isActive(draft) ? draft.tlsAccept : Number(draft.tlsConnect));
export const usesPsk = (draft: ProxyDraft) => (kinds(draft) & PSK) !== 0;
export const usesCertificate = (draft: ProxyDraft) => (kinds(draft) & CERTIFICATE) !== 0;

/** Why the proxy cannot be saved yet; the server has the last word on the rest. */
export function proxyProblem(draft: ProxyDraft, before: ProxyRow | null): string | undefined {
  if (!draft.name.trim()) return "Enter a name.";
  if (draft.groupid !== "0" && !draft.localAddress.trim())
    return "Enter the address for active agents.";
  if (!isActive(draft) && !draft.address.trim()) return "Enter the address of the proxy.";
  const hadPsk = before !== null && usesPsk(proxyDraft(before));
  if (usesPsk(draft) && !hadPsk && (!draft.pskIdentity || !draft.psk))
    return "Enter a PSK identity and a key.";
  return undefined;
}

/** A draft without problems, as `proxy.create` and `proxy.update` take it. */
export function proxyParams(draft: ProxyDraft): Members<"proxy"> {
  const inGroup = draft.groupid !== "0" && {
    local_address: draft.localAddress.trim(),
    local_port: draft.localPort.trim(),
  };
  const ofMode = isActive(draft)
    ? { allowed_addresses: draft.allowedAddresses.trim(), tls_accept: String(draft.tlsAccept) }
    : {
        address: draft.address.trim(),
        port: draft.port.trim(),
        tls_connect: oneOf(draft.tlsConnect, ["1", "2", "4"]),
      };
  return {
    name: draft.name.trim(),
    proxy_groupid: draft.groupid,
    ...inGroup,
    operating_mode: oneOf(draft.mode, ["0", "1"]),
    ...ofMode,
    description: draft.description,
    ...(usesPsk(draft) && draft.pskIdentity && { tls_psk_identity: draft.pskIdentity }),
    ...(usesPsk(draft) && draft.psk && { tls_psk: draft.psk }),
    ...(usesCertificate(draft) && { tls_issuer: draft.issuer, tls_subject: draft.subject }),
    custom_timeouts: draft.ownTimeouts ? "1" : "0",
    ...(draft.ownTimeouts && draft.timeouts),
  };
}

/** A proxy group as the dialog holds it. */
export const groupDraft = (group: ProxyGroupRow | null) => ({
  name: group?.name ?? "",
  failover_delay: group?.failover_delay ?? "1m",
  min_online: group?.min_online ?? "1",
  description: group?.description ?? "",
});
