import type { ActionOperation, OnCallRecipient } from "~/api/actions";
import {
  ConditionKind,
  ConditionOperator,
  EvalType,
  EventSource,
  OperationKind,
} from "~/api/schema";
import { type ActionSource, hasSteps, type Mode, operationNeed, runsOnHosts } from "~/util/actions";
import type { Tag } from "~/util/tags";
import { periodSeconds } from "~/util/time";

/** An operation as the form holds it: the members that its type needs are used. */
export interface OperationDraft {
  type: string;
  groups: string[];
  templates: string[];
  tags: Tag[];
  inventory: string;
  users: string[];
  userGroups: string[];
  onCall: OnCallRecipient[];
  /** "0" = all. */
  mediaType: string;
  ownText: boolean;
  subject: string;
  message: string;
  /** First and last step; "0" as the last: until the problem ends. */
  from: string;
  to: string;
  /** Of its steps; "" = as long as the action's. */
  period: string;
  /** Which problems it is for: "" all, "0" unacknowledged, "1" acknowledged, "0,1" conditions of both kinds. */
  acknowledged: string;
  /** How conditions of both kinds are joined. */
  evaltype: string;
  /** Of operations that run a script; "" = none chosen yet. */
  script: string;
  /** The script runs on the host of the event. */
  currentHost: boolean;
  targetHosts: string[];
  targetGroups: string[];
}

export function newOperation(type: string, step = "1"): OperationDraft {
  return {
    type,
    groups: [],
    templates: [],
    tags: [{ tag: "", value: "" }],
    inventory: "1",
    users: [],
    userGroups: [],
    onCall: [],
    mediaType: "0",
    ownText: false,
    subject: "",
    message: "",
    from: step,
    to: step,
    period: "",
    acknowledged: "",
    evaltype: EvalType.AndOr,
    script: "",
    currentHost: true,
    targetHosts: [],
    targetGroups: [],
  };
}

/** The id that stands for the host of the event. */
const CURRENT = "0";

export function operationDraft(operation: ActionOperation): OperationDraft {
  const { operationtype, opmessage, esc_period = "0" } = operation;
  const targets = operation.opcommand_hst?.map((one) => one.hostid) ?? [];
  return {
    type: operationtype,
    groups: operation.opgroup?.map((one) => one.groupid) ?? [],
    templates: operation.optemplate?.map((one) => one.templateid) ?? [],
    tags: operation.optag ?? [],
    inventory: operation.opinventory?.inventory_mode ?? "1",
    users: operation.opmessage_usr?.map((one) => one.userid) ?? [],
    userGroups: operation.opmessage_grp?.map((one) => one.usrgrpid) ?? [],
    onCall: operation.opmessage_oncall?.map(({ scheduleid, who }) => ({ scheduleid, who })) ?? [],
    mediaType: opmessage?.mediatypeid ?? "0",
    ownText: opmessage?.default_msg === "0",
    subject: opmessage?.subject ?? "",
    message: opmessage?.message ?? "",
    from: operation.esc_step_from ?? "1",
    to: operation.esc_step_to ?? "1",
    period: periodSeconds(esc_period) === 0 ? "" : esc_period,
    acknowledged: operation.opconditions?.map(({ value }) => value).join(",") ?? "",
    evaltype: operation.evaltype ?? EvalType.AndOr,
    script: operation.opcommand?.scriptid ?? "",
    currentHost: targets.includes(CURRENT),
    targetHosts: targets.filter((id) => id !== CURRENT),
    targetGroups: operation.opcommand_grp?.map((one) => one.groupid) ?? [],
  };
}

const PERIOD_MIN = 60;
const PERIOD_MAX = 604_800;
const STEP_MAX = 99_999;

/** What is wrong with the duration of a step; macros have a duration when they are used. */
export function periodProblem(text: string): string | undefined {
  if (text.trim().startsWith("{$")) return undefined;
  const seconds = periodSeconds(text);
  if (seconds !== null && seconds >= PERIOD_MIN && seconds <= PERIOD_MAX) return undefined;
  return "Enter a step duration from 1m to 7d.";
}

const isStep = (text: string, min: number) =>
  /^\d+$/.test(text.trim()) && Number(text) >= min && Number(text) <= STEP_MAX;

/** What is wrong with the steps of an operation. */
function stepProblem({ from, to, period }: OperationDraft): string | undefined {
  if (!isStep(from, 1)) return "Enter the first step, from 1.";
  if (!isStep(to, 0)) return "Enter the last step, or 0 for no end.";
  if (Number(to) !== 0 && Number(to) < Number(from))
    return "The last step must not be before the first.";
  return period.trim() ? periodProblem(period) : undefined;
}

