import { pairsOf } from "~/util/pairs";
import type { StepDraft, WebDraft } from "./draft";

/** What a test of the steps carries from one to the next. */
export interface Carried {
  /** By name with braces. */
  variables: Map<string, string>;
  cookies: Map<string, string>;
}

/** What came of one step. */
export interface Trial {
  /** Why it failed; undefined when it passed. */
  error?: string;
  /** Headers and body of the answer. */
  answer?: string;
  /** Variables that it set. */
  found: [name: string, value: string][];
}

function decoded(value: string): string {
  try {
    return decodeURIComponent(value);
  } catch {
    return value;
  }
}

/** A text with the variables' values, also those that change on their way. */
export function filled(text: string, carried: Carried): string {
  let out = text;
  for (const [name, value] of carried.variables) {
    out = out
      .replaceAll(`{${name}.urlencode()}`, () => encodeURIComponent(value))
      .replaceAll(`{${name}.urldecode()}`, () => decoded(value))
      .replaceAll(name, () => value);
  }
  return out;
}

const filledPairs = (text: string, fill: (text: string) => string) =>
  pairsOf(text).map(({ name, value }) => ({ name: fill(name), value: fill(value) }));

function formBody(fields: { name: string; value: string }[]): string {
  return fields
    .map(({ name, value }) => `${encodeURIComponent(name)}=${encodeURIComponent(value)}`)
    .join("&");
}

/** The last answer of those that redirects led through: its headers, its body, all headers. */
export function answerParts(text: string): { head: string; body: string } {
  let head = "";
  let body = text;
  while (/^HTTP\/\d/.test(body)) {
    const end = body.indexOf("\r\n\r\n");
    if (end < 0) return { head: head + body, body: "" };
    head += body.slice(0, end + 4);
    body = body.slice(end + 4);
  }
  return { head, body };
}

/**
 * The parameters of `item.test` that ask what a step asks. Macros are replaced by `resolve`.
 * Headers come along, because the next step needs the cookies.
 */
export function trialParams(
  draft: WebDraft,
  step: StepDraft,
  carried: Carried,
  resolve: (text: string) => string,
  hostid?: string,
): object {
  const fill = (text: string) => filled(resolve(text), carried);
  const posts = step.asForm ? formBody(filledPairs(step.posts, fill)) : fill(step.posts);
  const headers = filledPairs(step.headers.trim() ? step.headers : draft.headers, fill);
  const named = (name: string) => headers.some((one) => one.name.toLowerCase() === name);
  if (draft.agent && !named("user-agent")) {
    headers.push({ name: "User-Agent", value: fill(draft.agent) });
  }
  if (carried.cookies.size > 0 && !named("cookie")) {
    const cookies = [...carried.cookies].map(([name, value]) => `${name}=${value}`);
    headers.push({ name: "Cookie", value: cookies.join("; ") });
  }
  return {
    options: { single: false, state: 0 },
    item: {
      key: "web.test",
      type: 19,
      value_type: 4,
      steps: [],
      url: fill(step.url.trim()),
      query_fields: filledPairs(step.query, fill),
      request_method: posts ? 1 : step.retrieve === "1" ? 3 : 0,
      posts,
      post_type: 0,
      headers,
      follow_redirects: step.follow ? 1 : 0,
      retrieve_mode: 2,
      output_format: 0,
      status_codes: fill(step.codes),
      timeout: resolve(step.timeout) || "15s",
      http_proxy: fill(draft.proxy),
      authtype: Number(draft.authentication),
      username: draft.authentication === "0" ? "" : fill(draft.user),
      password: draft.authentication === "0" ? "" : fill(draft.password),
      verify_peer: draft.verifyPeer ? 1 : 0,
      verify_host: draft.verifyHost ? 1 : 0,
      ssl_cert_file: draft.certFile,
      ssl_key_file: draft.keyFile,
      ssl_key_password: draft.keyPassword,
    },
    host: hostid ? { hostid } : undefined,
  };
}

function matchOf(pattern: string, text: string): RegExpExecArray | null | string {
  try {
    return new RegExp(pattern, "m").exec(text);
  } catch {
    return `The test cannot read the regular expression "${pattern}".`;
  }
}

/** Sets the variables of the lines; the text of an answer is there after a step. */
export function setVariables(
  lines: string,
  carried: Carried,
  text?: string,
): { found: Trial["found"]; error?: string } {
  const found: Trial["found"] = [];
  for (const { name, value } of pairsOf(lines)) {
    if (!value.startsWith("regex:")) {
      carried.variables.set(name, filled(value, carried));
      found.push([name, filled(value, carried)]);
      continue;
    }
    if (text === undefined) continue;
    const match = matchOf(filled(value.slice(6), carried), text);
    if (typeof match === "string") return { found, error: match };
    // A group says which part is the value.
    const group = match?.[1];
    if (group === undefined) {
      return { found, error: `Nothing in the response matches "${value.slice(6)}" of ${name}.` };
    }
    carried.variables.set(name, group);
    found.push([name, group]);
  }
  return { found };
}

function takeCookies(head: string, carried: Carried): void {
  for (const [, name, value] of head.matchAll(/^set-cookie:\s*([^=;\s]+)=([^;\r\n]*)/gim)) {
    if (name !== undefined) carried.cookies.set(name, value ?? "");
  }
}

/** What an answer means for a step: required text, variables, cookies. */
export function judged(draft: WebDraft, step: StepDraft, answer: string, carried: Carried): Trial {
  const { head, body } = answerParts(answer);
  takeCookies(head, carried);
  const text = step.retrieve === "1" ? head : step.retrieve === "2" ? head + body : body;
  const required = filled(step.required, carried);
  if (required) {
    const match = matchOf(required, text);
    if (typeof match === "string") return { error: match, answer, found: [] };
    if (!match)
      return { error: `Nothing in the response matches "${required}".`, answer, found: [] };
  }
  const common = setVariables(draft.variables, carried, text);
  if (common.error) return { ...common, answer };
  const own = setVariables(step.variables, carried, text);
  return { found: [...common.found, ...own.found], error: own.error, answer };
}
