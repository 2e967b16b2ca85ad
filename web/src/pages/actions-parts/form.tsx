import { useMutation, useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { type Action, deleteActions, saveAction } from "~/api/actions";
import { explain } from "~/api/errors";
import { templateNamesQuery } from "~/api/templates";
import { FormBar } from "~/forms/form-bar";
import { FormSection } from "~/forms/section";
import { confirmed } from "~/ui/confirm";
import { Checkbox, Field, Input } from "~/ui/field";
import { toast } from "~/ui/toast";
import type { ActionSource } from "~/util/actions";
import { ConditionsEditor } from "./conditions-editor";
import { type ActionDraft, actionDraft, actionParams, actionProblems } from "./draft";
import { OperationsEditor } from "./operations-editor";

const NO_NAMES: ReadonlyMap<string, string> = new Map();

interface FormProps {
  source: ActionSource;
  action: Action | null;
}

/** Creates or edits an action. */
export function ActionForm({ source, action }: FormProps) {
  const [draft, setDraft] = useState(() => actionDraft(action));
  const [tried, setTried] = useState(false);
  const navigate = useNavigate();
  const client = useQueryClient();
  const linked = draft.operations.flatMap((operation) => operation.templates);
  const { data: names } = useQuery(templateNamesQuery(linked));
  const set = (next: Partial<ActionDraft>) => setDraft({ ...draft, ...next });
  const problems = actionProblems(draft);
  const shown = tried ? problems : {};
  const leave = (text: string) => {
    toast(text);
    void client.invalidateQueries({ queryKey: ["actions"] });
    const search = { source: source === "2" ? "agents" : undefined };
    void navigate({ to: "/actions", search });
  };
  const save = useMutation({
    mutationFn: () => {
      const members = actionParams(draft);
      const params = action ? members : { ...members, eventsource: source };
      return saveAction(action?.actionid ?? null, params);
    },
    onSuccess: () => leave(`${draft.name} was ${action ? "saved" : "created"}.`),
  });
  const remove = useMutation({
    mutationFn: () => deleteActions([action?.actionid ?? ""]),
    onSuccess: () => leave(`${action?.name} was deleted.`),
    onError: (error) => toast(explain(error).what, "bad"),
  });
  const onDelete = async () => {
    const body = <p>Hosts that it made stay as they are.</p>;
    if (await confirmed(`Delete ${action?.name}?`, body, "Delete action")) remove.mutate();
  };
  return (
    <form
      className="rounded-lg border bg-surface px-4 shadow-card sm:px-6"
      onSubmit={(event) => {
        event.preventDefault();
        setTried(true);
        if (Object.keys(problems).length === 0) save.mutate();
      }}
    >
      <FormSection title="Action">
        <Field label="Name" required error={shown.name}>
          {(id) => (
            <Input
              id={id}
              autoFocus={!action}
              maxLength={255}
              value={draft.name}
              onChange={(e) => set({ name: e.target.value })}
            />
          )}
        </Field>
        <Checkbox
          label="Enabled"
          checked={draft.on}
          onChange={(e) => set({ on: e.target.checked })}
        />
      </FormSection>
      <FormSection
        title="When"
        note={
          source === "1"
            ? "Each time discovery looks, for the host and for each of its services."
            : "When an agent announces itself, and when it tells something new of itself."
        }
      >
        <ConditionsEditor source={source} draft={draft} set={set} problems={shown} />
      </FormSection>
      <FormSection
        title="Then"
        note="What adds something makes the host where it is not there yet."
      >
        <OperationsEditor
          operations={draft.operations}
          onChange={(operations) => set({ operations })}
          names={names ?? NO_NAMES}
          problems={shown}
        />
      </FormSection>
      <FormBar
        save={action ? "Save action" : "Create action"}
        busy={save.isPending}
        error={save.error}
        problems={shown}
        onDelete={action ? () => void onDelete() : undefined}
        deleting={remove.isPending}
        deleteLabel="Delete…"
      />
    </form>
  );
}
