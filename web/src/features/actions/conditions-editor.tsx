import { useQuery } from "@tanstack/react-query";
import { networkRulesQuery } from "~/api/network";
import { EvalType, EventSource } from "~/api/schema";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { Input, Select, TextField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import {
  type ActionCondition,
  type ActionSource,
  conditionKind,
  conditionKinds,
  operatorName,
  type ValueKind,
} from "~/util/actions";
import { checkWords } from "~/util/network";
import { replaced, without } from "~/util/rows";
import { type ActionDraft, letterOf, newCondition } from "./draft";
import { texts } from "./texts";

const JOINS = [
  ["0", "And/or"],
  ["1", "And"],
  ["2", "Or"],
  ["3", "Formula"],
] as const;

/** Rules and checks by `rule id` and `check id`, for texts and choices. */
export function useRuleNames(source: ActionSource): ReadonlyMap<string, string> {
  const { data = [] } = useQuery({
    ...networkRulesQuery(),
    enabled: source === EventSource.Discovery,
  });
  const names = new Map<string, string>();
  for (const rule of data) {
    names.set(`rule ${rule.druleid}`, rule.name);
    for (const check of rule.dchecks) {
      names.set(`check ${check.dcheckid}`, `${rule.name}: ${checkWords(check)}`);
    }
  }
  return names;
}

interface ValueProps {
  kind: ValueKind | undefined;
  hint?: string;
  value: string;
  onChange: (value: string) => void;
  names: ReadonlyMap<string, string>;
}

function Value({ kind, hint, value, onChange, names }: ValueProps) {
  if (kind === undefined || kind === "text") {
    return (
      <Input
        aria-label={texts.conditionValue}
        placeholder={hint}
        maxLength={255}
        value={value}
        onChange={(e) => onChange(e.target.value)}
      />
    );
  }
  const named = [...names].flatMap(([id, name]) => {
    const [what, number] = id.split(" ");
    return what === kind ? [[number ?? "", name] as const] : [];
  });
  const options = typeof kind === "string" ? [["", "Choose…"] as const, ...named] : kind;
  return (
    <Select
      aria-label={texts.conditionValue}
      options={options}
      value={value}
      onChange={(e) => onChange(e.target.value)}
    />
  );
}

interface ConditionsEditorProps {
  source: ActionSource;
  draft: ActionDraft;
  set: (next: Partial<ActionDraft>) => void;
  problems: Record<string, string>;
}

/** When the action applies. */
export function ConditionsEditor({ source, draft, set, problems }: ConditionsEditorProps) {
  const names = useRuleNames(source);
  const { conditions } = draft;
  const change = (at: number, next: ActionCondition) =>
    set({ conditions: replaced(conditions, at, next) });
  const kinds = conditionKinds(source).map(({ type, name }) => [type, name] as const);
  return (
    <div className="flex flex-col gap-2">
      {conditions.length === 0 && (
        <p className="text-xs text-faint">{texts.withoutConditionsTheAction}</p>
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
        const kind = conditionKind(source, condition.conditiontype);
        return (
          <div
            // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
            key={at}
            className="grid grid-cols-[1rem_1fr_2rem] items-center gap-2 sm:grid-cols-[1rem_11rem_9rem_1fr_2rem]"
          >
            <span className="text-xs text-faint">{letterOf(at)}</span>
            <Select
              aria-label={texts.condition}
              options={kinds}
              value={condition.conditiontype}
              onChange={(e) => change(at, newCondition(source, e.target.value))}
            />
            <Select
              aria-label={texts.conditionOperator}
              className="max-sm:col-start-2"
              options={(kind?.operators ?? []).map((one) => [one, operatorName(one)] as const)}
              value={condition.operator}
              onChange={(e) => change(at, { ...condition, operator: e.target.value })}
            />
            <span className="max-sm:col-start-2">
              <Value
                kind={kind?.value}
                hint={kind?.hint}
                value={condition.value}
                onChange={(value) => change(at, { ...condition, value })}
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
