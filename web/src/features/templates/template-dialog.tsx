import { useQueryClient } from "@tanstack/react-query";
import { saveTemplate, type Template, templateQuery } from "~/api/templates";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { useKeptState } from "~/shared/forms/use-kept-state";
import { OwnerFields } from "~/shared/owner-fields";
import { SaveDialog } from "~/shared/save-dialog";
import { askUnlinked } from "~/shared/unlink";
import { TextareaField } from "~/ui/field";
import { Sentence } from "~/ui/sentence";
import { ownerDraft, ownerParams, unlinkedTemplates } from "~/util/owner-draft";
import { texts } from "./texts";

const KEYS = [["templates"], ["items"], ["triggers"], ["discoveryrules"], ["macros"]];

interface TemplateDialogProps {
  template: Template | null;
  onSaved?: (templateid: string) => void;
  onClose: () => void;
}

/** What the dialog changes: hosts and macros have dialogs of their own. */
const edited = (template: Template | null) =>
  template && { ...template, hosts: undefined, macros: undefined };

/** Creates a template, or edits what it is called and linked to. */
export function TemplateDialog({ template, onSaved, onClose }: TemplateDialogProps) {
  const [draft, setDraft, restored] = useKeptState("template", {
    ...ownerDraft(template, template?.templategroups, template?.parentTemplates),
    description: template?.description ?? "",
  });
  const client = useQueryClient();
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const problem = !draft.host.trim()
    ? "Enter a name."
    : draft.groupids.length === 0
      ? "Choose a group."
      : undefined;
  const save = async () => {
    const unlinked = unlinkedTemplates(draft, template);
    const clear = await askUnlinked(
      unlinked,
      <p>
        <Sentence
          text={texts.unlinkingATemplate}
          places={{
            unlink: <b>{texts.unlink}</b>,
            unlinkAndClear: <b>{texts.unlinkAndClear}</b>,
          }}
        />
      </p>,
    );
    if (clear === null) return false;
    const templateid = await saveTemplate(template?.templateid ?? null, {
      ...ownerParams(draft, clear ? unlinked : []),
      description: draft.description,
    });
    onSaved?.(templateid);
    return true;
  };
  return (
    <SaveDialog
      title={template ? texts.editName(template.name) : texts.createTemplate}
      word={texts.templateWord}
      draft={draft}
      restored={restored}
      stale={
        template
          ? {
              before: edited(template),
              now: async () =>
                edited(
                  await client.fetchQuery({ ...templateQuery(template.templateid), staleTime: 0 }),
                ),
            }
          : undefined
      }
      problem={problem}
      save={save}
      saved={`${draft.host} was saved.`}
      keys={KEYS}
      onClose={onClose}
    >
      <OwnerFields
        of="template"
        draft={draft}
        set={set}
        problems={{}}
        isNew={template === null}
        templates={template?.parentTemplates ?? []}
        templatesHint="This template inherits their items, triggers and discovery rules."
      />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      <div className="flex flex-col gap-1">
        <span className="text-xs font-medium text-soft">{texts.tags}</span>
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </div>
    </SaveDialog>
  );
}
