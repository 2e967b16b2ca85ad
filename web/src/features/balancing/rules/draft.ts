import {
  type MirrorDraft,
  mirrorDraft,
  mirrorJson,
  mirrorProblems,
} from "../requests/mirror-draft";
import { isToken } from "../requests/values";
import { CONDITIONS, conditionKind, EDITS, REDIRECTS, type VerdictKind } from "./kinds";
import {
  isWholeScript,
  type ScriptDraft,
  scriptDraft,
  scriptJson,
  scriptProblems,
} from "./script-draft";
import { problems as words } from "./texts";

/** The name that requires no authentication. */
export const NO_POLICY = "none";

/** A condition, or a change of headers or the path. `name` is empty where a kind has only a value. */
export interface Part {
  kind: string;
  name: string;
  value: string;
}

/** What decides about a request. Members of other kinds are empty. */
export interface Verdict {
  kind: VerdictKind;
  poolid: string;
  status: string;
  location: string;
  type: string;
  body: string;
  script: ScriptDraft;
}

/** A rule as the editor holds it. */
export interface RuleDraft {
  /** Unique in the list; it survives moves. */
  key: number;
  conditions: readonly Part[];
  verdict: Verdict;
  edits: readonly Part[];
  /** Replaces the mirror of the service, if a pool is chosen. */
  mirror: MirrorDraft;
  /** A rule that the editor cannot show without loss, in the form of the API. */
  raw?: unknown;
}

/** The rules of a service. */
export interface RulesDraft {
  list: readonly RuleDraft[];
  /** Their JSON while it is edited instead of the list. */
  json: string | null;
}

const NO_VERDICT: Verdict = {
  kind: "",
  poolid: "",
  status: "",
  location: "",
  type: "",
  body: "",
  script: scriptDraft({}),
};

type Json = Record<string, unknown>;
const isObject = (value: unknown): value is Json =>
  typeof value === "object" && value !== null && !Array.isArray(value);
const objectOf = (value: unknown): Json => (isObject(value) ? value : {});
const listOf = (value: unknown): readonly unknown[] => (Array.isArray(value) ? value : []);
const text = (value: unknown) =>
  typeof value === "string" || typeof value === "number" ? String(value) : "";

function conditionsOf(given: Json): Part[] {
  const known = Object.entries(given).filter(
    ([kind, value]) => conditionKind(kind) && value !== null,
  );
  return known.map(([kind, value]) => {
    const pair = objectOf(value);
    return conditionKind(kind)?.pair
      ? { kind, name: text(pair.name), value: text(pair.value) }
      : { kind, name: "", value: text(value) };
  });
}

function verdictOf(then: Json): Verdict {
  if ("poolid" in then) return { ...NO_VERDICT, kind: "pool", poolid: text(then.poolid) };
  if (isObject(then.script)) {
    return { ...NO_VERDICT, kind: "script", script: scriptDraft(then.script) };
  }
  if ("deny" in then) return { ...NO_VERDICT, kind: "deny", status: text(then.deny) };
  for (const kind of ["redirect", "respond"] as const) {
    if (!(kind in then)) continue;
    const { status, location, type, body } = objectOf(then[kind]);
    return {
      ...NO_VERDICT,
      kind,
      status: text(status),
      location: text(location),
      type: text(type),
      body: text(body),
    };
  }
  return NO_VERDICT;
}

/** Whether a change is a switch without a name and a value. */
const isFlag = (kind: string) => kind === "no_compression" || kind === "no_cache";

function editsOf(then: Json): Part[] {
  return EDITS.flatMap(({ kind, valueLabel }) => {
    if (kind === "rewrite") {
      const { prefix, with: other } = objectOf(then.rewrite);
      return "rewrite" in then ? [{ kind, name: text(prefix), value: text(other) }] : [];
    }
    if (kind === "authentication") {
      return then[kind] === undefined ? [] : [{ kind, name: text(then[kind]), value: "" }];
    }
    if (isFlag(kind)) {
      return then[kind] === true ? [{ kind, name: "", value: "" }] : [];
    }
    if (valueLabel) {
      const set = Object.entries(objectOf(then[kind]));
      return set.map(([name, value]) => ({ kind, name, value: text(value) }));
    }
    return listOf(then[kind]).map((name) => ({ kind, name: text(name), value: "" }));
  });
}

function verdictJson(verdict: Verdict): Json {
  const status = /^\d+$/.test(verdict.status.trim()) ? Number(verdict.status) : verdict.status;
  switch (verdict.kind) {
    case "pool":
      return { poolid: verdict.poolid };
    case "redirect":
      return { redirect: { status, location: verdict.location.trim() } };
    case "deny":
      return { deny: status };
    case "script":
      return { script: scriptJson(verdict.script) };
    case "respond":
      return {
        respond: {
          status,
          ...(verdict.type.trim() && { type: verdict.type.trim() }),
          ...(verdict.body && { body: verdict.body }),
        },
      };
    default:
      return {};
  }
}

