import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type Correlation, deleteCorrelations, saveCorrelation } from "~/api/correlations";
import { EvalType } from "~/api/schema";
import { ObjectForm } from "~/shared/forms/object-form";
import { AddButton } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { GroupPicker } from "~/shared/pickers";
import { IconButton } from "~/ui/button";
import { Checkbox, Input, Select, TextareaField, TextField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import {
  CONDITIONS,
  type ConditionDraft,
  CorrelationCondition,
  newCorrelationCondition,
  operatorsOf,
} from "~/util/correlation";
import { patched, without } from "~/util/rows";
import {
  type CorrelationDraft,
  closesAnyOld,
  correlationDraft,
  correlationParams,
  correlationProblems,
  letterOf,
} from "./draft";
import { texts } from "./texts";

const JOINS = [
  ["0", "And/or"],
  ["1", "And"],
  ["2", "Or"],
  ["3", "Formula"],
] as const;

interface PartProps {
  draft: CorrelationDraft;
  set: (next: Partial<CorrelationDraft>) => void;
  problems: Record<string, string>;
}

interface ConditionProps {
  condition: ConditionDraft;
  set: (next: Partial<ConditionDraft>) => void;
}

/** The boxes of a condition by its type. */
function Boxes({ condition, set }: ConditionProps) {
  const { type } = condition;
  const box = (key: "tag" | "oldtag" | "newtag" | "value", label: string) => (
    <Input
      aria-label={label}
      placeholder={label}
      maxLength={255}
      value={condition[key]}
      onChange={(event) => set({ [key]: event.target.value })}
    />
  );
  const operators = operatorsOf(type);
  const operator = operators.length > 0 && (
    <Select
      aria-label={texts.operator}
      options={operators}
      value={condition.operator}
      onChange={(event) => set({ operator: event.target.value })}
    />
  );
  if (type === CorrelationCondition.TagPair)
    return (
      <>
        {box("oldtag", texts.oldTag)}
        {box("newtag", texts.newTag)}
      </>
    );
  if (type === CorrelationCondition.NewHostGroup)
    return (
      <>
        {operator}
        <GroupPicker
          of="host"
          field
          values={condition.groupid ? [condition.groupid] : []}
          onChange={(ids) => set({ groupid: ids.at(-1) ?? "" })}
        />
      </>
    );
  return (
    <>
      {box("tag", texts.tag)}
      {operator}
      {operator && box("value", texts.value)}
    </>
  );
}

function Conditions({ draft, set, problems }: PartProps) {
  const { conditions } = draft;
  const change = (at: number, next: Partial<ConditionDraft>) =>
    set({ conditions: patched(conditions, at, next) });
  return (
    <FormSection title={texts.conditions} note={texts.conditionsNote}>
      {conditions.length > 1 && (
        <Segmented
          label={texts.joins}
          value={JOINS.find(([join]) => join === draft.evaltype)?.[0] ?? "0"}
          onChange={(evaltype) => set({ evaltype })}
          options={JOINS}
        />
      )}
      {conditions.map((condition, at) => (
        <div
          // biome-ignore lint/suspicious/noArrayIndexKey: lines have no identity but their place
          key={at}
          className="grid grid-cols-[1rem_minmax(0,1fr)_2rem] items-start gap-2 sm:grid-cols-[1rem_12rem_minmax(0,1fr)_2rem]"
        >
          <span className="pt-2 text-xs text-faint">{letterOf(at)}</span>
          <Select
            aria-label={texts.condition}
            options={CONDITIONS}
            value={condition.type}
            onChange={(event) => change(at, newCorrelationCondition(event.target.value))}
          />
          <span className="grid gap-2 max-sm:col-start-2 sm:auto-cols-fr sm:grid-flow-col">
            <Boxes condition={condition} set={(next) => change(at, next)} />
          </span>
          <IconButton
            icon="trash"
            label={texts.removeCondition}
            className="max-sm:col-start-3 max-sm:row-start-1"
            onClick={() => set({ conditions: without(conditions, at) })}
          />
          {problems[`condition${at}`] && (
            <p className="col-span-full text-xs text-bad-ink">{problems[`condition${at}`]}</p>
          )}
        </div>
      ))}
      {draft.evaltype === EvalType.Formula && (
        <TextField
          label={texts.formula}
          hint={texts.formulaHint}
          error={problems.formula}
          value={draft.formula}
          onChange={(formula) => set({ formula })}
        />
      )}
      <AddButton onClick={() => set({ conditions: [...conditions, newCorrelationCondition()] })}>
        {texts.addCondition}
      </AddButton>
      {problems.conditions && <p className="text-xs text-bad-ink">{problems.conditions}</p>}
    </FormSection>
  );
}

function Operations({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.operations} note={texts.operationsNote}>
      <div className="flex flex-col gap-2">
        <Checkbox
          label={texts.closeOld}
          checked={draft.closeOld}
          onChange={(event) => set({ closeOld: event.target.checked })}
        />
        <Checkbox
          label={texts.closeNew}
          checked={draft.closeNew}
          onChange={(event) => set({ closeNew: event.target.checked })}
        />
        {problems.operations && <p className="text-xs text-bad-ink">{problems.operations}</p>}
        {closesAnyOld(draft) && <p className="text-xs text-bad-ink">{texts.oldRisk}</p>}
      </div>
    </FormSection>
  );
}

/** Creates or edits a correlation. */
export function CorrelationForm({ correlation }: { correlation: Correlation | null }) {
  const drafting = useDraft(() => correlationDraft(correlation), correlationProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["correlations"] });
    void navigate({ to: "/correlation" });
  };
  const id = correlation?.correlationid ?? null;
  const part = { draft, set, problems };
  return (
    <ObjectForm
      word={texts.correlationWord}
      drafting={drafting}
      isNew={id === null}
      save={() => saveCorrelation(id, correlationParams(draft))}
      onSaved={leave}
      remove={() => deleteCorrelations([id ?? ""])}
      onDeleted={leave}
      loss={texts.lossOnDelete}
    >
      <FormSection title={texts.general}>
        <TextField
          label={texts.name}
          required
          error={problems.name}
          autoFocus={id === null}
          maxLength={255}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <TextareaField
          label={texts.description}
          rows={2}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
        <Checkbox
          label={texts.enabled}
          checked={draft.on}
          onChange={(event) => set({ on: event.target.checked })}
        />
      </FormSection>
      <Conditions {...part} />
      <Operations {...part} />
    </ObjectForm>
  );
}
