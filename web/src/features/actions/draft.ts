import type { Action } from "~/api/actions";
import type { Members } from "~/api/methods";
import { ConditionKind, EvalType, EventSource, OperationKind, Status } from "~/api/schema";
import {
  type ActionCondition,
  type ActionSource,
  conditionKind,
  conditionKinds,
  hasSteps,
  type Mode,
} from "~/util/actions";
import { modesOf } from "~/util/event-sources";
import {
  firstOperation,
  newOperation,
  type OperationDraft,
  operationDraft,
  operationParams,
  operationProblem,
  periodProblem,
} from "./operation-draft";
import { type QuietDraft, quietDraft, quietParams, quietProblems } from "./quiet-draft";

/** An action as the form holds it. */
export interface ActionDraft extends QuietDraft {
  name: string;
  on: boolean;
  evaltype: string;
  formula: string;
  conditions: ActionCondition[];
  operations: OperationDraft[];
  recoveries: OperationDraft[];
  updates: OperationDraft[];
  /** How long a step lasts. */
  period: string;
  pauseSuppressed: boolean;
  pauseSymptoms: boolean;
  notifyCanceled: boolean;
}

/** A condition to begin with. */
export function newCondition(source: ActionSource, type?: string): ActionCondition {
  const kind = conditionKind(source, type ?? "") ?? conditionKinds(source)[0];
  const value = Array.isArray(kind?.value) ? (kind.value[0]?.[0] ?? "") : "";
  return { conditiontype: kind?.type ?? "", operator: kind?.operators[0] ?? "0", value };
}

/** The modes of operations that actions of a source have. */
export function modes(source: ActionSource): readonly Mode[] {
  const all = ["operations", "recoveries", "updates"] as const;
  return all.slice(0, modesOf(source).length);
}

/** A new action tells the end and changes of a problem to those who heard of it. */
function newDraft(source: ActionSource): ActionDraft {
  const has = modes(source);
  return {
    name: "",
    on: true,
    evaltype: "0",
    formula: "",
    conditions: [],
    operations: [firstOperation(source)],
    recoveries: has.includes("recoveries") ? [newOperation(OperationKind.NotifyRecovered)] : [],
    updates: has.includes("updates") ? [newOperation(OperationKind.NotifyUpdated)] : [],
    period: "1h",
    pauseSuppressed: true,
    pauseSymptoms: true,
    notifyCanceled: true,
    ...quietDraft(null),
  };
}

export function actionDraft(action: Action | null, source: ActionSource): ActionDraft {
  if (!action) return newDraft(source);
  return {
    name: action.name,
    on: action.status === Status.Enabled,
    evaltype: action.filter.evaltype,
    formula: action.filter.formula,
    conditions: action.filter.conditions.map(({ conditiontype, operator, value, value2 }) => ({
      conditiontype,
      operator,
      value,
      value2,
    })),
    operations: action.operations.map(operationDraft),
    recoveries: action.recovery_operations.map(operationDraft),
    updates: action.update_operations.map(operationDraft),
    period: action.esc_period,
    pauseSuppressed: action.pause_suppressed === "1",
    pauseSymptoms: action.pause_symptoms === "1",
    notifyCanceled: action.notify_if_canceled === "1",
    ...quietDraft(action),
  };
}

/** The letter of the condition at this place. */
export const letterOf = (at: number) => String.fromCharCode(65 + at);

/** Whether a condition lacks what it is compared with. */
function isIncomplete(source: ActionSource, condition: ActionCondition): boolean {
  const kind = conditionKind(source, condition.conditiontype);
  if (kind?.value === "none") return false;
  if (kind?.value === "tag") return !condition.value2?.trim();
  // A received value may be empty; everything else says something.
  return condition.conditiontype !== ConditionKind.ReceivedValue && !condition.value.trim();
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function actionProblems(draft: ActionDraft, source: ActionSource): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (draft.evaltype === EvalType.Formula && !draft.formula.trim()) {
    problems.formula = "Enter a formula, such as A and (B or C).";
  }
  for (const [n, condition] of draft.conditions.entries())
    if (isIncomplete(source, condition))
      problems[`condition${n}`] = `Enter a value for condition ${letterOf(n)}.`;
  const period = hasSteps(source) ? periodProblem(draft.period) : undefined;
  if (period) problems.period = period;
  if (source === EventSource.Trigger) Object.assign(problems, quietProblems(draft));
  const has = modes(source);
  if (has.every((mode) => draft[mode].length === 0))
    problems.operations = "Add at least one operation.";
  for (const mode of has)
    for (const [n, operation] of draft[mode].entries()) {
      const problem = operationProblem(operation, source, mode);
      if (problem) problems[`${mode}${n}`] = problem;
    }
  return problems;
}

function filterParams(draft: ActionDraft, source: ActionSource) {
  const byFormula = draft.evaltype === EvalType.Formula;
  return {
    evaltype: draft.evaltype,
    formula: byFormula ? draft.formula.trim() : undefined,
    conditions: draft.conditions.map(({ conditiontype, operator, value, value2 }, at) => {
      const kind = conditionKind(source, conditiontype)?.value;
      return {
        conditiontype,
        operator,
        value: kind === "none" ? undefined : value,
        value2: kind === "tag" ? value2 : undefined,
        formulaid: byFormula ? letterOf(at) : undefined,
      };
    }),
  };
}

/** A draft without problems, as `action.create` and `action.update` take it. */
export function actionParams(draft: ActionDraft, source: ActionSource): Members<"action"> {
  const has = modes(source);
  const operations = (mode: Mode) =>
    draft[mode].map((operation) => operationParams(operation, source, mode));
  const flag = (on: boolean) => (on ? "1" : "0");
  const params: Members<"action"> & Record<string, unknown> = {
    name: draft.name.trim(),
    status: draft.on ? Status.Enabled : Status.Disabled,
    filter: filterParams(draft, source),
    operations: operations("operations"),
  };
  if (has.includes("recoveries")) params.recovery_operations = operations("recoveries");
  if (has.includes("updates")) params.update_operations = operations("updates");
  if (hasSteps(source)) params.esc_period = draft.period.trim();
  if (source === EventSource.Trigger) {
    params.pause_suppressed = flag(draft.pauseSuppressed);
    params.pause_symptoms = flag(draft.pauseSymptoms);
    params.notify_if_canceled = flag(draft.notifyCanceled);
    Object.assign(params, quietParams(draft));
  }
  return params;
}
