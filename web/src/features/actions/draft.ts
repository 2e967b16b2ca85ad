import type { Action, ActionOperation } from "~/api/actions";
import type { Members } from "~/api/methods";
import { ConditionKind, EvalType, Status } from "~/api/schema";
import {
  type ActionCondition,
  type ActionSource,
  conditionKind,
  conditionKinds,
  operationNeed,
} from "~/util/actions";
import type { Tag } from "~/util/tags";

/** An operation as the form holds it: the member that its type needs is used. */
export interface OperationDraft {
  type: string;
  groups: string[];
  templates: string[];
  tags: Tag[];
  inventory: string;
}

/** An action as the form holds it. */
export interface ActionDraft {
  name: string;
  on: boolean;
  evaltype: string;
  formula: string;
  conditions: ActionCondition[];
  operations: OperationDraft[];
}

/** A condition to begin with. */
export function newCondition(source: ActionSource, type?: string): ActionCondition {
  const kind = conditionKind(source, type ?? "") ?? conditionKinds(source)[0];
  const value = Array.isArray(kind?.value) ? (kind.value[0]?.[0] ?? "") : "";
  return { conditiontype: kind?.type ?? "", operator: kind?.operators[0] ?? "0", value };
}

export function newOperation(type: string): OperationDraft {
  return { type, groups: [], templates: [], tags: [{ tag: "", value: "" }], inventory: "1" };
}

function operationDraft(operation: ActionOperation): OperationDraft {
  const { operationtype, opgroup, optemplate, optag, opinventory } = operation;
  return {
    type: operationtype,
    groups: opgroup?.map((one) => one.groupid) ?? [],
    templates: optemplate?.map((one) => one.templateid) ?? [],
    tags: optag ?? [],
    inventory: opinventory?.inventory_mode ?? "1",
  };
}

export function actionDraft(action: Action | null): ActionDraft {
  return {
    name: action?.name ?? "",
    on: action ? action.status === Status.Enabled : true,
    evaltype: action?.filter.evaltype ?? "0",
    formula: action?.filter.formula ?? "",
    conditions:
      action?.filter.conditions.map(({ conditiontype, operator, value }) => ({
        conditiontype,
        operator,
        value,
      })) ?? [],
    operations: action?.operations.map(operationDraft) ?? [newOperation("2")],
  };
}

/** The letter of the condition at this place. */
export const letterOf = (at: number) => String.fromCharCode(65 + at);

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function actionProblems(draft: ActionDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (draft.evaltype === EvalType.Formula && !draft.formula.trim()) {
    problems.formula = "Enter a formula, such as A and (B or C).";
  }
  for (const [n, condition] of draft.conditions.entries()) {
    // A received value may be empty; everything else says something.
    if (condition.conditiontype !== ConditionKind.ReceivedValue && !condition.value.trim()) {
      problems[`condition${n}`] = `Enter a value for condition ${letterOf(n)}.`;
    }
  }
  if (draft.operations.length === 0) problems.operations = "Add at least one operation.";
  for (const [n, { type, groups, templates, tags }] of draft.operations.entries()) {
    const need = operationNeed(type);
    const missing =
      (need === "opgroup" && groups.length === 0 && "Choose host groups.") ||
      (need === "optemplate" && templates.length === 0 && "Choose templates.") ||
      (need === "optag" && tags.every((tag) => !tag.tag.trim()) && "Add at least one tag.");
    if (missing) problems[`operation${n}`] = missing;
  }
  return problems;
}

function operationParams({ type, groups, templates, tags, inventory }: OperationDraft): object {
  const members = { operationtype: type };
  switch (operationNeed(type)) {
    case "opgroup":
      return { ...members, opgroup: groups.map((groupid) => ({ groupid })) };
    case "optemplate":
      return { ...members, optemplate: templates.map((templateid) => ({ templateid })) };
    case "optag":
      return { ...members, optag: tags.filter((tag) => tag.tag.trim()) };
    case "opinventory":
      return { ...members, opinventory: { inventory_mode: inventory } };
    default:
      return members;
  }
}

/** A draft without problems, as `action.create` and `action.update` take it. */
export function actionParams(draft: ActionDraft): Members<"action"> {
  const byFormula = draft.evaltype === EvalType.Formula;
  return {
    name: draft.name.trim(),
    status: draft.on ? "0" : "1",
    filter: {
      evaltype: draft.evaltype,
      formula: byFormula ? draft.formula.trim() : undefined,
      conditions: draft.conditions.map((condition, at) => ({
        ...condition,
        formulaid: byFormula ? letterOf(at) : undefined,
      })),
    },
    operations: draft.operations.map(operationParams),
  };
}