export function operationProblem(
  draft: OperationDraft,
  source: ActionSource,
  mode: Mode,
): string | undefined {
  const need = operationNeed(draft.type);
  if (need === "opgroup" && draft.groups.length === 0) return "Choose host groups.";
  if (need === "optemplate" && draft.templates.length === 0) return "Choose templates.";
  if (need === "optag" && draft.tags.every((tag) => !tag.tag.trim()))
    return "Add at least one tag.";
  if (need === "message") {
    if (draft.onCall.some(({ scheduleid }) => !scheduleid)) return "Choose each on-call schedule.";
    if (draft.users.length + draft.userGroups.length + draft.onCall.length === 0)
      return "Choose users or user groups.";
  }
  if ((need === "message" || need === "involved") && draft.ownText && !draft.message.trim())
    return "Enter a message.";
  if (need === "command") {
    if (!draft.script) return "Choose a script.";
    const targets = draft.targetHosts.length + draft.targetGroups.length;
    if (runsOnHosts(source) && !draft.currentHost && targets === 0)
      return "Choose where the script runs.";
  }
  return mode === "operations" && hasSteps(source) ? stepProblem(draft) : undefined;
}

function textParams({ ownText, subject, message }: OperationDraft) {
  return ownText ? { default_msg: "0", subject, message } : { default_msg: "1" };
}

/** The script and its targets; those of services have none, not even an empty list. */
function commandParams(draft: OperationDraft, source: ActionSource): Partial<ActionOperation> {
  const opcommand = { scriptid: draft.script };
  if (!runsOnHosts(source)) return { opcommand };
  const hosts = [...(draft.currentHost ? [CURRENT] : []), ...draft.targetHosts];
  const groups = draft.targetGroups;
  return {
    opcommand,
    opcommand_hst: hosts.length > 0 ? hosts.map((hostid) => ({ hostid })) : undefined,
    opcommand_grp: groups.length > 0 ? groups.map((groupid) => ({ groupid })) : undefined,
  };
}

/** What an operation of this kind has of its own. */
function ofKind(draft: OperationDraft, source: ActionSource): Partial<ActionOperation> {
  const { mediaType } = draft;
  switch (operationNeed(draft.type)) {
    case "message":
      return {
        opmessage: { ...textParams(draft), mediatypeid: mediaType },
        opmessage_grp: draft.userGroups.map((usrgrpid) => ({ usrgrpid })),
        opmessage_usr: draft.users.map((userid) => ({ userid })),
        opmessage_oncall: draft.onCall.length > 0 ? draft.onCall : undefined,
      };
    case "involved":
      return {
        opmessage:
          mediaType === "0" ? textParams(draft) : { ...textParams(draft), mediatypeid: mediaType },
      };
    case "command":
      return commandParams(draft, source);
    case "opgroup":
      return { opgroup: draft.groups.map((groupid) => ({ groupid })) };
    case "optemplate":
      return { optemplate: draft.templates.map((templateid) => ({ templateid })) };
    case "optag":
      return { optag: draft.tags.filter((tag) => tag.tag.trim()) };
    case "opinventory":
      return { opinventory: { inventory_mode: draft.inventory } };
    default:
      return {};
  }
}

/** Steps, and for problems of triggers the condition. */
function stepParams(draft: OperationDraft, source: ActionSource): Partial<ActionOperation> {
  const steps = {
    esc_period: draft.period.trim() || "0",
    esc_step_from: draft.from.trim(),
    esc_step_to: draft.to.trim(),
  };
  if (source !== EventSource.Trigger) return steps;
  const conditions = draft.acknowledged
    .split(",")
    .filter(Boolean)
    .map((value) => ({
      conditiontype: ConditionKind.Acknowledged,
      operator: ConditionOperator.Equals,
      value,
    }));
  return { ...steps, evaltype: draft.evaltype, opconditions: conditions };
}

export function operationParams(
  draft: OperationDraft,
  source: ActionSource,
  mode: Mode,
): ActionOperation {
  const steps = mode === "operations" && hasSteps(source) ? stepParams(draft, source) : {};
  return { operationtype: draft.type, ...ofKind(draft, source), ...steps };
}

/** The first step after all others. */
export function nextStep(operations: readonly OperationDraft[]): string {
  const last = Math.max(0, ...operations.map(({ from, to }) => Math.max(+from || 0, +to || 0)));
  return String(last + 1);
}

/** The operation that a new action begins with. */
export const firstOperation = (source: ActionSource) =>
  newOperation(hasSteps(source) ? OperationKind.Message : OperationKind.AddHost);
