import { EvalType } from "~/api/schema";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { Select, TextField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import {
  type ActionCondition,
  type ActionSource,
  conditionKind,
  conditionKinds,
  operatorName,
} from "~/util/actions";
import { replaced, without } from "~/util/rows";
import { ConditionValue } from "./condition-value";
import { type ActionDraft, letterOf, newCondition } from "./draft";
import { useConditionNames } from "./names";
import { texts } from "./texts";

const JOINS = [
  ["0", "And/or"],
  ["1", "And"],
  ["2", "Or"],
  ["3", "Formula"],
] as const;

interface ConditionsEditorProps {
  source: ActionSource;
  draft: ActionDraft;
  set: (next: Partial<ActionDraft>) => void;
  problems: Record<string, string>;
}

/** When the action applies. */
export function ConditionsEditor({ source, draft, set, problems }: ConditionsEditorProps) {
  const { conditions } = draft;
  const names = useConditionNames(source, conditions);
  const change = (at: number, next: ActionCondition) =>
    set({ conditions: replaced(conditions, at, next) });
  const kinds = conditionKinds(source).map(({ type, name }) => [type, name] as const);
  return (
    <div className="flex flex-col gap-2">
      {conditions.length === 0 && (
        <p className="text-xs text-faint">{texts.withoutConditions(source)}</p>
      )}
      {conditions.length > 1 && (
        <Segmented
          label={texts.typeOfCalculation}
          value={JOINS.find(([join]) => join === draft.evaltype)?.[0] ?? "0"}
          onChange={(evaltype) => set({ evaltype })}
          options={JOINS}
        />
      )}
      {conditions.map((condition, at) => {
        const { conditiontype } = condition;
        const kind = conditionKind(source, conditiontype);
        // A kind that forms do not offer stays.
        const other = kind ? [] : [[conditiontype, texts.conditionNumber(conditiontype)] as const];
        return (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
            key={at}
            className="grid grid-cols-[1rem_1fr_2rem] items-center gap-2 sm:grid-cols-[1rem_11rem_9rem_1fr_2rem]"
          >
            <span className="text-xs text-faint">{letterOf(at)}</span>
            <Select
              aria-label={texts.condition}
              options={[...kinds, ...other]}
              value={condition.conditiontype}
              onChange={(e) => change(at, newCondition(source, e.target.value))}
            />
            <Select
              aria-label={texts.conditionOperator}
              className="max-sm:col-start-2"
              options={(kind?.operators ?? [condition.operator]).map(
                (one) => [one, operatorName(one)] as const,
              )}
              value={condition.operator}
              onChange={(e) => change(at, { ...condition, operator: e.target.value })}
            />
            <span className="max-sm:col-start-2">
              <ConditionValue
                kind={kind}
                condition={condition}
                onChange={(next) => change(at, { ...condition, ...next })}
                names={names}
              />
            </span>
            <IconButton
              icon="trash"
              label={texts.removeCondition}
              onClick={() => set({ conditions: without(conditions, at) })}
            />
            {problems[`condition${at}`] && (
              <p className="col-span-full text-xs text-bad-ink">{problems[`condition${at}`]}</p>
            )}
          </div>
        );
      })}
      {draft.evaltype === EvalType.Formula && (
        <TextField
          label={texts.formula}
          error={problems.formula}
          hint={texts.useAndOrNot}
          value={draft.formula}
          onChange={(formula) => set({ formula })}
        />
      )}
      <AddButton onClick={() => set({ conditions: [...conditions, newCondition(source)] })}>
        {texts.addCondition}
      </AddButton>
    </div>
  );
}
