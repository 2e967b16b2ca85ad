import type { Correlation, CorrelationConditionRow, CorrelationInput } from "~/api/correlations";
import { EvalType, Status } from "~/api/schema";
import {
  type ConditionDraft,
  CorrelationAction,
  CorrelationCondition,
  newCorrelationCondition,
} from "~/util/correlation";

/** A correlation as the form holds it. */
export interface CorrelationDraft {
  name: string;
  description: string;
  on: boolean;
  evaltype: string;
  formula: string;
  conditions: ConditionDraft[];
  closeOld: boolean;
  closeNew: boolean;
}

export function correlationDraft(row: Correlation | null): CorrelationDraft {
  const does = (type: string) => row?.operations.some((one) => one.type === type) ?? false;
  return {
    name: row?.name ?? "",
    description: row?.description ?? "",
    on: row ? row.status === Status.Enabled : true,
    evaltype: row?.filter.evaltype ?? EvalType.AndOr,
    formula: row?.filter.formula ?? "",
    conditions: row
      ? row.filter.conditions.map(({ formulaid: _, ...one }) => ({
          ...newCorrelationCondition(),
          ...one,
        }))
      : [newCorrelationCondition(CorrelationCondition.TagPair)],
    closeOld: row ? does(CorrelationAction.CloseOld) : true,
    closeNew: does(CorrelationAction.CloseNew),
  };
}

/** The letter of the condition at this place. */
export const letterOf = (at: number) => String.fromCharCode(65 + at);

function isIncomplete({ type, tag, oldtag, newtag, groupid }: ConditionDraft): boolean {
  if (type === CorrelationCondition.NewHostGroup) return !groupid;
  if (type === CorrelationCondition.TagPair) return !oldtag.trim() || !newtag.trim();
  return !tag.trim();
}

const OLD: readonly string[] = [
  CorrelationCondition.OldTag,
  CorrelationCondition.OldTagValue,
  CorrelationCondition.TagPair,
];

/** Whether it closes old problems without saying which. */
export const closesAnyOld = (draft: CorrelationDraft) =>
  draft.closeOld && !draft.conditions.some(({ type }) => OLD.includes(type));

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function correlationProblems(draft: CorrelationDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (draft.conditions.length === 0) problems.conditions = "Add at least one condition.";
  for (const [n, condition] of draft.conditions.entries())
    if (isIncomplete(condition)) problems[`condition${n}`] = `Complete condition ${letterOf(n)}.`;
  if (draft.evaltype === EvalType.Formula && !draft.formula.trim())
    problems.formula = "Enter a formula, such as A and (B or C).";
  if (!draft.closeOld && !draft.closeNew) problems.operations = "Choose at least one operation.";
  return problems;
}

/** The members that a condition of its type has. */
function conditionParams(condition: ConditionDraft): CorrelationConditionRow {
  const { type, operator } = condition;
  const tag = condition.tag.trim();
  switch (type) {
    case CorrelationCondition.NewHostGroup:
      return { type, operator, groupid: condition.groupid };
    case CorrelationCondition.TagPair:
      return { type, oldtag: condition.oldtag.trim(), newtag: condition.newtag.trim() };
    case CorrelationCondition.OldTagValue:
    case CorrelationCondition.NewTagValue:
      return { type, tag, operator, value: condition.value };
    default:
      return { type, tag };
  }
}

/** A draft without problems, as `correlation.create` and `correlation.update` take it. */
export function correlationParams(draft: CorrelationDraft): CorrelationInput {
  const byFormula = draft.evaltype === EvalType.Formula;
  const conditions = draft.conditions.map((condition, at) => ({
    ...conditionParams(condition),
    ...(byFormula ? { formulaid: letterOf(at) } : {}),
  }));
  const operations = [
    ...(draft.closeOld ? [{ type: CorrelationAction.CloseOld }] : []),
    ...(draft.closeNew ? [{ type: CorrelationAction.CloseNew }] : []),
  ];
  return {
    name: draft.name.trim(),
    description: draft.description,
    status: draft.on ? Status.Enabled : Status.Disabled,
    filter: {
      evaltype: draft.evaltype,
      ...(byFormula ? { formula: draft.formula.trim() } : {}),
      conditions,
    },
    operations,
  };
}
