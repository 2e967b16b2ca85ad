import type { ItemKind } from "~/api/item-config";
import type { StepOutcome, TestOutcome } from "~/api/item-test";
import type { PreprocessingStep } from "~/api/items";
import type { Owner } from "~/api/owners";
import { ItemType } from "~/api/schema";
import { macrosIn, substitute } from "~/util/macros";
import { pairsOf } from "~/util/pairs";
import { chosenInterface, type ItemDraft } from "./draft";
import { EXTRAS } from "./extras";

/** What the test dialog is told beside the item. */
export interface TestInput {
  /** Where the value comes from: typed here, or collected from the host now. */
  source: "typed" | "host";
  value: string;
  /** The value stands for a failed check with this error. */
  failed: boolean;
  error: string;
  /** The value before and when it came (`now-60s`), for steps that compare. */
  previous: string;
  previousTime: string;
  macros: ReadonlyMap<string, string>;
  /** Of the host asked. */
  host?: Owner;
}

/** Steps whose result depends on the value before. */
const COMPARING = new Set(["9", "10", "19", "20"]);

export function comparesWithPrevious(steps: readonly PreprocessingStep[]): boolean {
  return steps.some((step) => COMPARING.has(step.type));
}

/** Texts of the draft in which macros count; those of collecting only where it is collected. */
function textsOf(draft: ItemDraft, source: TestInput["source"]): string[] {
  const steps = draft.preprocessing.flatMap((step) => [step.params, step.error_handler_params]);
  if (source === "typed") return steps;
  const extras = (EXTRAS[draft.type] ?? []).map(({ field }) => draft.extra[field] ?? "");
  return [...steps, draft.key, draft.url, draft.snmpOid, draft.formula, ...extras];
}

const interfaceTexts = (draft: ItemDraft, host: Owner | undefined): string[] => {
  const iface = host && chosenInterface(draft, host.interfaces);
  if (!iface) return [];
  const details =
    iface.details && !Array.isArray(iface.details) ? Object.values(iface.details) : [];
  return [iface.ip, iface.dns, iface.port, ...details.map(String)];
};

/** The macros that a test needs values for. */
export function macrosOfTest(
  draft: ItemDraft,
  source: TestInput["source"],
  host?: Owner,
): string[] {
  const texts = textsOf(draft, source);
  if (source === "host") texts.push(...interfaceTexts(draft, host));
  return macrosIn(texts, true);
}

/** Macros that need no asking, because they follow from the host. */
function hostMacros(host: Owner, draft: ItemDraft): [string, string][] {
  const iface = chosenInterface(draft, host.interfaces);
  const address = iface ? (iface.useip === "1" ? iface.ip : iface.dns) : "";
  return [
    ["{HOST.HOST}", host.host],
    ["{HOST.NAME}", host.name],
    ["{HOST.ID}", host.id],
    ["{HOST.CONN}", address],
    ["{HOST.IP}", iface?.ip ?? ""],
    ["{HOST.DNS}", iface?.dns ?? ""],
    ["{HOST.PORT}", iface?.port ?? ""],
  ];
}

function hostPart(draft: ItemDraft, host: Owner, resolve: (text: string) => string): object {
  const iface = chosenInterface(draft, host.interfaces);
  const details = iface?.details && !Array.isArray(iface.details) ? iface.details : undefined;
  return {
    hostid: host.id,
    host: host.host,
    interface: iface && {
      interfaceid: iface.interfaceid,
      type: Number(iface.type),
      useip: Number(iface.useip),
      address: resolve(iface.useip === "1" ? iface.ip : iface.dns),
      port: resolve(iface.port),
      details:
        details &&
        Object.fromEntries(Object.entries(details).map(([k, v]) => [k, resolve(String(v))])),
    },
  };
}

