import { ON_FAIL, STEP_KINDS, type StepKind, type StepParam } from "~/api/schema";

export { ON_FAIL, STEP_KINDS, type StepParam };

/** Kinds of steps that discovery rules may have. */
export const RULE_STEPS: ReadonlySet<string> = new Set(
  STEP_KINDS.filter((kind) => kind.forRules).map((kind) => kind.type),
);

export function stepKind(type: string): StepKind | undefined {
  return STEP_KINDS.find((kind) => kind.type === type);
}

/** The parameters of a step as the editor holds them: one text per box. */
export function splitParams(type: string, params: string): string[] {
  const kind = stepKind(type);
  if (!kind || kind.params.length === 0) return [];
  // A script or a list may hold line breaks of its own.
  if (kind.params.length === 1) return [params];
  const parts = params.split("\n");
  return kind.params.map((param, i) => parts[i] ?? param.choices?.[0]?.[0] ?? "");
}

/** The inverse of `splitParams`. */
export function joinParams(type: string, parts: readonly string[]): string {
  const kind = stepKind(type);
  if (!kind) return parts.join("\n");
  return kind.params.map((param, i) => parts[i] ?? param.choices?.[0]?.[0] ?? "").join("\n");
}

/** The empty parameters of a new step. */
export function newParams(type: string): string {
  return joinParams(type, []);
}
