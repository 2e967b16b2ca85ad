import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { type Action, deleteActions, saveAction } from "~/api/actions";
import { EventSource } from "~/api/schema";
import { templateNamesQuery } from "~/api/templates";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { Checkbox, TextField } from "~/ui/field";
import { type ActionSource, hasSteps, type Mode } from "~/util/actions";
import { ConditionsEditor } from "./conditions-editor";
import { type ActionDraft, actionDraft, actionParams, actionProblems, modes } from "./draft";
import { type RecipientNames, useRecipientNames } from "./names";
import { OperationsEditor } from "./operations-editor";
import { QuietFields } from "./quiet-fields";
import { RehearseButton } from "./rehearse";
import { wordOf } from "./sources";
import { texts } from "./texts";
import { Timeline } from "./timeline";

const NO_NAMES: ReadonlyMap<string, string> = new Map();

interface PartProps {
  source: ActionSource;
  draft: ActionDraft;
  set: (next: Partial<ActionDraft>) => void;
  problems: Record<string, string>;
}

/** How long steps last, and when they wait. */
function Steps({ source, draft, set, problems }: PartProps) {
  const box = (key: "pauseSuppressed" | "pauseSymptoms" | "notifyCanceled", label: string) => (
    <Checkbox
      label={label}
      checked={draft[key]}
      onChange={(e) => set({ [key]: e.target.checked })}
    />
  );
  return (
    <FormSection title={texts.steps} note={texts.stepsNote}>
      <TextField
        label={texts.stepDuration}
        required
        fieldClass="max-w-48"
        hint={texts.stepDurationHint}
        error={problems.period}
        value={draft.period}
        onChange={(period) => set({ period })}
      />
      {source === EventSource.Trigger && (
        <div className="flex flex-col gap-1.5">
          {box("pauseSuppressed", texts.pauseSuppressed)}
          {box("pauseSymptoms", texts.pauseSymptoms)}
          {box("notifyCanceled", texts.notifyCanceled)}
        </div>
      )}
    </FormSection>
  );
}

/** The operations of each mode. */
function Operations(props: PartProps & { recipients: RecipientNames }) {
  const { source, draft, set, problems, recipients } = props;
  const linked = draft.operations.flatMap((operation) => operation.templates);
  const { data: names } = useQuery(templateNamesQuery(linked));
  const stepped = hasSteps(source);
  const titles: Record<Mode, readonly [title: string, note: string]> = {
    operations: [texts.operations, stepped ? texts.operationsNote : texts.hostOperationsNote],
    recoveries: [texts.recoveryOperations, texts.recoveryNote],
    updates: [texts.updateOperations, texts.updateNote(source)],
  };
  return (
    <>
      {modes(source).map((mode) => (
        <FormSection key={mode} title={titles[mode][0]} note={titles[mode][1]}>
          <OperationsEditor
            source={source}
            mode={mode}
            operations={draft[mode]}
            onChange={(operations) => set({ [mode]: operations })}
            period={draft.period}
            names={names ?? NO_NAMES}
            recipients={recipients}
            problems={problems}
          />
        </FormSection>
      ))}
    </>
  );
}

interface FormProps {
  source: ActionSource;
  action: Action | null;
}

/** Creates or edits an action. */
export function ActionForm({ source, action }: FormProps) {
  const drafting = useDraft(
    () => actionDraft(action, source),
    (draft) => actionProblems(draft, source),
  );
  const { draft, set, problems } = drafting;
  const recipients = useRecipientNames();
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["actions"] });
    void navigate({ to: "/actions", search: { source: wordOf(source) } });
  };
  const id = action?.actionid ?? null;
  const members = () => {
    const params = actionParams(draft, source);
    return id === null ? { ...params, eventsource: source } : params;
  };
  const part = { source, draft, set, problems };
  return (
    <ObjectForm
      word={texts.action}
      drafting={drafting}
      isNew={id === null}
      save={() => saveAction(id, members())}
      onSaved={leave}
      remove={() => deleteActions([id ?? ""])}
      onDeleted={leave}
      buttons={
        source === EventSource.Trigger && (
          <RehearseButton source={source} drafting={drafting} names={recipients} />
        )
      }
      loss={hasSteps(source) ? texts.lossOfMessages : texts.lossOfHosts}
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
      <FormSection title={texts.conditions} note={texts.conditionsNote(source)}>
        <ConditionsEditor {...part} />
      </FormSection>
      {hasSteps(source) && (
        <>
          <FormSection title={texts.escalation} note={texts.escalationNote}>
            <Timeline draft={draft} source={source} names={recipients} />
          </FormSection>
          <Steps {...part} />
        </>
      )}
      <Operations {...part} recipients={recipients} />
      {source === EventSource.Trigger && <QuietFields {...part} />}
    </ObjectForm>
  );
}