function collectPart(draft: ItemDraft, resolve: (text: string) => string): object {
  const extras: Record<string, unknown> = {};
  for (const { field, pairs, choices } of EXTRAS[draft.type] ?? []) {
    const text = draft.extra[field] || choices?.[0]?.[0] || "";
    if (text === "") continue;
    extras[field] = pairs
      ? pairsOf(text).map((pair) => ({ name: resolve(pair.name), value: resolve(pair.value) }))
      : choices
        ? Number(text)
        : resolve(text);
  }
  return {
    key: resolve(draft.key.trim()),
    type: Number(draft.type),
    url: draft.type === ItemType.HttpAgent ? resolve(draft.url) : undefined,
    snmp_oid: draft.type === ItemType.Snmp ? resolve(draft.snmpOid) : undefined,
    params: draft.type === ItemType.Calculated ? resolve(draft.formula) : undefined,
    ...extras,
  };
}

/** The parameters of `item.test`, macros replaced by their values. */
export function testParams(draft: ItemDraft, kind: ItemKind, input: TestInput): object {
  const values = new Map(input.macros);
  let resolve = (text: string) => substitute(text, values);
  const { host } = input;
  if (host) {
    const builtin = hostMacros(host, draft);
    const plain = resolve;
    resolve = (text) =>
      builtin.reduce((done, [macro, value]) => done.replaceAll(macro, value), plain(text));
  }
  const steps = draft.preprocessing.map((step) => ({
    type: Number(step.type),
    params: resolve(step.params),
    error_handler: Number(step.error_handler),
    error_handler_params: resolve(step.error_handler_params),
  }));
  const collected = input.source === "host";
  const failed = !collected && input.failed;
  const compares = comparesWithPrevious(draft.preprocessing) && input.previousTime.trim() !== "";
  return {
    options: {
      single: false,
      state: failed ? 1 : 0,
      runtime_error: failed ? input.error : undefined,
      history: compares
        ? { value: input.previous, timestamp: input.previousTime.trim() }
        : undefined,
    },
    item: {
      value_type: kind === "rule" ? 4 : Number(draft.valueType),
      steps,
      ...(collected ? collectPart(draft, resolve) : { value: failed ? "" : input.value }),
    },
    host: collected && host ? hostPart(draft, host, resolve) : undefined,
  };
}

/** One step of a test as the dialog shows it. */
export interface ShownStep {
  state: "value" | "discarded" | "error" | "skipped";
  input: string | null;
  output: string | null;
  /** The error of the step itself, also where a handler caught it. */
  error?: string;
  /** What the error handler did, in words. */
  handled?: string;
  cut?: string;
}

function cutNote(outcome: Pick<StepOutcome, "truncated" | "original_size">): string | undefined {
  if (!outcome.truncated) return undefined;
  return `First part of ${outcome.original_size ?? "more"} bytes`;
}

function handledNote(outcome: StepOutcome): string | undefined {
  if (outcome.action === 1) return "On fail: value discarded";
  if (outcome.action === 2) return "On fail: value set";
  if (outcome.action === 3) return "On fail: error set";
  return undefined;
}

/** The outcome step by step: what went in, what came out, where it ended. */
export function shownSteps(count: number, start: string | null, outcome: TestOutcome): ShownStep[] {
  const outcomes = outcome.preprocessing?.steps ?? [];
  const shown: ShownStep[] = [];
  let input: string | null = start;
  let ended = false;
  for (let i = 0; i < count; i++) {
    const step = outcomes[i];
    if (!step || ended) {
      shown.push({ state: "skipped", input: null, output: null });
      continue;
    }
    const error = step.error?.value;
    const handled = handledNote(step);
    const cut = cutNote(step);
    if (step.failed !== undefined) {
      shown.push({ state: "error", input, output: step.failed, error, handled, cut });
      ended = true;
    } else if (error !== undefined && step.result === undefined && step.action === undefined) {
      shown.push({ state: "error", input, output: null, error, cut });
      ended = true;
    } else if (step.result === undefined || step.result === null) {
      shown.push({ state: "discarded", input, output: null, error, handled, cut });
      ended = true;
    } else {
      shown.push({ state: "value", input, output: step.result, error, handled, cut });
      input = step.result;
    }
  }
  return shown;
}
