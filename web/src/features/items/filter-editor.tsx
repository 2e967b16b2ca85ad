import type { RuleFilter } from "~/api/item-config";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { Input, Select } from "~/ui/field";
import { BY_FORMULA, hasValue, newCondition } from "./rule-filter";
import { texts } from "./texts";

const EVALTYPES = [
  ["0", "And/or (by macro)"],
  ["1", "And"],
  ["2", "Or"],
  [BY_FORMULA, "Formula"],
] as const;
const OPERATORS = [
  ["8", "matches"],
  ["9", "does not match"],
  ["12", "exists"],
  ["13", "does not exist"],
] as const;

interface FilterEditorProps {
  filter: RuleFilter;
  onChange: (filter: RuleFilter) => void;
}

/** Conditions on discovery macros, of a rule or of an override. */
export function FilterEditor({ filter, onChange }: FilterEditorProps) {
  const { conditions } = filter;
  return (
    <div className="flex flex-col gap-2">
      {conditions.length > 1 && (
        <div className="grid gap-2 sm:grid-cols-2">
          <Select
            aria-label={texts.typeOfCalculation}
            options={EVALTYPES}
            value={filter.evaltype}
            onChange={(e) => onChange({ ...filter, evaltype: e.target.value })}
          />
          {filter.evaltype === BY_FORMULA && (
            <Input
              aria-label={texts.formula}
              placeholder={texts.aAndBOr}
              value={filter.formula}
              onChange={(e) => onChange({ ...filter, formula: e.target.value })}
            />
          )}
        </div>
      )}
      <RowsEditor
        word={texts.condition}
        rows={conditions}
        onChange={(next) => onChange({ ...filter, conditions: next })}
        fresh={() => newCondition(conditions)}
        columns="grid-cols-[1rem_1fr_9rem_1fr_2rem] items-center"
      >
        {(condition, set) => (
          <>
            <span className="text-xs text-faint">{condition.formulaid}</span>
            <Input
              aria-label={texts.macro}
              placeholder={texts.lldMacroExample}
              className="font-mono text-xs"
              value={condition.macro}
              onChange={(e) => set({ macro: e.target.value })}
            />
            <Select
              aria-label={texts.operator}
              options={OPERATORS}
              value={condition.operator}
              onChange={(e) => set({ operator: e.target.value })}
            />
            {hasValue(condition) ? (
              <Input
                aria-label={texts.regularExpression}
                placeholder={texts.regularExpressionWord}
                className="font-mono text-xs"
                value={condition.value}
                onChange={(e) => set({ value: e.target.value })}
              />
            ) : (
              <span />
            )}
          </>
        )}
      </RowsEditor>
    </div>
  );
}
