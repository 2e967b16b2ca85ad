import { useState } from "react";
import { FormSection } from "~/shared/forms/section";
import { ManualInput } from "~/shared/scripts/input";
import { Button } from "~/ui/button";
import { Dialog } from "~/ui/dialog";
import { Checkbox, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { InputCheck, inputProblem } from "~/util/scripts";
import { inputRule, type ScriptDraft } from "./draft";
import type { PartProps } from "./kind-fields";
import { texts } from "./texts";

const INPUTS = [
  [InputCheck.Pattern, "Text"],
  [InputCheck.List, "List"],
] as const;

/** Whether the browser can check a regular expression; the server knows more of them. */
function isKnown(pattern: string): boolean {
  try {
    new RegExp(pattern, "u");
    return true;
  } catch {
    return false;
  }
}

/** Tries an input against the rule, as the menu would. */
function InputTest({ draft, onClose }: { draft: ScriptDraft; onClose: () => void }) {
  const rule = inputRule(draft);
  const [value, setValue] = useState(draft.defaultInput);
  const [tried, setTried] = useState(false);
  const problem = inputProblem(rule, value);
  const unknown =
    draft.inputType === InputCheck.Pattern && !isKnown(rule.manualinput_validator.trim());
  return (
    <Dialog
      title={texts.testTitle}
      onClose={onClose}
      footer={
        <>
          <Button onClick={onClose}>{texts.close}</Button>
          <Button look="primary" onClick={() => setTried(true)}>
            {texts.check}
          </Button>
        </>
      }
    >
      {/* Not a form: the page has one around it, which Enter would save. */}
      {/* biome-ignore lint/a11y/noStaticElementInteractions: Enter in the box checks */}
      <div
        className="flex flex-col gap-3"
        onKeyDown={(event) => {
          if (event.key !== "Enter" || event.target instanceof HTMLButtonElement) return;
          event.preventDefault();
          setTried(true);
        }}
      >
        <ManualInput
          prompt={draft.prompt}
          type={draft.inputType}
          validator={rule.manualinput_validator}
          value={value}
          error={tried ? problem : undefined}
          onChange={(next) => {
            setTried(false);
            setValue(next);
          }}
        />
        {tried && (
          <p
            role="status"
            className={unknown ? "text-soft" : problem ? "text-bad-ink" : "text-good-ink"}
          >
            {unknown ? texts.unchecked : problem ? texts.refused : texts.accepted}
          </p>
        )}
        {tried && !problem && draft.confirms && draft.confirmation && (
          <p className="rounded-md bg-sunken px-3 py-2">
            <span className="block text-xs text-soft">{texts.confirmationShown}</span>
            <span className="break-words whitespace-pre-wrap">
              {draft.confirmation.replaceAll("{MANUALINPUT}", value)}
            </span>
          </p>
        )}
      </div>
    </Dialog>
  );
}

function InputFields({ draft, set, problems }: PartProps) {
  const [testing, setTesting] = useState(false);
  const list = draft.inputType === InputCheck.List;
  return (
    <div className="flex flex-col gap-4 border-l-2 pl-4">
      <TextField
        label={texts.prompt}
        required
        error={problems.prompt}
        maxLength={255}
        value={draft.prompt}
        onChange={(prompt) => set({ prompt })}
      />
      <SegmentedField
        label={texts.inputType}
        value={list ? InputCheck.List : InputCheck.Pattern}
        options={INPUTS}
        onChange={(inputType) => set({ inputType })}
      />
      {list ? (
        <TextField
          label={texts.choices}
          required
          hint={texts.choicesHint}
          error={problems.choices}
          maxLength={2048}
          value={draft.choices}
          onChange={(choices) => set({ choices })}
        />
      ) : (
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.validator}
            required
            hint={texts.validatorHint}
            error={problems.validator}
            maxLength={2048}
            value={draft.validator}
            onChange={(validator) => set({ validator })}
          />
          <TextField
            label={texts.defaultValue}
            error={problems.defaultInput}
            maxLength={255}
            value={draft.defaultInput}
            onChange={(defaultInput) => set({ defaultInput })}
          />
        </div>
      )}
      <Button small icon="flask" className="self-start" onClick={() => setTesting(true)}>
        {texts.testInput}
      </Button>
      {testing && <InputTest draft={draft} onClose={() => setTesting(false)} />}
    </div>
  );
}

/** What the menu asks before a script runs. */
export function Questions(props: PartProps) {
  const { draft, set, problems } = props;
  return (
    <FormSection title={texts.before} note={texts.beforeNote}>
      <div className="flex flex-col gap-1">
        <Checkbox
          label={texts.manualInput}
          checked={draft.asksInput}
          onChange={(event) => set({ asksInput: event.target.checked })}
        />
        <p className="text-xs text-faint">{texts.manualInputHint}</p>
      </div>
      {draft.asksInput && <InputFields {...props} />}
      <Checkbox
        label={texts.confirm}
        checked={draft.confirms}
        onChange={(event) => set({ confirms: event.target.checked })}
      />
      {draft.confirms && (
        <TextareaField
          label={texts.confirmation}
          required
          hint={texts.confirmationHint}
          error={problems.confirmation}
          rows={2}
          maxLength={255}
          value={draft.confirmation}
          onChange={(confirmation) => set({ confirmation })}
        />
      )}
    </FormSection>
  );
}
