import type { FilterCondition, RuleFilter } from "~/api/item-config";
import { MacroOperator } from "~/api/schema";

export const NO_FILTER: RuleFilter = { evaltype: "0", formula: "", conditions: [] };

/** `evaltype` whose formula a person writes. */
export const BY_FORMULA = "3";

/** The name of the n-th condition in formulas: A, B … Z, AA, AB … */
function formulaId(n: number): string {
  const letter = String.fromCharCode(65 + (n % 26));
  return n < 26 ? letter : formulaId(Math.floor(n / 26) - 1) + letter;
}

/** A new condition, under the first name that no other has. */
export function newCondition(conditions: readonly FilterCondition[]): FilterCondition {
  const used = new Set(conditions.map((condition) => condition.formulaid));
  let n = 0;
  while (used.has(formulaId(n))) n += 1;
  return { macro: "", value: "", operator: "8", formulaid: formulaId(n) };
}

/** Does the operator compare with a value? 8 matches, 9 does not match. */
export function hasValue({ operator }: Pick<FilterCondition, "operator">): boolean {
  return operator === MacroOperator.Matches || operator === MacroOperator.NotMatches;
}

/** The filter as the API takes it; lines without a macro are left out. */
export function filterParams({ evaltype, formula, conditions }: RuleFilter): object {
  const byFormula = evaltype === BY_FORMULA;
  return {
    evaltype,
    formula: byFormula ? formula : undefined,
    conditions: conditions
      .filter((condition) => condition.macro.trim())
      .map((condition) => ({
        macro: condition.macro.trim(),
        value: hasValue(condition) ? condition.value : undefined,
        operator: condition.operator,
        formulaid: byFormula ? condition.formulaid : undefined,
      })),
  };
}
