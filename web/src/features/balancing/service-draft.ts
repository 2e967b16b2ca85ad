import type { Service } from "~/api/balancing";
import type { Members } from "~/api/methods";
import { Status } from "~/api/schema";
import {
  type AuthenticationDraft,
  authenticationDraft,
  authenticationJson,
  authenticationProblems,
  policyNames,
} from "./requests/authentication-draft";
import { type CacheDraft, cacheDraft, cacheJson, cacheProblems } from "./requests/cache-draft";
import {
  type CompressionDraft,
  compressionDraft,
  compressionJson,
  compressionProblems,
} from "./requests/compression-draft";
import {
  type ForwardedDraft,
  forwardedDraft,
  forwardedJson,
  forwardedProblems,
} from "./requests/forwarded-draft";
import { type MirrorDraft, mirrorDraft, mirrorJson, mirrorProblems } from "./requests/mirror-draft";
import { type RateDraft, rateDraft, rateJson, rateProblems } from "./requests/rate-draft";
import { type RulesDraft, ruleProblems, rulesDraft, rulesJson } from "./rules/draft";
import { texts as ruleTexts } from "./rules/texts";
import { target } from "./targets";

/** Times of a service with their defaults, in the order in which they matter. */
export const TIMEOUTS = [
  ["client_header", "Request head", "10s"],
  ["client_body", "Request body", "30s"],
  ["connect", "Connect to server", "5s"],
  ["queue", "Wait for a server", "5s"],
  ["server", "Response", "60s"],
  ["keepalive", "Idle connection", "60s"],
  ["tunnel", "TCP and WebSocket", "1h"],
] as const;

export const UDP_TIMEOUTS = [["session", "Idle session", "30s"]] as const;

/** Limits of a service with their defaults. */
export const LIMITS = [
  ["connections", "Connections", "100000"],
  ["body", "Body in bytes, 0: unlimited", "0"],
  ["uri", "URI in bytes", "8192"],
  ["headers", "Headers", "128"],
  ["header_bytes", "Headers in bytes", "16384"],
  ["h2_streams", "Streams of a connection", "100"],
] as const;

export const UDP_LIMITS = [
  ["sessions", "Sessions", "20000"],
  ["client_sessions", "Sessions of a client", "1000"],
  ["responses", "Responses to a datagram, 0: any", "0"],
] as const;

type Texts = Record<string, string>;

/** A virtual service as the form holds it. Members have the names of the API; an empty text: its default. */
export interface ServiceDraft {
  name: string;
  description: string;
  on: boolean;
  type: string;
  enginegroupid: string;
  vipid: string;
  port: string;
  /** "" or "0": none is chosen. */
  poolid: string;
  poolgroupid: string;
  accept_proxy: boolean;
  certificates: string[];
  tls: Service["tls"];
  timeouts: Texts;
  limits: Texts;
  rate_limit: RateDraft;
  authentication: AuthenticationDraft;
  compression: CompressionDraft;
  cache: CacheDraft;
  mirror: MirrorDraft;
  forwarded: ForwardedDraft;
  rules: RulesDraft;
  /** A network in each line. */
  allow: string;
  deny: string;
}

const texts = (values: Record<string, string | number>): Texts =>
  Object.fromEntries(Object.entries(values).map(([name, value]) => [name, String(value)]));

export function serviceDraft(service: Service | null): ServiceDraft {
  return {
    name: service?.name ?? "",
    description: service?.description ?? "",
    on: service?.status !== Status.Disabled,
    type: service?.type ?? "http",
    enginegroupid: service?.enginegroupid ?? "",
    vipid: service?.vipid ?? "",
    port: service?.port ?? "",
    poolid: service?.poolid ?? "",
    poolgroupid: service?.poolgroupid ?? "0",
    accept_proxy: service?.accept_proxy === "1",
    certificates: service?.certificates.map((one) => one.certificateid) ?? [],
    tls: service?.tls ?? {},
    timeouts: texts(service?.timeouts ?? {}),
    limits: texts(service?.limits ?? {}),
    rate_limit: rateDraft(service?.rate_limit ?? {}),
    authentication: authenticationDraft(service?.authentication ?? {}),
    compression: compressionDraft(service?.compression ?? {}),
    cache: cacheDraft(service?.cache ?? {}),
    mirror: mirrorDraft(service?.mirror ?? {}),
    forwarded: forwardedDraft(service?.forwarded ?? {}),
    rules: rulesDraft(service?.rules ?? []),
    allow: service?.allow.join("\n") ?? "",
    deny: service?.deny.join("\n") ?? "",
  };
}

/** Why a text is no JSON of this shape; an empty one is the default. */
export function jsonProblem(text: string, shape: "list" | "object"): string | undefined {
  if (!text.trim()) return undefined;
  try {
    const value: unknown = JSON.parse(text);
    const fits = Array.isArray(value)
      ? shape === "list"
      : shape === "object" && typeof value === "object" && value !== null;
    if (fits) return undefined;
    return shape === "list" ? "Enter a list: [{…}, {…}]." : "Enter an object: {…}.";
  } catch (error) {
    return `This is not valid JSON: ${error instanceof Error ? error.message : error}`;
  }
}

