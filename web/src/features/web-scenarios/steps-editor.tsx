import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { moved, patched, without } from "~/util/rows";
import { NEW_STEP, type StepDraft } from "./draft";
import { texts } from "./texts";

const LINES = "One per line: name: value";
const RETRIEVED: readonly (readonly [string, string])[] = [
  ["0", "Body"],
  ["1", "Headers"],
  ["2", "Body and headers"],
];

interface StepProps {
  step: StepDraft;
  set: (next: Partial<StepDraft>) => void;
  /** What is wrong with a field of it. */
  error: (field: string) => string | undefined;
}

type LinesMember = "query" | "headers" | "variables" | "posts";

function Lines({
  label,
  field,
  hint,
  step,
  set,
  error,
}: StepProps & { label: string; field: LinesMember; hint?: string }) {
  return (
    <TextareaField
      label={label}
      hint={hint ?? LINES}
      error={error(field)}
      rows={2}
      className="font-mono text-xs"
      value={step[field]}
      onChange={(value) => set({ ...step, [field]: value })}
    />
  );
}

function Body(props: StepProps) {
  const { step, set } = props;
  return (
    <div className="flex flex-col gap-2">
      <Segmented
        label={texts.postType}
        value={step.asForm ? "form" : "raw"}
        onChange={(kind) => set({ asForm: kind === "form" })}
        options={[
          ["raw", texts.rawData],
          ["form", texts.formData],
        ]}
      />
      <Lines
        {...props}
        label={step.asForm ? texts.postFields : texts.requestBody}
        field="posts"
        hint={step.asForm ? LINES : texts.leaveEmptyToSend}
      />
    </div>
  );
}

function StepFields(props: StepProps) {
  const { step, set, error } = props;
  const text = (field: "name" | "url" | "required" | "codes" | "timeout", label: string) => (
    <TextField
      label={label}
      required={field === "name" || field === "url"}
      error={error(field)}
      value={step[field]}
      onChange={(value) => set({ ...step, [field]: value })}
    />
  );
  return (
    <>
      <div className="grid gap-4 sm:grid-cols-[1fr_2fr]">
        {text("name", texts.stepName)}
        {text("url", "URL")}
      </div>
      <div className="grid gap-4 sm:grid-cols-2">
        {text("required", texts.requiredText)}
        {text("codes", texts.requiredStatusCodes)}
      </div>
      <details>
        <summary className="cursor-pointer text-xs font-medium text-soft select-none">
          {texts.fieldsHeadersVariablesAnd}
        </summary>
        <div className="flex flex-col gap-4 pt-3">
          <Lines {...props} label={texts.queryFields} field="query" />
          <Body {...props} />
          <Lines
            {...props}
            label={texts.headers}
            field="headers"
            hint={texts.replaceTheScenarioHeaders(LINES)}
          />
          <Lines
            {...props}
            label={texts.variables}
            field="variables"
            hint={texts.nameValueOrNameRegex}
          />
          <div className="grid gap-4 sm:grid-cols-3">
            <SelectField
              label={texts.retrieveMode}
              options={RETRIEVED}
              value={step.retrieve}
              onChange={(retrieve) => set({ retrieve })}
            />
            {text("timeout", texts.timeout)}
            <Checkbox
              label={texts.followRedirects}
              className="self-end pb-1.5"
              checked={step.follow}
              onChange={(e) => set({ follow: e.target.checked })}
            />
          </div>
        </div>
      </details>
    </>
  );
}

interface StepsEditorProps {
  steps: readonly StepDraft[];
  onChange: (steps: StepDraft[]) => void;
  /** Problems of the draft by field, `step0.name`. */
  problems: Record<string, string>;
}

/** The requests of a scenario in their order. */
export function WebStepsEditor({ steps, onChange, problems }: StepsEditorProps) {
  const set = (at: number, next: Partial<StepDraft>) => onChange(patched(steps, at, next));
  return (
    <div className="flex flex-col gap-3">
      {steps.map((step, i) => (
        <fieldset
          // biome-ignore lint/suspicious/noArrayIndexKey: steps have no identity but their place
          key={i}
          aria-label={texts.stepNumber(i + 1)}
          className="flex flex-col gap-3 rounded-lg border p-3"
        >
          <div className="flex items-center gap-1">
            <span className="tabular flex-1 text-sm font-semibold">{i + 1}</span>
            <IconButton
              small
              icon="up"
              label={texts.moveStepUp(i + 1)}
              disabled={i === 0}
              onClick={() => onChange(moved(steps, i, i - 1))}
            />
            <IconButton
              small
              icon="arrowDown"
              label={texts.moveStepDown(i + 1)}
              disabled={i === steps.length - 1}
              onClick={() => onChange(moved(steps, i, i + 1))}
            />
            <IconButton
              small
              icon="trash"
              label={texts.removeStep(i + 1)}
              onClick={() => onChange(without(steps, i))}
            />
          </div>
          <StepFields
            step={step}
            set={(next) => set(i, next)}
            error={(field) => problems[`step${i}.${field}`]}
          />
        </fieldset>
      ))}
      <AddButton onClick={() => onChange([...steps, { ...NEW_STEP }])}>{texts.addStep}</AddButton>
    </div>
  );
}
