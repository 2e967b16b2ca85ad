import { RowsEditor } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { Input, Select, SelectField, TextField } from "~/ui/field";
import {
  ALGORITHMS,
  limitUnit,
  PROPAGATIONS,
  Propagation,
  RULES,
  SEVERITY_CHOICES,
  STATUSES,
} from "~/util/services";
import { NEW_RULE, type ServiceDraft } from "./draft";
import { texts } from "./texts";

export interface PartProps {
  draft: ServiceDraft;
  set: (next: Partial<ServiceDraft>) => void;
  problems: Record<string, string>;
}

const KINDS = RULES.map(([kind, words]) => [kind, words] as const);
const STEPS = ["1", "2", "3", "4", "5"].map((step) => [step, step] as const);

function Rules({ draft, set, problems }: PartProps) {
  const wrong = draft.rules.flatMap((_, n) => problems[`rule${n}`] ?? []);
  return (
    <fieldset className="flex flex-col gap-1.5">
      <legend className="pb-1 text-xs font-medium text-soft">{texts.rules}</legend>
      <RowsEditor
        word={texts.ruleWord}
        rows={draft.rules}
        onChange={(rules) => set({ rules })}
        fresh={() => NEW_RULE}
        columns="grid-cols-[minmax(0,1fr)_2rem] items-start"
        note={wrong[0] && <p className="text-xs text-bad-ink">{wrong[0]}</p>}
      >
        {(rule, change) => (
          <div className="grid min-w-0 grid-cols-2 gap-2 rounded-md border p-2 sm:grid-cols-[5rem_1fr_2.5rem_1fr] sm:items-center">
            <Select
              aria-label={texts.rule}
              className="col-span-full"
              options={KINDS}
              value={rule.type}
              onChange={(event) => change({ type: event.target.value })}
            />
            <Input
              aria-label={texts.limit(limitUnit(rule.type))}
              inputMode="numeric"
              value={rule.limit_value}
              onChange={(event) => change({ limit_value: event.target.value })}
            />
            <Select
              aria-label={texts.limitStatus}
              options={STATUSES}
              value={rule.limit_status}
              onChange={(event) => change({ limit_status: event.target.value })}
            />
            <span className="self-center text-center text-xs text-soft">{texts.makes}</span>
            <Select
              aria-label={texts.newStatus}
              options={SEVERITY_CHOICES}
              value={rule.new_status}
              onChange={(event) => change({ new_status: event.target.value })}
            />
          </div>
        )}
      </RowsEditor>
      <p className="text-xs text-faint">{texts.rulesNote}</p>
    </fieldset>
  );
}

function Upwards({ draft, set, problems }: PartProps) {
  const { propagation } = draft;
  const isBy = propagation === Propagation.Increase || propagation === Propagation.Decrease;
  return (
    <FormSection title={texts.upwards} note={texts.upwardsNote}>
      <div className="grid gap-4 sm:grid-cols-2">
        <SelectField
          label={texts.propagation}
          options={PROPAGATIONS}
          value={propagation}
          onChange={(next) => set({ propagation: next })}
        />
        {isBy && (
          <SelectField
            label={texts.propagationBy}
            options={STEPS}
            value={draft.by}
            onChange={(by) => set({ by })}
          />
        )}
        {propagation === Propagation.Fixed && (
          <SelectField
            label={texts.propagationTo}
            options={STATUSES}
            value={draft.fixed}
            onChange={(fixed) => set({ fixed })}
          />
        )}
      </div>
      <TextField
        label={texts.weight}
        inputMode="numeric"
        hint={texts.weightHint}
        error={problems.weight}
        fieldClass="max-w-48"
        value={draft.weight}
        onChange={(weight) => set({ weight })}
      />
    </FormSection>
  );
}

/** How the status follows from other services, and what services above see of it. */
export function Calculation(props: PartProps) {
  const { draft, set } = props;
  return (
    <>
      <FormSection title={texts.calculation} note={texts.calculationNote}>
        <SelectField
          label={texts.algorithm}
          options={ALGORITHMS}
          value={draft.algorithm}
          onChange={(algorithm) => set({ algorithm })}
        />
        <Rules {...props} />
      </FormSection>
      <Upwards {...props} />
    </>
  );
}
