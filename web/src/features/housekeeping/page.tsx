import { type Housekeeping, housekeepingQuery, saveHousekeeping } from "~/api/housekeeping";
import { FormSection } from "~/shared/forms/section";
import { SettingsForm, type SettingsOf, SettingsPage } from "~/shared/forms/settings-form";
import { useDraft } from "~/shared/forms/use-draft";
import { confirmed } from "~/ui/confirm";
import { Checkbox, TextField } from "~/ui/field";
import { housekeepingParams, housekeepingProblems, NAMES, newOverrides, PARTS } from "./draft";
import { texts } from "./texts";

function HousekeepingForm({ settings, onSaved }: SettingsOf<Housekeeping>) {
  const drafting = useDraft(() => settings, housekeepingProblems);
  const { draft, set, problems } = drafting;
  const confirm = async () => {
    const { overrideTitle, overrideText, override } = texts;
    return (
      newOverrides(settings, draft).length === 0 || confirmed(overrideTitle, overrideText, override)
    );
  };
  return (
    <SettingsForm
      drafting={drafting}
      words={texts}
      confirm={confirm}
      save={() => saveHousekeeping(housekeepingParams(draft))}
      onSaved={onSaved}
    >
      {PARTS.map((part) => (
        <FormSection key={part.title} title={part.title} note={part.note}>
          <Checkbox
            label={part.switch}
            checked={draft[part.mode] === "1"}
            onChange={(event) => set({ [part.mode]: event.target.checked ? "1" : "0" })}
          />
          {draft[part.mode] === "1" &&
            part.periods.map(({ name, label }) => (
              <TextField
                key={name}
                label={label}
                required
                fieldClass="max-w-64"
                error={problems[name]}
                value={draft[name]}
                onChange={(value) => set({ [name]: value })}
              />
            ))}
        </FormSection>
      ))}
    </SettingsForm>
  );
}

/** How long data is kept. */
export function HousekeepingPage() {
  return (
    <SettingsPage
      title={texts.housekeeping}
      query={housekeepingQuery(NAMES)}
      form={HousekeepingForm}
    />
  );
}
