import type { Service, ServiceInput, StatusRule, TagCondition } from "~/api/services";
import { limitUnit, Propagation } from "~/util/services";
import { type Tag, tagParams } from "~/util/tags";

/** A service as the form holds it. */
export interface ServiceDraft {
  name: string;
  description: string;
  sortOrder: string;
  parents: string[];
  children: string[];
  problemTags: TagCondition[];
  tags: Tag[];
  algorithm: string;
  rules: StatusRule[];
  propagation: string;
  /** Of Increase by and Decrease by. */
  by: string;
  /** Of Fixed status. */
  fixed: string;
  weight: string;
}

export function serviceDraft(row: Service | null, parentid?: string): ServiceDraft {
  const rule = row?.propagation_rule ?? Propagation.AsIs;
  const value = row?.propagation_value ?? "0";
  const isFixed = rule === Propagation.Fixed;
  const isBy = rule === Propagation.Increase || rule === Propagation.Decrease;
  return {
    name: row?.name ?? "",
    description: row?.description ?? "",
    sortOrder: row?.sortorder ?? "0",
    parents: row ? row.parents.map((one) => one.serviceid) : parentid ? [parentid] : [],
    children: row?.children.map((one) => one.serviceid) ?? [],
    problemTags:
      row?.problem_tags.map(({ tag, operator, value }) => ({ tag, operator, value })) ?? [],
    tags: row?.tags.map(({ tag, value }) => ({ tag, value })) ?? [],
    algorithm: row?.algorithm ?? "2",
    rules: row?.status_rules ?? [],
    propagation: rule,
    by: isBy ? value : "1",
    fixed: isFixed ? value : "5",
    weight: row?.weight ?? "0",
  };
}

/** A status rule to begin with: any child with a problem. */
export const NEW_RULE: StatusRule = {
  type: "0",
  limit_value: "1",
  limit_status: "3",
  new_status: "4",
};

const isWhole = (text: string, min: number, max: number) =>
  /^\d+$/.test(text.trim()) && Number(text) >= min && Number(text) <= max;

function ruleProblem({ type, limit_value }: StatusRule): string | undefined {
  const isPercent = limitUnit(type) === "%";
  if (isWhole(limit_value, 1, isPercent ? 100 : 1_000_000)) return undefined;
  return isPercent ? "Enter a percentage from 1 to 100." : "Enter a number from 1 to 1000000.";
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function serviceProblems(draft: ServiceDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (!isWhole(draft.sortOrder, 0, 999)) problems.sortOrder = "Enter a number from 0 to 999.";
  if (!isWhole(draft.weight, 0, 1_000_000)) problems.weight = "Enter a number from 0 to 1000000.";
  if (draft.parents.some((id) => draft.children.includes(id)))
    problems.children = "A service cannot be both above and below.";
  if (draft.children.length > 0 && draft.problemTags.some(({ tag }) => tag.trim()))
    problems.problemTags = "A service has problem tags or child services, not both.";
  for (const [n, rule] of draft.rules.entries()) {
    const problem = ruleProblem(rule);
    if (problem) problems[`rule${n}`] = problem;
  }
  return problems;
}

function propagationValue({ propagation, by, fixed }: ServiceDraft): string {
  if (propagation === Propagation.Fixed) return fixed;
  return propagation === Propagation.Increase || propagation === Propagation.Decrease ? by : "0";
}

/** A draft without problems, as `service.create` and `service.update` take it. */
export function serviceParams(draft: ServiceDraft): ServiceInput {
  const refs = (ids: readonly string[]) => ids.map((serviceid) => ({ serviceid }));
  return {
    name: draft.name.trim(),
    description: draft.description,
    sortorder: draft.sortOrder.trim(),
    weight: draft.weight.trim(),
    algorithm: draft.algorithm,
    propagation_rule: draft.propagation,
    propagation_value: propagationValue(draft),
    tags: tagParams(draft.tags),
    problem_tags: draft.problemTags
      .filter((one) => one.tag.trim())
      .map(({ tag, operator, value }) => ({ tag: tag.trim(), operator, value })),
    status_rules: draft.rules.map(({ type, limit_value, limit_status, new_status }) => ({
      type,
      limit_value: limit_value.trim(),
      limit_status,
      new_status,
    })),
    parents: refs(draft.parents),
    children: refs(draft.children),
  };
}
