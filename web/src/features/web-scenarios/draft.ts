import type { Members } from "~/api/methods";
import { Status } from "~/api/schema";
import type { WebScenarioDetail, WebStep } from "~/api/web-scenarios";
import { pairsOf, pairsText } from "~/util/pairs";
import { type Tag, tagParams } from "~/util/tags";

/** A step as the form holds it; lists are lines of "name: value". */
export interface StepDraft {
  name: string;
  url: string;
  query: string;
  /** The body is the fields of a form, not a text. */
  asForm: boolean;
  posts: string;
  headers: string;
  variables: string;
  follow: boolean;
  retrieve: string;
  timeout: string;
  required: string;
  codes: string;
}

/** A web scenario as the form holds it. */
export interface WebDraft {
  name: string;
  delay: string;
  enabled: boolean;
  agent: string;
  retries: string;
  proxy: string;
  variables: string;
  headers: string;
  authentication: string;
  user: string;
  password: string;
  verifyPeer: boolean;
  verifyHost: boolean;
  certFile: string;
  keyFile: string;
  keyPassword: string;
  tags: Tag[];
  steps: StepDraft[];
}

export const NEW_STEP: StepDraft = {
  name: "",
  url: "",
  query: "",
  asForm: false,
  posts: "",
  headers: "",
  variables: "",
  follow: true,
  retrieve: "0",
  timeout: "15s",
  required: "",
  codes: "200",
};

function stepDraft(step: WebStep): StepDraft {
  const asForm = Array.isArray(step.posts);
  return {
    name: step.name,
    url: step.url,
    query: pairsText(step.query_fields ?? []),
    asForm,
    posts: Array.isArray(step.posts) ? pairsText(step.posts) : (step.posts ?? ""),
    headers: pairsText(step.headers ?? []),
    variables: pairsText(step.variables ?? []),
    follow: step.follow_redirects !== "0",
    retrieve: step.retrieve_mode ?? "0",
    timeout: step.timeout ?? "15s",
    required: step.required ?? "",
    codes: step.status_codes ?? "",
  };
}

export function draftOf(scenario: WebScenarioDetail | null): WebDraft {
  return {
    name: scenario?.name ?? "",
    delay: scenario?.delay ?? "1m",
    enabled: scenario?.status !== Status.Disabled,
    agent: scenario?.agent ?? "Zabbix",
    retries: scenario?.retries ?? "1",
    proxy: scenario?.http_proxy ?? "",
    variables: pairsText(scenario?.variables ?? []),
    headers: pairsText(scenario?.headers ?? []),
    authentication: scenario?.authentication ?? "0",
    user: scenario?.http_user ?? "",
    password: scenario?.http_password ?? "",
    verifyPeer: scenario?.verify_peer === "1",
    verifyHost: scenario?.verify_host === "1",
    certFile: scenario?.ssl_cert_file ?? "",
    keyFile: scenario?.ssl_key_file ?? "",
    keyPassword: scenario?.ssl_key_password ?? "",
    tags: scenario?.tags ?? [],
    steps: scenario?.steps.map(stepDraft) ?? [{ ...NEW_STEP }],
  };
}

const BRACED = /^\{[^{}]+\}$/;

/** What is wrong with a variable's line; undefined when nothing is. */
function variablesProblem(text: string): string | undefined {
  const wrong = pairsOf(text).find((pair) => !BRACED.test(pair.name));
  return wrong && `Enter variables as {name}: value, not "${wrong.name}".`;
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function problemsOf(draft: WebDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  const put = (field: string, problem: string | undefined) => {
    if (problem) problems[field] = problem;
  };
  put("name", draft.name.trim() ? undefined : "Enter a name.");
  put("delay", draft.delay.trim() ? undefined : "Enter an interval, such as 1m.");
  put(
    "retries",
    /^([1-9]|10)$/.test(draft.retries.trim()) ? undefined : "Enter a number from 1 to 10.",
  );
  put("variables", variablesProblem(draft.variables));
  put("steps", draft.steps.length ? undefined : "Add at least one step.");
  const names = new Set<string>();
  for (const [n, step] of draft.steps.entries()) {
    const name = step.name.trim();
    put(`step${n}.variables`, variablesProblem(step.variables));
    put(`step${n}.url`, step.url.trim() ? undefined : "Enter a URL.");
    if (!name) put(`step${n}.name`, "Enter a name.");
    else if (names.has(name)) put(`step${n}.name`, `Two steps are named "${name}".`);
    names.add(name);
  }
  return problems;
}

function stepParams(step: StepDraft, at: number): object {
  return {
    name: step.name.trim(),
    no: at + 1,
    url: step.url.trim(),
    query_fields: pairsOf(step.query),
    posts: step.asForm ? pairsOf(step.posts) : step.posts,
    headers: pairsOf(step.headers),
    variables: pairsOf(step.variables),
    follow_redirects: step.follow ? 1 : 0,
    retrieve_mode: Number(step.retrieve),
    timeout: step.timeout.trim() || "15s",
    required: step.required,
    status_codes: step.codes.trim(),
  };
}

/** A draft without problems, as `httptest.create` and `httptest.update` take it. */
export function paramsOf(draft: WebDraft, inherited: boolean): Members<"httptest"> {
  const own = {
    delay: draft.delay.trim(),
    status: draft.enabled ? 0 : 1,
  } satisfies Members<"httptest">;
  if (inherited) return own;
  return {
    ...own,
    name: draft.name.trim(),
    agent: draft.agent,
    retries: Number(draft.retries),
    http_proxy: draft.proxy.trim(),
    variables: pairsOf(draft.variables),
    headers: pairsOf(draft.headers),
    authentication: Number(draft.authentication),
    http_user: draft.authentication === "0" ? "" : draft.user,
    http_password: draft.authentication === "0" ? "" : draft.password,
    verify_peer: draft.verifyPeer ? 1 : 0,
    verify_host: draft.verifyHost ? 1 : 0,
    ssl_cert_file: draft.certFile,
    ssl_key_file: draft.keyFile,
    ssl_key_password: draft.keyPassword,
    tags: tagParams(draft.tags),
    steps: draft.steps.map(stepParams),
  };
}
