import { EventSource } from "~/api/schema";
import { CHECKS } from "./network";

/** The source of the events that an action applies to. */
export type ActionSource = (typeof EventSource)[keyof typeof EventSource];

export interface ActionCondition {
  conditiontype: string;
  operator: string;
  value: string;
  /** The tag whose value is compared. */
  value2?: string;
  formulaid?: string;
}

/** How the value of a condition is chosen. */
export type ValueKind = "text" | "rule" | "check" | readonly (readonly [string, string])[];

export interface ConditionKind {
  type: string;
  name: string;
  operators: readonly string[];
  value: ValueKind;
  hint?: string;
}

const OPERATORS: Record<string, string> = {
  "0": "is",
  "1": "is not",
  "2": "contains",
  "3": "does not contain",
  "5": "is at least",
  "6": "is at most",
  "8": "matches",
  "9": "does not match",
};
const EQUAL = ["0", "1"];
const LIKE = ["2", "3", "8", "9"];

const NETWORK: readonly ConditionKind[] = [
  {
    type: "7",
    name: "Address",
    operators: EQUAL,
    value: "text",
    hint: "192.168.0.1-127,10.0.0.0/8",
  },
  {
    type: "8",
    name: "Service type",
    operators: EQUAL,
    value: CHECKS.map(([type, name]) => [type, name] as const),
  },
  { type: "9", name: "Port", operators: EQUAL, value: "text", hint: "22,8000-8080" },
  { type: "18", name: "Discovery rule", operators: EQUAL, value: "rule" },
  { type: "19", name: "Discovery check", operators: EQUAL, value: "check" },
  {
    type: "21",
    name: "Discovered object",
    operators: ["0"],
    value: [
      ["1", "host"],
      ["2", "service"],
    ],
  },
  {
    type: "10",
    name: "Discovery status",
    operators: ["0"],
    value: [
      ["0", "up"],
      ["1", "down"],
      ["2", "discovered"],
      ["3", "lost"],
    ],
  },
  {
    type: "11",
    name: "Uptime/downtime (seconds)",
    operators: ["5", "6"],
    value: "text",
    hint: "600",
  },
  {
    type: "12",
    name: "Received value",
    operators: ["2", "3", "0", "1", "5", "6"],
    value: "text",
  },
];

const AGENTS: readonly ConditionKind[] = [
  { type: "24", name: "Host metadata", operators: LIKE, value: "text" },
  { type: "22", name: "Host name", operators: LIKE, value: "text" },
];

export const conditionKinds = (source: ActionSource) =>
  source === EventSource.Discovery ? NETWORK : AGENTS;

export function conditionKind(source: ActionSource, type: string): ConditionKind | undefined {
  return conditionKinds(source).find((kind) => kind.type === type);
}

export const operatorName = (operator: string) => OPERATORS[operator] ?? operator;

/** A condition in words; `names` tells rules and checks by id. */
export function conditionWords(
  source: ActionSource,
  { conditiontype, operator, value }: ActionCondition,
  names: ReadonlyMap<string, string>,
): string {
  const kind = conditionKind(source, conditiontype);
  const shown = Array.isArray(kind?.value)
    ? (kind.value.find(([known]) => known === value)?.[1] ?? value)
    : kind?.value === "text"
      ? value
      : (names.get(`${kind?.value} ${value}`) ?? value);
  return `${kind?.name ?? conditiontype} ${operatorName(operator)} ${shown}`;
}

/** What operations need beside their type. */
export type OperationNeed = "opgroup" | "optemplate" | "optag" | "opinventory" | undefined;

export const OPERATIONS: readonly (readonly [type: string, name: string, need: OperationNeed])[] = [
  ["2", "Add host", undefined],
  ["4", "Add to host groups", "opgroup"],
  ["6", "Link templates", "optemplate"],
  ["13", "Add host tags", "optag"],
  ["10", "Set inventory mode", "opinventory"],
  ["8", "Enable host", undefined],
  ["9", "Disable host", undefined],
  ["5", "Remove from host groups", "opgroup"],
  ["7", "Unlink templates", "optemplate"],
  ["14", "Remove host tags", "optag"],
  ["3", "Remove host", undefined],
];

export function operationName(type: string): string {
  return OPERATIONS.find(([known]) => known === type)?.[1] ?? `Operation ${type}`;
}

export function operationNeed(type: string): OperationNeed {
  return OPERATIONS.find(([known]) => known === type)?.[2];
}