function editsJson(edits: readonly Part[]): Json {
  const out: Json = {};
  for (const { kind, valueLabel } of EDITS) {
    const own = edits.filter((edit) => edit.kind === kind);
    const [first] = own;
    if (!first) continue;
    if (kind === "rewrite") out.rewrite = { prefix: first.name, with: first.value };
    else if (kind === "authentication") out[kind] = first.name.trim();
    else if (isFlag(kind)) out[kind] = true;
    else if (valueLabel)
      out[kind] = Object.fromEntries(own.map((one) => [one.name.trim(), one.value]));
    else out[kind] = own.map((one) => one.name.trim());
  }
  return out;
}

/** A rule in the form of the API. */
export function ruleJson(rule: RuleDraft): unknown {
  if (rule.raw !== undefined) return rule.raw;
  const conditions = rule.conditions.map(({ kind, name, value }) =>
    conditionKind(kind)?.pair ? [kind, { name: name.trim(), value }] : [kind, value.trim()],
  );
  const then = {
    ...verdictJson(rule.verdict),
    ...editsJson(rule.edits),
    ...(rule.mirror.to && { mirror: mirrorJson(rule.mirror) }),
  };
  return conditions.length ? { if: Object.fromEntries(conditions), then } : { then };
}

/** Whether a member means the same as none; headers and conditions can have empty values. */
const isMissing = (name: string, value: unknown) =>
  value === null ||
  ["{}", "[]"].includes(canonical(value)) ||
  (value === "" && (name === "body" || name === "type"));

/** The same text for rules that mean the same: without what is empty, members sorted, scalars as texts. */
function canonical(value: unknown): string {
  if (Array.isArray(value)) return `[${value.map(canonical).join()}]`;
  if (!isObject(value)) return JSON.stringify(text(value) || value);
  const members = Object.entries(value)
    .filter(([name, one]) => !isMissing(name, one))
    .map(([name, one]) => `${JSON.stringify(name)}:${canonical(one)}`);
  return `{${members.sort().join()}}`;
}

let lastKey = 0;

/** A rule of the API in the editor. */
function ruleDraft(rule: unknown): RuleDraft {
  const given = objectOf(rule);
  const then = objectOf(given.then);
  const draft = {
    key: ++lastKey,
    conditions: conditionsOf(objectOf(given.if)),
    verdict: verdictOf(then),
    edits: editsOf(then),
    mirror: mirrorDraft(objectOf(then.mirror)),
  };
  // Members of a newer server are not lost.
  const isWhole =
    draft.mirror.json === null &&
    (!isObject(then.script) || isWholeScript(then.script)) &&
    canonical(ruleJson(draft)) === canonical(rule);
  return isWhole ? draft : { ...draft, raw: rule };
}

export const rulesDraft = (rules: readonly unknown[]): RulesDraft => ({
  list: rules.map(ruleDraft),
  json: null,
});

/** The rule with which writing begins. */
export const newRule = (): RuleDraft => ({
  key: ++lastKey,
  conditions: [{ kind: "path_prefix", name: "", value: "" }],
  verdict: { ...NO_VERDICT, kind: "pool" },
  edits: [],
  mirror: mirrorDraft({}),
});

export const copied = (rule: RuleDraft): RuleDraft => ({ ...rule, key: ++lastKey });

/** The verdict of another kind; a redirect and a response begin with the usual status. */
export function verdictAs(kind: VerdictKind): Verdict {
  const status = { redirect: "301", deny: "403", respond: "200", pool: "", script: "", "": "" }[
    kind
  ];
  return { ...NO_VERDICT, kind, status };
}

/** A condition of a kind that the rule does not have yet; undefined: it has all. */
export function newCondition(conditions: readonly Part[]): Part | undefined {
  const free = CONDITIONS.find(({ kind }) => !conditions.some((one) => one.kind === kind));
  return free && { kind: free.kind, name: "", value: "" };
}

/** Rules as JSON to be edited; no rules are an empty text. */
export function rulesText(list: readonly RuleDraft[]): string {
  return list.length ? JSON.stringify(list.map(ruleJson), null, 2) : "";
}

/** The rules in the form of the API. Their JSON, if they are edited as such, is valid. */
export function rulesJson({ list, json }: RulesDraft): unknown[] {
  if (json === null) return list.map(ruleJson);
  return json.trim() ? JSON.parse(json) : [];
}

const isGraphic = (value: string) => /^[!-~]*$/.test(value);
// biome-ignore lint/suspicious/noControlCharactersInRegex: these are searched
const hasControl = (value: string) => /[\u0000-\u001f\u007f]/.test(value);
const FIXED = ["host", "connection", "content-length", "transfer-encoding", "upgrade"];
const METHODS = ["GET", "HEAD", "POST", "PUT", "PATCH", "DELETE", "OPTIONS"];

