import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type Housekeeping, housekeepingQuery, saveHousekeeping } from "~/api/housekeeping";
import { Found } from "~/shared/fallback";
import { FormBar } from "~/shared/forms/form-bar";
import { FormCard } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { confirmed } from "~/ui/confirm";
import { Checkbox, TextField } from "~/ui/field";
import { toast } from "~/ui/toast";
import { housekeepingParams, housekeepingProblems, NAMES, newOverrides, PARTS } from "./draft";
import { texts } from "./texts";

function HousekeepingForm({ settings }: { settings: Housekeeping }) {
  const drafting = useDraft(() => settings, housekeepingProblems);
  const { draft, set, problems } = drafting;
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: () => saveHousekeeping(housekeepingParams(draft)),
    onSuccess: () => {
      toast(texts.saved);
      void client.invalidateQueries({ queryKey: ["housekeeping"] });
    },
  });
  const save = async () => {
    if (!drafting.check()) return;
    const { overrideTitle, overrideText, override } = texts;
    const isSure =
      newOverrides(settings, draft).length === 0 ||
      (await confirmed(overrideTitle, overrideText, override));
    if (isSure) saving.mutate();
  };
  return (
    <FormCard onSubmit={() => void save()}>
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
      <FormBar save={texts.save} busy={saving.isPending} error={saving.error} problems={problems} />
    </FormCard>
  );
}

/** How long data is kept. */
export function HousekeepingPage() {
  const query = useFresh(housekeepingQuery(NAMES));
  return (
    <Page title={texts.housekeeping} scroll>
      <Found query={query} gone={null}>
        {(settings) => <HousekeepingForm key={JSON.stringify(settings)} settings={settings} />}
      </Found>
    </Page>
  );
}
