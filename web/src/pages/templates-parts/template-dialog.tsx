import { useMutation, useQueryClient } from "@tanstack/react-query";
import { useState } from "react";
import { explain } from "~/api/errors";
import { createTemplateGroup } from "~/api/groups";
import { saveTemplate, type Template } from "~/api/templates";
import { TagsEditor } from "~/forms/tags-editor";
import { TemplateGroupPicker, TemplatePicker } from "~/parts/pickers";
import { SaveDialog } from "~/parts/save-dialog";
import { ask } from "~/ui/confirm";
import { Field, TextareaField, TextField } from "~/ui/field";
import { toast } from "~/ui/toast";
import { tagParams } from "~/util/tags";

const KEYS = [["templates"], ["items"], ["triggers"], ["discoveryrules"], ["macros"]];

interface TemplateDialogProps {
  template: Template | null;
  onSaved?: (templateid: string) => void;
  onClose: () => void;
}

/** What becomes of what unlinked templates brought; null when nothing shall be saved. */
async function askUnlinking(names: readonly string[]): Promise<"keep" | "clear" | null> {
  if (names.length === 0) return "keep";
  return ask({
    title: "Unlink templates?",
    body: (
      <>
        <p>{names.join(", ")} will no longer be linked.</p>
        <p>
          <b>Unlink</b> keeps the items and triggers it brought, here and on hosts.{" "}
          <b>Unlink and clear</b> deletes them with their history.
        </p>
      </>
    ),
    choices: [
      { value: "clear", label: "Unlink and clear", look: "danger", icon: "trash" },
      { value: "keep", label: "Unlink", look: "primary", icon: "unlink" },
    ],
  });
}

/** Creates a template, or edits what it is called and linked to. */
export function TemplateDialog({ template, onSaved, onClose }: TemplateDialogProps) {
  const client = useQueryClient();
  const [draft, setDraft] = useState({
    host: template?.host ?? "",
    name: template && template.name !== template.host ? template.name : "",
    description: template?.description ?? "",
    groupids: template?.templategroups.map((group) => group.groupid) ?? [],
    linked: template?.parentTemplates.map((parent) => parent.templateid) ?? [],
    tags: template?.tags ?? [],
  });
  const set = (next: Partial<typeof draft>) => setDraft({ ...draft, ...next });
  const addGroup = useMutation({
    mutationFn: createTemplateGroup,
    onSuccess: (groupid) => {
      void client.invalidateQueries({ queryKey: ["templategroups"] });
      set({ groupids: [...draft.groupids, groupid] });
    },
    onError: (error) => toast(explain(error).what, "bad"),
  });
  const problem = !draft.host.trim()
    ? "Write a name."
    : draft.groupids.length === 0
      ? "Choose a group."
      : undefined;
  const save = async () => {
    const gone =
      template?.parentTemplates.filter((parent) => !draft.linked.includes(parent.templateid)) ?? [];
    const choice = await askUnlinking(gone.map((parent) => parent.name));
    if (choice === null) return false;
    const templateid = await saveTemplate(template?.templateid ?? null, {
      host: draft.host.trim(),
      name: draft.name.trim() || draft.host.trim(),
      description: draft.description,
      groups: draft.groupids.map((groupid) => ({ groupid })),
      templates: draft.linked.map((id) => ({ templateid: id })),
      templates_clear:
        choice === "clear" && gone.length
          ? gone.map((parent) => ({ templateid: parent.templateid }))
          : undefined,
      tags: tagParams(draft.tags),
    });
    onSaved?.(templateid);
    return true;
  };
  return (
    <SaveDialog
      title={template ? `Edit ${template.name}` : "Create template"}
      word="template"
      problem={problem}
      save={save}
      saved={`${draft.host} was saved.`}
      keys={KEYS}
      onClose={onClose}
    >
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label="Template name"
          required
          value={draft.host}
          onChange={(host) => set({ host })}
        />
        <TextField
          label="Visible name"
          placeholder={draft.host}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
      </div>
      <Field label="Template groups" required>
        {(id) => (
          <TemplateGroupPicker
            id={id}
            field
            values={draft.groupids}
            onChange={(groupids) => set({ groupids })}
            onCreate={(name) => addGroup.mutate(name)}
          />
        )}
      </Field>
      <Field label="Linked templates" hint="What they have, this one has too.">
        {(id) => (
          <TemplatePicker
            id={id}
            field
            names={new Map(template?.parentTemplates.map((one) => [one.templateid, one.name]))}
            values={draft.linked}
            onChange={(linked) => set({ linked })}
          />
        )}
      </Field>
      <TextareaField
        label="Description"
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      <div className="flex flex-col gap-1">
        <span className="text-xs font-medium text-soft">Tags</span>
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </div>
    </SaveDialog>
  );
}
