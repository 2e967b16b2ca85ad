import { useMutation, useQueryClient } from "@tanstack/react-query";
import { type LinkSettings, linksQuery, saveSettings } from "~/api/settings";
import { Found } from "~/shared/fallback";
import { FormBar } from "~/shared/forms/form-bar";
import { FormCard } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { useFresh } from "~/shared/fresh";
import { Page } from "~/shared/page";
import { TextField } from "~/ui/field";
import { toast } from "~/ui/toast";
import { linkParams, linkProblems } from "./draft";
import { texts } from "./texts";

function LinksForm({ settings }: { settings: LinkSettings }) {
  const drafting = useDraft(() => linkParams(settings), linkProblems);
  const { draft, set, problems } = drafting;
  const client = useQueryClient();
  const saving = useMutation({
    mutationFn: () => saveSettings(linkParams(draft)),
    onSuccess: () => {
      toast(texts.saved);
      void client.invalidateQueries({ queryKey: ["message-links"] });
    },
  });
  return (
    <FormCard onSubmit={() => drafting.check() && saving.mutate()}>
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
      <FormBar save={texts.save} busy={saving.isPending} error={saving.error} problems={problems} />
    </FormCard>
  );
}

/** Links in messages that act without a sign-in. */
export function MessageLinksPage() {
  const query = useFresh(linksQuery());
  return (
    <Page title={texts.messageLinks} scroll>
      <Found query={query} gone={null}>
        {(settings) => <LinksForm key={JSON.stringify(settings)} settings={settings} />}
      </Found>
    </Page>
  );
}
