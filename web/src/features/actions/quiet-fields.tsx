import { useQuery } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { problemTagNamesQuery } from "~/api/problems";
import { FormSection } from "~/shared/forms/section";
import { Checkbox, Field, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { groupingWords, HOST, type QuietDraft } from "./quiet-draft";
import { texts } from "./texts";

interface PartProps {
  draft: QuietDraft;
  set: (next: Partial<QuietDraft>) => void;
  problems: Record<string, string>;
}

interface TagNamesProps {
  label: string;
  values: readonly string[];
  onChange: (values: string[]) => void;
  /** The host of the problem can be chosen as well. */
  host?: boolean;
  hint?: string;
  error?: string;
}

/** Names of tags: those of recent problems, or others that are typed. */
function TagNames({ label, values, onChange, host, hint, error }: TagNamesProps) {
  const { data: names = [] } = useQuery(problemTagNamesQuery());
  const chosen = values.filter((name) => name !== HOST && !names.includes(name));
  const options = [...names, ...chosen].map((name) => ({ value: name, label: name }));
  const first = host ? [{ value: HOST, label: texts.hostOfProblem }] : [];
  return (
    <Field label={label} hint={hint} error={error}>
      {(id) => (
        <Pick
          id={id}
          field
          label={label}
          values={values}
          options={[...first, ...options]}
          onChange={onChange}
          onCreate={(name) => !values.includes(name) && onChange([...values, name])}
        />
      )}
    </Field>
  );
}

interface SwitchProps {
  label: string;
  on: boolean;
  onChange: (on: boolean) => void;
  /** What is set if it is on. */
  children?: ReactNode;
}

function Switched({ label, on, onChange, children }: SwitchProps) {
  return (
    <>
      <Checkbox label={label} checked={on} onChange={(event) => onChange(event.target.checked)} />
      {on && children}
    </>
  );
}

function Grouping({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.grouping} note={texts.groupingNote}>
      <Switched label={texts.groups} on={draft.groups} onChange={(groups) => set({ groups })}>
        <TagNames
          label={texts.groupBy}
          host
          hint={texts.groupByHint}
          values={draft.groupBy}
          onChange={(groupBy) => set({ groupBy })}
        />
        <div className="grid gap-4 sm:grid-cols-3">
          <TextField
            label={texts.groupWait}
            error={problems.groupWait}
            value={draft.groupWait}
            onChange={(groupWait) => set({ groupWait })}
          />
          <TextField
            label={texts.groupInterval}
            error={problems.groupInterval}
            value={draft.groupInterval}
            onChange={(groupInterval) => set({ groupInterval })}
          />
          <TextField
            label={texts.groupRepeat}
            hint={texts.groupRepeatHint}
            error={problems.groupRepeat}
            value={draft.groupRepeat}
            onChange={(groupRepeat) => set({ groupRepeat })}
          />
        </div>
        <p className="text-xs text-soft">{groupingWords(draft)}</p>
      </Switched>
    </FormSection>
  );
}

function Inhibition({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.inhibition} note={texts.inhibitionNote}>
      <Switched
        label={texts.inhibits}
        on={draft.inhibits}
        onChange={(inhibits) => set({ inhibits })}
      >
        <TagNames
          label={texts.inhibitTags}
          hint={texts.inhibitTagsHint}
          error={problems.inhibitTags}
          values={draft.inhibitTags}
          onChange={(inhibitTags) => set({ inhibitTags })}
        />
      </Switched>
    </FormSection>
  );
}

function Calm({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.calm} note={texts.calmNote}>
      <Switched
        label={texts.transients}
        on={draft.transients}
        onChange={(transients) => set({ transients })}
      >
        <TextField
          label={texts.maxHold}
          fieldClass="max-w-48"
          hint={texts.maxHoldHint}
          error={problems.maxHold}
          value={draft.maxHold}
          onChange={(maxHold) => set({ maxHold })}
        />
      </Switched>
      <Switched
        label={texts.flapping}
        on={draft.flapping}
        onChange={(flapping) => set({ flapping })}
      >
        <p className="text-xs text-soft">{texts.flappingHint}</p>
      </Switched>
    </FormSection>
  );
}

/** What makes the action quieter: grouping, inhibition, and what was learnt about triggers. */
export function QuietFields(props: PartProps) {
  return (
    <>
      <Grouping {...props} />
      <Inhibition {...props} />
      <Calm {...props} />
    </>
  );
}
