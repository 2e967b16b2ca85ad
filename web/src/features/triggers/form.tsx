import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Owner } from "~/api/owners";
import { RecoveryMode } from "~/api/schema";
import {
  type ConfigTrigger,
  deleteTrigger,
  saveTrigger,
  triggerSearchQuery,
} from "~/api/trigger-config";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { TagsEditor } from "~/shared/forms/tags-editor";
import { useDraft } from "~/shared/forms/use-draft";
import { onOwner } from "~/shared/owner";
import { Checkbox, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { SegmentedField } from "~/ui/segmented";
import { Sentence } from "~/ui/sentence";
import { isBehind, useSettled } from "~/util/hooks";
import { SEVERITIES, severityName } from "~/util/severity";
import { draftOf, problemsOf, type TriggerDraft, triggerParams } from "./draft";
import { ExpressionBox } from "./expression-box";
import { texts } from "./texts";

interface TriggerFormProps {
  owner: Owner;
  trigger: ConfigTrigger | null;
  prototype: boolean;
  onDone: () => void;
}

const RECOVERY = [
  ["0", "Expression"],
  ["1", "Recovery expression"],
  ["2", "None"],
] as const;

interface PartProps {
  draft: TriggerDraft;
  set: (next: Partial<TriggerDraft>) => void;
  owner: Owner;
  errors: Record<string, string>;
  inherited: boolean;
}

function DependencyPicker({
  owner,
  trigger,
  values,
  onChange,
}: {
  owner: Owner;
  trigger: ConfigTrigger | null;
  values: string[];
  onChange: (values: string[]) => void;
}) {
  const [text, setText] = useState("");
  const [seen] = useState(
    () => new Map(trigger?.dependencies.map((one) => [one.triggerid, one.description])),
  );
  const templateid = owner.template ? owner.id : undefined;
  const settled = useSettled(text);
  const search = useQuery(triggerSearchQuery(settled, templateid));
  const options = (search.data ?? [])
    .filter((found) => found.triggerid !== trigger?.triggerid)
    .map((found) => {
      const host = found.hosts[0]?.name;
      const label =
        host && host !== owner.name ? `${host}: ${found.description}` : found.description;
      seen.set(found.triggerid, label);
      return { value: found.triggerid, label };
    });
  return (
    <Pick
      field
      label={texts.triggers}
      values={values}
      options={options}
      labelOf={(id) => seen.get(id)}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      onChange={onChange}
    />
  );
}

function When({
  draft,
  set,
  owner,
  errors,
  inherited,
  prototype,
}: PartProps & { prototype: boolean }) {
  return (
    <FormSection title={texts.problem} note="A problem starts when the expression becomes true.">
      <ExpressionBox
        label={texts.expression}
        required
        hint={texts.suchAsAvgHost}
        owner={owner}
        prototype={prototype}
        disabled={inherited}
        error={errors.expression}
        value={draft.expression}
        onChange={(expression) => set({ expression })}
      />
      <SelectField
        label={texts.okEventGeneration}
        className="max-w-80"
        disabled={inherited}
        options={RECOVERY}
        value={draft.recoveryMode}
        onChange={(recoveryMode) => set({ recoveryMode })}
      />
      {draft.recoveryMode === RecoveryMode.RecoveryExpression && (
        <ExpressionBox
          label={texts.recoveryExpression}
          required
          hint={texts.theProblemEndsWhen}
          owner={owner}
          prototype={prototype}
          disabled={inherited}
          error={errors.recovery}
          value={draft.recovery}
          onChange={(recovery) => set({ recovery })}
        />
      )}
      <div className="flex flex-col gap-2">
        <Checkbox
          label={texts.allowManualClose}
          disabled={inherited}
          checked={draft.manualClose}
          onChange={(e) => set({ manualClose: e.target.checked })}
        />
        <Checkbox
          label={texts.createAProblemOn}
          disabled={inherited}
          checked={draft.multiple}
          onChange={(e) => set({ multiple: e.target.checked })}
        />
        {draft.recoveryMode !== RecoveryMode.None && (
          <Checkbox
            label={texts.okEventClosesOnly}
            disabled={inherited}
            checked={draft.correlate}
            onChange={(e) => set({ correlate: e.target.checked })}
          />
        )}
        {draft.recoveryMode !== RecoveryMode.None && draft.correlate && (
          <TextField
            label={texts.tagForMatching}
            required
            error={errors.correlationTag}
            className="w-60!"
            disabled={inherited}
            value={draft.correlationTag}
            onChange={(correlationTag) => set({ correlationTag })}
          />
        )}
      </div>
    </FormSection>
  );
}

function Words({ draft, set, errors, inherited }: PartProps) {
  const text = (key: "name" | "eventName" | "opdata", label: string, hint?: string) => (
    <TextField
      label={label}
      hint={hint}
      required={key === "name"}
      error={errors[key]}
      disabled={inherited}
      value={draft[key]}
      onChange={(value) => set({ [key]: value })}
    />
  );
  return (
    <>
      {text("name", texts.name)}
      <div className="grid gap-4 sm:grid-cols-2">
        {text("eventName", texts.eventName, texts.nameOfItsProblems)}
        {text("opdata", texts.operationalData, texts.shownNextToThe)}
      </div>
    </>
  );
}

/** Creates or edits a trigger or a trigger prototype. */
export function TriggerForm({ owner, trigger, prototype, onDone }: TriggerFormProps) {
  const drafting = useDraft(() => draftOf(trigger), problemsOf);
  const client = useQueryClient();
  const inherited = trigger !== null && trigger.templateid !== "0";
  const { draft, set, problems: errors } = drafting;
  const word = prototype ? "trigger prototype" : "trigger";
  const done = () => {
    void client.invalidateQueries();
    onDone();
  };
  const id = trigger?.triggerid ?? null;
  const part = { draft, set, owner, errors, inherited };
  return (
    <ObjectForm
      word={word}
      drafting={drafting}
      isNew={id === null}
      save={() => saveTrigger(prototype, id, triggerParams(draft, inherited, prototype))}
      onSaved={done}
      inherited={
        inherited && (
          <Sentence
            text={texts.severityTagsDependenciesAnd}
            places={{
              template: (
                <Link
                  to="/triggers/$triggerid/edit"
                  params={{ triggerid: trigger.templateid }}
                  className="underline"
                >
                  {texts.inTheTemplate}
                </Link>
              ),
            }}
          />
        )
      }
      remove={() => deleteTrigger(prototype, id ?? "")}
      onDeleted={done}
      loss="Its open problems are deleted too."
    >
      <FormSection title={texts.trigger} note={onOwner(owner)}>
        <Words {...part} />
        <SegmentedField
          label={texts.severity}
          value={draft.severity}
          options={SEVERITIES.map((n) => [String(n), severityName(n)] as const)}
          onChange={(severity) => set({ severity })}
        />
        <div className="flex flex-wrap gap-x-6 gap-y-2">
          <Checkbox
            label={prototype ? texts.createEnabled : texts.enabled}
            checked={draft.enabled}
            onChange={(e) => set({ enabled: e.target.checked })}
          />
          {prototype && (
            <Checkbox
              label={texts.discover}
              checked={draft.discover}
              onChange={(e) => set({ discover: e.target.checked })}
            />
          )}
        </div>
      </FormSection>
      <When {...part} prototype={prototype} />
      <FormSection title={texts.tags} note="Added to each problem of this trigger.">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <FormSection
        title={texts.dependencies}
        note="While one of these triggers has a problem, this trigger creates none."
      >
        <DependencyPicker
          owner={owner}
          trigger={trigger}
          values={draft.dependencies}
          onChange={(dependencies) => set({ dependencies })}
        />
      </FormSection>
      <FormSection title={texts.onCallInformation}>
        <TextareaField
          label={texts.description}
          hint={texts.meaningAndRequiredAction}
          rows={3}
          value={draft.comments}
          onChange={(comments) => set({ comments })}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label={texts.link} value={draft.url} onChange={(url) => set({ url })} />
          <TextField
            label={texts.linkName}
            value={draft.urlName}
            onChange={(urlName) => set({ urlName })}
          />
        </div>
      </FormSection>
    </ObjectForm>
  );
}
