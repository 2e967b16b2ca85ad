import { useMutation, useQueryClient } from "@tanstack/react-query";
import type { ReactNode } from "react";
import { explain } from "~/api/errors";
import { createHostGroup } from "~/api/groups";
import { Field, Input } from "~/ui/field";
import { toast } from "~/ui/toast";
import { HostGroupPicker, TemplatePicker } from "./pickers";

interface HostBasics {
  host: string;
  name: string;
  groupids: string[];
  templateids: string[];
}

interface HostFieldsProps {
  draft: HostBasics;
  set: (next: Partial<HostBasics>) => void;
  problems: Record<string, string>;
  isNew: boolean;
  /** Names and groups are not people's to change. */
  fixed?: boolean;
  /** What belongs in the host name. */
  hint?: string;
  templatesHint?: string;
  /** Names of templates that are linked already. */
  templates: readonly { templateid: string; name: string }[];
  /** Between groups and templates. */
  children?: ReactNode;
}

/** Names, groups and templates: what hosts and host prototypes begin with. */
export function HostFields(props: HostFieldsProps) {
  const { draft, set, problems } = props;
  const client = useQueryClient();
  const addGroup = useMutation({
    mutationFn: createHostGroup,
    onSuccess: (groupid) => {
      void client.invalidateQueries({ queryKey: ["hostgroups"] });
      set({ groupids: [...draft.groupids, groupid] });
    },
    onError: (error) => toast(explain(error).what, "bad"),
  });
  return (
    <>
      <fieldset disabled={props.fixed} className="contents">
        <div className="grid gap-4 sm:grid-cols-2">
          <Field label="Host name" required error={problems.host} hint={props.hint}>
            {(id) => (
              <Input
                id={id}
                autoFocus={props.isNew}
                value={draft.host}
                onChange={(e) => set({ host: e.target.value })}
              />
            )}
          </Field>
          <Field label="Visible name">
            {(id) => (
              <Input
                id={id}
                placeholder={draft.host}
                value={draft.name}
                onChange={(e) => set({ name: e.target.value })}
              />
            )}
          </Field>
        </div>
        <Field label="Host groups" required error={problems.groups}>
          {(id) => (
            <HostGroupPicker
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
      <Field label="Templates" hint={props.templatesHint}>
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
