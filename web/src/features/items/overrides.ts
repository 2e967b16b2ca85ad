import type { Override, OverrideOperation } from "~/api/item-config";
import { filterParams, NO_FILTER } from "./rule-filter";

/** Kinds of prototypes, by `operationobject`. */
export const OBJECTS = [
  ["0", "Item prototypes"],
  ["1", "Trigger prototypes"],
  ["2", "Graph prototypes"],
  ["3", "Host prototypes"],
] as const;

export const OPERATORS = [
  ["0", "name equals"],
  ["1", "name does not equal"],
  ["2", "name contains"],
  ["3", "name does not contain"],
  ["8", "name matches"],
  ["9", "name does not match"],
] as const;

/** What an operation can set, and what it sets at first. */
const CHANGES = {
  opdiscover: { of: "0123", first: { discover: "1" } },
  opstatus: { of: "013", first: { status: "1" } },
  opperiod: { of: "0", first: { delay: "1m" } },
  ophistory: { of: "0", first: { history: "31d" } },
  optrends: { of: "0", first: { trends: "365d" } },
  opseverity: { of: "1", first: { severity: "3" } },
  optag: { of: "013", first: [{ tag: "", value: "" }] },
  optemplate: { of: "3", first: [] },
  opinventory: { of: "3", first: { inventory_mode: "0" } },
} as const;

export type Change = keyof typeof CHANGES;

/** The changes that fit a kind of prototypes. */
export function changesOf(operationobject: string): Change[] {
  return (Object.keys(CHANGES) as Change[]).filter((name) =>
    CHANGES[name].of.includes(operationobject),
  );
}

/** Switches a change of an operation on or off. */
export function toggled(operation: OverrideOperation, name: Change): OverrideOperation {
  const { [name]: present, ...rest } = operation;
  return present === undefined
    ? { ...rest, [name]: structuredClone(CHANGES[name].first) }
    : (rest as OverrideOperation);
}

/** The operation on another kind of prototypes: what does not fit it goes. */
export function onObject(operation: OverrideOperation, operationobject: string): OverrideOperation {
  const { operator, value } = operation;
  const kept = changesOf(operationobject)
    .filter((name) => operation[name] !== undefined)
    .map((name) => [name, operation[name]]);
  return { operationobject, operator, value, ...Object.fromEntries(kept) };
}

export function newOverride(): Override {
  return { name: "", stop: "0", filter: NO_FILTER, operations: [] };
}

export function newOperation(): OverrideOperation {
  return {
    operationobject: "0",
    operator: "8",
    value: "",
    opdiscover: { ...CHANGES.opdiscover.first },
  };
}

function operationParams(operation: OverrideOperation): object {
  const { optag, optemplate, ...rest } = operation;
  return {
    ...rest,
    optag: optag?.filter((tag) => tag.tag.trim()),
    optemplate: optemplate?.map(({ templateid }) => ({ templateid })),
  };
}

/** Overrides as the API takes them, in the order in which they are tried. */
export function overrideParams(overrides: readonly Override[]): object[] {
  return overrides.map((override, i) => ({
    name: override.name.trim(),
    step: String(i + 1),
    stop: override.stop,
    filter: filterParams(override.filter),
    operations: override.operations.map(operationParams),
  }));
}

/** Why overrides cannot be saved; null = they can. */
export function overrideProblem(overrides: readonly Override[]): string | null {
  const names = overrides.map((override) => override.name.trim());
  if (names.includes("")) return "Enter a name for each override.";
  if (new Set(names).size < names.length) return "Two overrides have the same name.";
  const idle = overrides.find(({ operations }) =>
    operations.some((operation) =>
      changesOf(operation.operationobject).every((name) => operation[name] === undefined),
    ),
  );
  return idle ? `An operation of “${idle.name}” has no effect.` : null;
}
