import { type HeartbeatSettings, heartbeatQuery, saveSettings } from "~/api/settings";
import { FormSection } from "~/shared/forms/section";
import { SettingsForm, type SettingsOf, SettingsPage } from "~/shared/forms/settings-form";
import { useDraft } from "~/shared/forms/use-draft";
import { Checkbox, TextField } from "~/ui/field";
import { heartbeatDraft, heartbeatParams, heartbeatProblems } from "./draft";
import { texts } from "./texts";

function HeartbeatForm({ settings, onSaved }: SettingsOf<HeartbeatSettings>) {
  const drafting = useDraft(() => heartbeatDraft(settings), heartbeatProblems);
  const { draft, set, problems } = drafting;
  return (
    <SettingsForm
      drafting={drafting}
      words={texts}
      save={() => saveSettings(heartbeatParams(draft))}
      onSaved={onSaved}
    >
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
    </SettingsForm>
  );
}

/** The dead man's switch: what the server requests while it works. */
export function HeartbeatPage() {
  return <SettingsPage title={texts.heartbeat} query={heartbeatQuery()} form={HeartbeatForm} />;
}