/** The first thing that is wrong with rules, with the number of its rule. */
function rulesProblem({ rules: { list, json }, authentication }: ServiceDraft): string | undefined {
  if (json !== null) return jsonProblem(json, "list");
  for (const [at, rule] of list.entries()) {
    const [problem] = Object.values(ruleProblems(rule, policyNames(authentication)));
    if (problem) return ruleTexts.atRule(at + 1, problem);
  }
  return undefined;
}

const isPort = (text: string) =>
  /^\d{1,5}$/.test(text) && Number(text) >= 1 && Number(text) <= 65_535;
export const portProblem = (text: string) =>
  isPort(text.trim()) ? undefined : "Enter a port from 1 to 65535.";

/** The first thing that is wrong with a part that has a form of its own. */
function partProblem<D extends { json: string | null }>(
  part: D,
  problems: (part: D) => Record<string, string>,
): string | undefined {
  if (part.json !== null) return jsonProblem(part.json, "object");
  return Object.values(problems(part))[0];
}

/** What is wrong with a draft, by member; the server has the last word on the rest. */
export function serviceProblems(draft: ServiceDraft): Record<string, string> {
  const wrong: Record<string, string | undefined> = {
    name: draft.name.trim() ? undefined : "Enter a name.",
    enginegroupid: draft.enginegroupid ? undefined : "Choose an engine group.",
    vipid: draft.vipid ? undefined : "Choose a VIP.",
    port: portProblem(draft.port),
    poolid: target(draft) ? undefined : "Choose a pool or a pool group.",
    limits: Object.values(draft.limits).every((text) => /^\d*$/.test(text.trim()))
      ? undefined
      : "Limits are whole numbers.",
    ...(draft.type === "http" && {
      rules: rulesProblem(draft),
      rate_limit: partProblem(draft.rate_limit, rateProblems),
      authentication: partProblem(draft.authentication, authenticationProblems),
      compression: partProblem(draft.compression, compressionProblems),
      cache: partProblem(draft.cache, cacheProblems),
      mirror: partProblem(draft.mirror, mirrorProblems),
      forwarded: partProblem(draft.forwarded, forwardedProblems),
    }),
  };
  return present(wrong);
}

/** The entries that have a value. */
export function present(values: Record<string, string | undefined>): Record<string, string> {
  return Object.fromEntries(
    Object.entries(values).filter((entry): entry is [string, string] => Boolean(entry[1])),
  );
}

const trimmed = (values: Texts) =>
  present(Object.fromEntries(Object.entries(values).map(([name, text]) => [name, text.trim()])));
const lines = (text: string) => text.split(/[\s,]+/).filter(Boolean);

/** TLS settings without those that have their default, or that count only for client certificates. */
function tlsOf(tls: ServiceDraft["tls"]): ServiceDraft["tls"] {
  const asks = tls.client_auth !== undefined && tls.client_auth !== "none";
  return Object.fromEntries(
    Object.entries(tls).filter(
      ([name, value]) =>
        (asks || name !== "client_crl") &&
        !(name === "expired_crl" && value === "refuse") &&
        value !== "" &&
        value !== false &&
        !(Array.isArray(value) && value.length === 0) &&
        !(name === "client_auth" && value === "none"),
    ),
  );
}

/** What only requests have, left out. */
const NO_REQUESTS = {
  rate_limit: rateDraft({}),
  authentication: authenticationDraft({}),
  compression: compressionDraft({}),
  cache: cacheDraft({}),
  mirror: mirrorDraft({}),
  forwarded: forwardedDraft({}),
  rules: rulesDraft([]),
};

/** What only connections and requests have, left out. */
const DATAGRAMS = { ...NO_REQUESTS, accept_proxy: false, certificates: [], tls: {} };

/** A draft without problems, as `virtualservice.create` and `virtualservice.update` take it. */
export function serviceParams(edited: ServiceDraft): Members<"virtualservice"> {
  const missing = { tcp: NO_REQUESTS, udp: DATAGRAMS }[edited.type];
  const draft = { ...edited, ...missing };
  const limits = Object.entries(trimmed(draft.limits));
  return {
    name: draft.name.trim(),
    description: draft.description,
    status: draft.on ? 0 : 1,
    type: draft.type,
    enginegroupid: draft.enginegroupid,
    vipid: draft.vipid,
    port: draft.port.trim(),
    poolid: draft.poolid || "0",
    poolgroupid: draft.poolgroupid,
    accept_proxy: draft.accept_proxy ? 1 : 0,
    certificates: draft.certificates.map((certificateid) => ({ certificateid })),
    tls: tlsOf(draft.tls),
    timeouts: trimmed(draft.timeouts),
    limits: Object.fromEntries(limits.map(([name, text]) => [name, Number(text)])),
    rate_limit: rateJson(draft.rate_limit),
    authentication: authenticationJson(draft.authentication),
    compression: compressionJson(draft.compression),
    cache: cacheJson(draft.cache),
    mirror: mirrorJson(draft.mirror),
    forwarded: forwardedJson(draft.forwarded),
    rules: rulesJson(draft.rules),
    allow: lines(draft.allow),
    deny: lines(draft.deny),
  };
}
