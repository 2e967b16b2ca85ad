import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type Action, deleteActions, saveAction } from "~/api/actions";
import { EventSource } from "~/api/schema";
import { templateNamesQuery } from "~/api/templates";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { Checkbox, TextField } from "~/ui/field";
import type { ActionSource } from "~/util/actions";
import { ConditionsEditor } from "./conditions-editor";
import { actionDraft, actionParams, actionProblems } from "./draft";
import { OperationsEditor } from "./operations-editor";
import { texts } from "./texts";

const NO_NAMES: ReadonlyMap<string, string> = new Map();

interface FormProps {
  source: ActionSource;
  action: Action | null;
}

/** Creates or edits an action. */
export function ActionForm({ source, action }: FormProps) {
  const drafting = useDraft(() => actionDraft(action), actionProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const linked = draft.operations.flatMap((operation) => operation.templates);
  const { data: names } = useQuery(templateNamesQuery(linked));
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["actions"] });
    const search = { source: source === EventSource.Autoregistration ? "agents" : undefined };
    void navigate({ to: "/actions", search });
  };
  const id = action?.actionid ?? null;
  const members = () =>
    id === null ? { ...actionParams(draft), eventsource: source } : actionParams(draft);
  return (
    <ObjectForm
      word={texts.action}
      drafting={drafting}
      isNew={id === null}
      save={() => saveAction(id, members())}
      onSaved={leave}
      remove={() => deleteActions([id ?? ""])}
      onDeleted={leave}
      loss="Hosts that it created are kept."
    >
      <FormSection title={texts.actionLabel}>
        <TextField
          label={texts.name}
          required
          error={problems.name}
          autoFocus={!action}
          maxLength={255}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <Checkbox
          label={texts.enabled}
          checked={draft.on}
          onChange={(e) => set({ on: e.target.checked })}
        />
      </FormSection>
      <FormSection
        title={texts.conditions}
        note={
          source === EventSource.Discovery
            ? "Checked for each discovery event of a host or a service."
            : "Checked when an agent registers and when its registration data changes."
        }
      >
        <ConditionsEditor source={source} draft={draft} set={set} problems={problems} />
      </FormSection>
      <FormSection
        title={texts.operations}
        note="Operations that add something create the host if it does not exist."
      >
        <OperationsEditor
          operations={draft.operations}
          onChange={(operations) => set({ operations })}
          names={names ?? NO_NAMES}
          problems={problems}
        />
      </FormSection>
    </ObjectForm>
  );
}
