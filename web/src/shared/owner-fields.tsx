import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { explain } from "~/api/errors";
import { createGroup, type GroupOf } from "~/api/groups";
import { Field, TextField } from "~/ui/field";
import { toast } from "~/ui/toast";
import type { OwnerDraft } from "~/util/owner-draft";
import { GROUPS, GroupPicker, TemplatePicker } from "./pickers";
import { texts } from "./texts";

interface OwnerFieldsProps {
  of: GroupOf;
  draft: OwnerDraft;
  set: (next: Partial<OwnerDraft>) => void;
  problems: Record<string, string>;
  isNew: boolean;
  /** Names and groups are not people's to change. */
  fixed?: boolean;
  /** What belongs in the technical name. */
  hint?: string;
  templatesHint?: string;
  /** Names of templates that are linked already. */
  templates: readonly { templateid: string; name: string }[];
  /** Between groups and templates. */
  children?: ReactNode;
}

/** Names, groups and templates: what hosts, host prototypes and templates begin with. */
export function OwnerFields(props: OwnerFieldsProps) {
  const { of, draft, set, problems } = props;
  const client = useQueryClient();
  const addGroup = useMutation({
    mutationFn: (name: string) => createGroup(of, name),
    onSuccess: (groupid) => {
      void client.invalidateQueries({ queryKey: [`${of}groups`] });
      set({ groupids: [...draft.groupids, groupid] });
    },
    onError: (error) => toast(explain(error).what, "bad"),
  });
  return (
    <>
      <fieldset disabled={props.fixed} className="contents">
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={of === "host" ? texts.hostName : texts.templateName}
            required
            error={problems.host}
            hint={props.hint}
            autoFocus={props.isNew}
            value={draft.host}
            onChange={(host) => set({ host })}
          />
          <TextField
            label={texts.visibleName}
            placeholder={draft.host}
            value={draft.name}
            onChange={(name) => set({ name })}
          />
        </div>
        <Field label={GROUPS[of]} required error={problems.groups}>
          {(id) => (
            <GroupPicker
              of={of}
              id={id}
              field
              values={draft.groupids}
              onChange={(groupids) => set({ groupids })}
              onCreate={(name) => addGroup.mutate(name)}
            />
          )}
        </Field>
      </fieldset>
      {props.children}
      <Field
        label={of === "host" ? texts.templates : texts.linkedTemplates}
        hint={props.templatesHint}
      >
        {(id) => (
          <TemplatePicker
            id={id}
            field
            names={new Map(props.templates.map((one) => [one.templateid, one.name]))}
            values={draft.templateids}
            onChange={(templateids) => set({ templateids })}
          />
        )}
      </Field>
    </>
  );
}
