import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type HeartbeatSettings, heartbeatQuery, saveSettings } from "~/api/settings";
import { Found } from "~/shared/fallback";
import { FormBar } from "~/shared/forms/form-bar";
import { FormCard } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { Checkbox, TextField } from "~/ui/field";
import { toast } from "~/ui/toast";
import { heartbeatDraft, heartbeatParams, heartbeatProblems } from "./draft";
import { texts } from "./texts";

function HeartbeatForm({ settings }: { settings: HeartbeatSettings }) {
  const drafting = useDraft(() => heartbeatDraft(settings), heartbeatProblems);
  const { draft, set, problems } = drafting;
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: () => saveSettings(heartbeatParams(draft)),
    onSuccess: () => {
      toast(texts.saved);
      void client.invalidateQueries({ queryKey: ["heartbeat"] });
    },
  });
  return (
    <FormCard onSubmit={() => drafting.check() && saving.mutate()}>
      <FormSection title={texts.heartbeat} note={texts.purpose}>
        <Checkbox
          label={texts.enabled}
          checked={draft.on}
          onChange={(event) => set({ on: event.target.checked })}
        />
        {draft.on ? (
          <>
            <TextField
              label={texts.url}
              required
              type="url"
              hint={texts.urlHint}
              error={problems.url}
              maxLength={2048}
              value={draft.url}
              onChange={(url) => set({ url })}
            />
            <TextField
              label={texts.period}
              required
              fieldClass="max-w-48"
              hint={texts.periodHint}
              error={problems.period}
              value={draft.period}
              onChange={(period) => set({ period })}
            />
            <p className="text-xs text-soft">
              {texts.sameMachine} {texts.failures}
            </p>
          </>
        ) : (
          <p className="text-soft">{texts.off}</p>
        )}
      </FormSection>
      <FormBar save={texts.save} busy={saving.isPending} error={saving.error} problems={problems} />
    </FormCard>
  );
}

/** The dead man's switch: what the server requests while it works. */
export function HeartbeatPage() {
  const query = useFresh(heartbeatQuery());
  return (
    <Page title={texts.heartbeat} scroll>
      <Found query={query} gone={null}>
        {(settings) => <HeartbeatForm key={JSON.stringify(settings)} settings={settings} />}
      </Found>
    </Page>
  );
}
