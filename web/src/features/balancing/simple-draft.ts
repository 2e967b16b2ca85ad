import type { Certificate, Monitor, Vip } from "~/api/balancing";
import type { Members } from "~/api/methods";

/** The drafts of these forms are texts; `name` is in all. */
export interface Fields {
  name: string;
  description: string;
}

export const vipDraft = (row: Vip | null) => ({
  name: row?.name ?? "",
  ipv4: row?.ipv4 ?? "",
  ipv6: row?.ipv6 ?? "",
  dns_names: row?.dns_names.join(", ") ?? "",
  description: row?.description ?? "",
});

export function vipParams(draft: ReturnType<typeof vipDraft>): Members<"vip"> {
  return {
    ...draft,
    ipv4: draft.ipv4.trim(),
    ipv6: draft.ipv6.trim(),
    dns_names: draft.dns_names.split(/[\s,]+/).filter(Boolean),
  };
}

const tagText = ({ tag, value }: { tag: string; value?: string }) =>
  value ? `${tag}=${value}` : tag;

/** Name and value at both sides of the first "=". */
function pair(text: string): [string, string] {
  const at = text.indexOf("=");
  return at < 0 ? [text.trim(), ""] : [text.slice(0, at).trim(), text.slice(at + 1).trim()];
}

export const monitorDraft = (row: Monitor | null) => ({
  name: row?.name ?? "",
  type: row?.type ?? "http",
  path: row?.path ?? "/",
  status: row?.status ?? "200",
  body: row?.body ?? "",
  send: row?.udp.send ?? "",
  silence: row?.udp.send !== undefined && row.udp.expect === undefined ? "passes" : "fails",
  expect: row?.udp.expect ?? "",
  query_name: row?.dns.name ?? "",
  query_type: row?.dns.type ?? "A",
  rcodes: row?.dns.rcodes?.join(", ") ?? "NOERROR",
  program: row?.script.program ?? "",
  parameters: Object.entries(row?.script.parameters ?? {})
    .map(([name, value]) => `${name}=${value}`)
    .join("\n"),
  trigger_name: row?.trigger_filter.name ?? "",
  trigger_tags: row?.trigger_filter.tags?.map(tagText).join(", ") ?? "",
  min_severity: String(row?.trigger_filter.min_severity ?? 0),
  effect: row?.trigger_filter.effect ?? "down",
  interval: row?.interval ?? "5s",
  timeout: row?.timeout ?? "2s",
  up: row?.up ?? "2",
  down: row?.down ?? "3",
  description: row?.description ?? "",
});

/** Monitors keep nothing of what those of other types need. */
export function monitorParams(draft: ReturnType<typeof monitorDraft>): Members<"healthmonitor"> {
  const { send, silence, expect, query_name, query_type, rcodes, ...others } = draft;
  const { program, parameters, trigger_name, trigger_tags, min_severity, effect, ...rest } = others;
  const lines = parameters.split("\n").filter((line) => line.trim() !== "");
  const script = {
    program: program.trim(),
    parameters: lines.length ? Object.fromEntries(lines.map(pair)) : undefined,
  };
  const tags = trigger_tags.split(",").filter((text) => text.trim() !== "");
  const trigger_filter = {
    name: trigger_name.trim(),
    tags: tags.map(pair).map(([tag, value]) => ({ tag, value })),
    min_severity: Number(min_severity),
    effect,
  };
  const request = draft.type === "http" ? {} : { path: "/", status: "200", body: "" };
  const udp = silence === "passes" ? { send } : { send, expect };
  const dns = {
    name: query_name.trim(),
    type: query_type,
    rcodes: rcodes
      .toUpperCase()
      .split(/[\s,]+/)
      .filter(Boolean),
  };
  return {
    ...rest,
    ...request,
    udp: draft.type === "udp" ? udp : {},
    dns: draft.type === "dns" ? dns : {},
    script: draft.type === "script" ? script : {},
    trigger_filter: draft.type === "trigger" ? trigger_filter : {},
  };
}

const words = (text: string) => text.split(/[\s,]+/).filter(Boolean);

export const certificateDraft = (row: Certificate | null) => ({
  name: row?.name ?? "",
  source: row?.acme.domains ? "ordered" : "given",
  domains: row?.acme.domains?.join(", ") ?? "",
  challenge: row?.acme.challenge ?? "http-01",
  directory: row?.acme.directory ?? "",
  ca: row?.acme.ca ?? "",
  contact: row?.acme.contact?.join(", ") ?? "",
  terms: row?.acme.terms_agreed ? "agreed" : "",
  certificate: row?.certificate ?? "",
  /** The server never shows it; empty: it stays. */
  private_key: "",
  description: row?.description ?? "",
});

export function certificateParams(
  draft: ReturnType<typeof certificateDraft>,
): Members<"certificate"> {
  const { name, description, certificate, private_key } = draft;
  if (draft.source === "ordered") {
    const ca = draft.ca.trim() ? { ca: draft.ca } : {};
    const directory = draft.directory.trim();
    const acme = {
      domains: words(draft.domains),
      challenge: draft.challenge,
      contact: words(draft.contact),
      terms_agreed: draft.terms === "agreed",
      ...(directory ? { directory } : {}),
      ...ca,
    };
    return { name, description, acme };
  }
  const key = private_key.trim() ? { private_key } : {};
  return { name, description, acme: {}, certificate, ...key };
}
