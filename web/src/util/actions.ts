import { EventSource, ConditionKind as Kind, OperationKind } from "~/api/schema";
import { CHECKS } from "./network";
import { SEVERITIES, severityName } from "./severity";

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
export type ValueKind =
  | "text"
  /** The operator says it all. */
  | "none"
  /** A text; `value2` names the tag. */
  | "tag"
  | Referred
  | readonly (readonly [string, string])[];

/** Objects whose id is the value. */
export type Referred = "rule" | "check" | "group" | "host" | "template" | "trigger";

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
  "4": "in",
  "5": "is at least",
  "6": "is at most",
  "7": "not in",
  "8": "matches",
  "9": "does not match",
  "10": "yes",
  "11": "no",
};
const EQUAL = ["0", "1"];
const LIKE = ["2", "3", "8", "9"];
const CONTAINS = ["2", "3"];
const TAGGED = ["0", "1", "2", "3"];

const GROUP: ConditionKind = {
  type: Kind.HostGroup,
  name: "Host group",
  operators: EQUAL,
  value: "group",
};
const HOST: ConditionKind = { type: Kind.Host, name: "Host", operators: EQUAL, value: "host" };
const TEMPLATE: ConditionKind = {
  type: Kind.Template,
  name: "Template",
  operators: EQUAL,
  value: "template",
};
const TAG: ConditionKind = { type: Kind.Tag, name: "Tag name", operators: TAGGED, value: "text" };
const TAG_VALUE: ConditionKind = {
  type: Kind.TagValue,
  name: "Tag value",
  operators: TAGGED,
  value: "tag",
};

const TRIGGERS: readonly ConditionKind[] = [
  {
    type: Kind.Severity,
    name: "Trigger severity",
    operators: ["5", "6", "0", "1"],
    value: SEVERITIES.map((severity) => [String(severity), severityName(severity)] as const),
  },
  GROUP,
  HOST,
  TEMPLATE,
  { type: Kind.Trigger, name: "Trigger", operators: EQUAL, value: "trigger" },
  { type: Kind.EventName, name: "Event name", operators: CONTAINS, value: "text" },
  TAG,
  TAG_VALUE,
  {
    type: Kind.TimePeriod,
    name: "Time period",
    operators: ["4", "7"],
    value: "text",
    hint: "1-5,08:00-18:00",
  },
  {
    type: Kind.Suppressed,
    name: "Problem is suppressed",
    operators: ["11", "10"],
    value: "none",
  },
];

const SERVICES: readonly ConditionKind[] = [
  { type: Kind.ServiceName, name: "Service name", operators: CONTAINS, value: "text" },
  { type: Kind.Service, name: "Service", operators: EQUAL, value: "text", hint: "Service ID" },
  TAG,
  TAG_VALUE,
];

const INTERNAL: readonly ConditionKind[] = [
  {
    type: Kind.InternalEvent,
    name: "Event type",
    operators: ["0"],
    value: [
      ["0", "item is not supported"],
      ["2", "discovery rule is not supported"],
      ["4", "trigger is unknown"],
    ],
  },
  GROUP,
  HOST,
  TEMPLATE,
  TAG,
  TAG_VALUE,
];

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

const KINDS: Record<ActionSource, readonly ConditionKind[]> = {
  [EventSource.Trigger]: TRIGGERS,
  [EventSource.Discovery]: NETWORK,
  [EventSource.Autoregistration]: AGENTS,
  [EventSource.Internal]: INTERNAL,
  [EventSource.Service]: SERVICES,
};

export const conditionKinds = (source: ActionSource) => KINDS[source];

export function conditionKind(source: ActionSource, type: string): ConditionKind | undefined {
  return conditionKinds(source).find((kind) => kind.type === type);
}

export const operatorName = (operator: string) => OPERATORS[operator] ?? operator;

const shownChoice = (choices: readonly (readonly [string, string])[], value: string) =>
  choices.find(([known]) => known === value)?.[1] ?? value;

/** A condition in words; `names` has the names of objects by kind and id. */
export function conditionWords(
  source: ActionSource,
  { conditiontype, operator, value, value2 }: ActionCondition,
  names: ReadonlyMap<string, string>,
): string {
  const kind = conditionKind(source, conditiontype);
  const does = operatorName(operator);
  if (!kind) return `Condition ${conditiontype} ${does} ${value}`;
  if (kind.value === "none") return `${kind.name}: ${does}`;
  if (kind.value === "tag") return `Value of tag ${value2 ?? ""} ${does} ${value || '""'}`;
  if (kind.value === "text") return `${kind.name} ${does} ${value}`;
  if (typeof kind.value !== "string")
    return `${kind.name} ${does} ${shownChoice(kind.value, value)}`;
  return `${kind.name} ${does} ${names.get(`${kind.value} ${value}`) ?? value}`;
}

/** What operations need beside their type. */
export type OperationNeed =
  | "message"
  | "involved"
  | "command"
  | "opgroup"
  | "optemplate"
  | "optag"
  | "opinventory"
  | undefined;

type Offered = readonly [type: string, name: string, need: OperationNeed];

const MESSAGE: Offered = [OperationKind.Message, "Send message", "message"];
const RECOVERED: Offered = [OperationKind.NotifyRecovered, "Notify all involved", "involved"];
const UPDATED: Offered = [OperationKind.NotifyUpdated, "Notify all involved", "involved"];
const COMMAND: Offered = [OperationKind.Script, "Run script", "command"];

const ON_HOSTS: readonly Offered[] = [
  [OperationKind.AddHost, "Add host", undefined],
  [OperationKind.AddGroups, "Add to host groups", "opgroup"],
  [OperationKind.Link, "Link templates", "optemplate"],
  [OperationKind.AddTags, "Add host tags", "optag"],
  [OperationKind.Inventory, "Set inventory mode", "opinventory"],
  [OperationKind.Enable, "Enable host", undefined],
  [OperationKind.Disable, "Disable host", undefined],
  [OperationKind.RemoveGroups, "Remove from host groups", "opgroup"],
  [OperationKind.Unlink, "Unlink templates", "optemplate"],
  [OperationKind.RemoveTags, "Remove host tags", "optag"],
  [OperationKind.RemoveHost, "Remove host", undefined],
];
const ALL_OPERATIONS = [...ON_HOSTS, MESSAGE, RECOVERED, UPDATED, COMMAND];

/** When operations are done: at the problem, at its end, at changes by users. */
export type Mode = "operations" | "recoveries" | "updates";

/** Whether operations have steps, and actions an escalation: hosts that are found happen once. */
export const hasSteps = (source: ActionSource) =>
  source !== EventSource.Discovery && source !== EventSource.Autoregistration;

/** Whether scripts run on hosts: services have none, so their scripts run on the server. */
export const runsOnHosts = (source: ActionSource) => source !== EventSource.Service;

/** The operations that a form offers, as kind and name. */
export function offeredOperations(source: ActionSource, mode: Mode): readonly Offered[] {
  const direct = source === EventSource.Internal ? [MESSAGE] : [MESSAGE, COMMAND];
  if (mode === "recoveries") return [RECOVERED, ...direct];
  if (mode === "updates") return [UPDATED, ...direct];
  return hasSteps(source) ? direct : [...ON_HOSTS, ...direct];
}

export function operationName(type: string): string {
  return ALL_OPERATIONS.find(([known]) => known === type)?.[1] ?? `Operation ${type}`;
}

export function operationNeed(type: string): OperationNeed {
  return ALL_OPERATIONS.find(([known]) => known === type)?.[2];
}
