import { type LinkSettings, linksQuery, saveSettings } from "~/api/settings";
import { FormSection } from "~/shared/forms/section";
import { SettingsForm, type SettingsOf, SettingsPage } from "~/shared/forms/settings-form";
import { useDraft } from "~/shared/forms/use-draft";
import { TextField } from "~/ui/field";
import { linkParams, linkProblems } from "./draft";
import { texts } from "./texts";

function LinksForm({ settings, onSaved }: SettingsOf<LinkSettings>) {
  const drafting = useDraft(() => linkParams(settings), linkProblems);
  const { draft, set, problems } = drafting;
  return (
    <SettingsForm
      drafting={drafting}
      words={texts}
      save={() => saveSettings(linkParams(draft))}
      onSaved={onSaved}
    >
      <FormSection title={texts.messageLinks} note={texts.purpose}>
        <TextField
          label={texts.url}
          type="url"
          hint={texts.urlHint}
          error={problems.url}
          maxLength={2048}
          value={draft.url}
          onChange={(url) => set({ url })}
        />
        <TextField
          label={texts.lifetime}
          required
          fieldClass="max-w-48"
          hint={texts.lifetimeHint}
          error={problems.link_lifetime}
          value={draft.link_lifetime}
          onChange={(link_lifetime) => set({ link_lifetime })}
        />
      </FormSection>
    </SettingsForm>
  );
}

/** Links in messages that act without a sign-in. */
export function MessageLinksPage() {
  return <SettingsPage title={texts.messageLinks} query={linksQuery()} form={LinksForm} />;
}