function conditionProblem({ kind, name, value }: Part): [at: "name" | "value", why: string] | null {
  const own = value.trim();
  if (kind === "header" && !isToken(name.trim())) return ["name", words.headerName];
  if (kind === "cookie" && !isToken(name.trim())) return ["name", words.cookieName];
  if (kind === "query" && !name.trim()) return ["name", words.queryName];
  if (conditionKind(kind)?.pair) return null;
  if (kind === "path" || kind === "path_prefix") {
    return own.startsWith("/") || own === "*" ? null : ["value", words.path];
  }
  if (!own) return ["value", words.value];
  if (kind === "host" && /[^\]:]:\d*$/.test(own)) return ["value", words.port];
  if (kind === "method" && !isToken(own)) return ["value", words.method];
  if (kind === "method" && METHODS.includes(own.toUpperCase()) && own !== own.toUpperCase()) {
    return ["value", words.methodCase(own.toUpperCase())];
  }
  return null;
}

function verdictProblem(verdict: Verdict): [member: keyof Verdict, why: string] | null {
  const status = Number(verdict.status);
  const isStatus = /^\d{3}$/.test(verdict.status.trim()) && status >= 200 && status < 600;
  const { kind, location } = verdict;
  if (kind === "pool" && !verdict.poolid) return ["poolid", words.pool];
  if (kind === "redirect" && !REDIRECTS.some(([one]) => one === verdict.status)) {
    return ["status", words.redirectStatus];
  }
  if (kind === "redirect" && !(location.trim() && isGraphic(location.trim()))) {
    return ["location", words.location];
  }
  if ((kind === "deny" || kind === "respond") && !isStatus) return ["status", words.status];
  if (kind === "respond" && hasControl(verdict.type)) return ["type", words.control];
  return null;
}

function editProblem(
  edit: Part,
  edits: readonly Part[],
  policies: readonly string[] | undefined,
): [at: "name" | "value", why: string] | null {
  const name = edit.name.trim();
  if (edit.kind === "rewrite") {
    if (!name.startsWith("/")) return ["name", words.path];
    return edit.value.startsWith("/") && isGraphic(edit.value) ? null : ["value", words.path];
  }
  if (edit.kind === "authentication") {
    if (!name) return ["name", words.policy];
    const isKnown = name === NO_POLICY || !policies || policies.includes(name);
    return isKnown ? null : ["name", words.noPolicy];
  }
  if (isFlag(edit.kind)) return null;
  if (!isToken(name)) return ["name", words.headerName];
  if (FIXED.includes(name.toLowerCase())) return ["name", words.fixedHeader];
  const same = edits.filter((one) => one.kind === edit.kind && one.name.trim() === name);
  if (same.length > 1) return ["name", words.twice];
  return hasControl(edit.value) ? ["value", words.control] : null;
}

/**
 * What is wrong with a rule, by field: `if0.value`, `poolid`, `edit0.name`, `mirror`, and `kind` for the
 * action. `policies` are those of the service, if they are known.
 */
export function ruleProblems(
  rule: RuleDraft,
  policies?: readonly string[],
): Record<string, string> {
  if (rule.raw !== undefined) return {};
  const found: Record<string, string> = {};
  rule.conditions.forEach((condition, at) => {
    const problem = conditionProblem(condition);
    if (problem) found[`if${at}.${problem[0]}`] = problem[1];
  });
  const verdict = verdictProblem(rule.verdict);
  if (verdict) found[verdict[0]] = verdict[1];
  if (rule.verdict.kind === "script") Object.assign(found, scriptProblems(rule.verdict.script));
  rule.edits.forEach((edit, at) => {
    const problem = editProblem(edit, rule.edits, policies);
    if (problem) found[`edit${at}.${problem[0]}`] = problem[1];
  });
  const [mirror] = Object.values(mirrorProblems(rule.mirror));
  if (mirror) found.mirror = mirror;
  const isEmpty = rule.verdict.kind === "" && rule.edits.length === 0 && !rule.mirror.to;
  if (isEmpty) found.kind = words.action;
  return found;
}

/** A refusal of the server: the rule that it names, counted from 0, its field and the reason. */
export function refusedRule(problem: string | undefined) {
  const found = /^(\d+)((?:\/\w+)*): (.*)$/s.exec(problem ?? "");
  if (!found) return null;
  const [, number = "", path = "", why = ""] = found;
  const at = Number(number) - 1;
  const [isOfMirror, below] = /^\/then\/mirror(?:\/(\w+))?$/.exec(path) ?? [];
  if (isOfMirror) return { at, field: "mirror", why: below ? `${below}: ${why}` : why };
  if (path.startsWith("/then/script")) return { at, field: "script", why };
  const words = why.charAt(0).toUpperCase() + why.slice(1);
  return { at, field: path.endsWith("/poolid") ? "poolid" : "", why: words };
}

/** Whether the rule ends the choice for all requests. */
export const decidesAll = (rule: RuleDraft) =>
  rule.raw === undefined && rule.conditions.length === 0 && rule.verdict.kind !== "";
