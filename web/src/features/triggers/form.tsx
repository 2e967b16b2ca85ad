import { useQuery, useQueryClient } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import type { Owner } from "~/api/owners";
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
import { useSettled } from "~/util/hooks";
import { SEVERITIES, severityName } from "~/util/severity";
import { draftOf, problemsOf, type TriggerDraft, triggerParams } from "./draft";
import { ExpressionBox } from "./expression-box";

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
  const { data = [] } = useQuery(triggerSearchQuery(useSettled(text), templateid));
  const options = data
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
      label="Triggers"
      values={values}
      options={options}
      labelOf={(id) => seen.get(id)}
      onSearch={setText}
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
    <FormSection title="Problem" note="A problem starts when the expression becomes true.">
      <ExpressionBox
        label="Expression"
        required
        hint="Such as avg(/host/key,5m)>10 and last(/host/other)=0"
        owner={owner}
        prototype={prototype}
        disabled={inherited}
        error={errors.expression}
        value={draft.expression}
        onChange={(expression) => set({ expression })}
      />
      <SelectField
        label="OK event generation"
        className="max-w-80"
        disabled={inherited}
        options={RECOVERY}
        value={draft.recoveryMode}
        onChange={(recoveryMode) => set({ recoveryMode })}
      />
      {draft.recoveryMode === "1" && (
        <ExpressionBox
          label="Recovery expression"
          required
          hint="The problem ends when the problem expression is false and this expression is true."
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
          label="Allow manual close"
          disabled={inherited}
          checked={draft.manualClose}
          onChange={(e) => set({ manualClose: e.target.checked })}
        />
        <Checkbox
          label="Create a problem on each evaluation (multiple problem events)"
          disabled={inherited}
          checked={draft.multiple}
          onChange={(e) => set({ multiple: e.target.checked })}
        />
        {draft.recoveryMode !== "2" && (
          <Checkbox
            label="OK event closes only problems with a matching tag value"
            disabled={inherited}
            checked={draft.correlate}
            onChange={(e) => set({ correlate: e.target.checked })}
          />
        )}
        {draft.recoveryMode !== "2" && draft.correlate && (
          <TextField
            label="Tag for matching"
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
      {text("name", "Name")}
      <div className="grid gap-4 sm:grid-cols-2">
        {text(
          "eventName",
          "Event name",
          "Name of its problems. Leave empty to use the trigger name. Macros are supported.",
        )}
        {text("opdata", "Operational data", "Shown next to the problem, such as {ITEM.LASTVALUE1}")}
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
          <>
            Severity, tags, dependencies and state can be changed here; the rest{" "}
            <Link
              to="/triggers/$triggerid/edit"
              params={{ triggerid: trigger.templateid }}
              className="underline"
            >
              in the template
            </Link>
            .
          </>
        )
      }
      remove={() => deleteTrigger(prototype, id ?? "")}
      onDeleted={done}
      loss="Its open problems are deleted too."
    >
      <FormSection title="Trigger" note={onOwner(owner)}>
        <Words {...part} />
        <SegmentedField
          label="Severity"
          value={draft.severity}
          options={SEVERITIES.map((n) => [String(n), severityName(n)] as const)}
          onChange={(severity) => set({ severity })}
        />
        <div className="flex flex-wrap gap-x-6 gap-y-2">
          <Checkbox
            label={prototype ? "Create enabled" : "Enabled"}
            checked={draft.enabled}
            onChange={(e) => set({ enabled: e.target.checked })}
          />
          {prototype && (
            <Checkbox
              label="Discover"
              checked={draft.discover}
              onChange={(e) => set({ discover: e.target.checked })}
            />
          )}
        </div>
      </FormSection>
      <When {...part} prototype={prototype} />
      <FormSection title="Tags" note="Added to each problem of this trigger.">
        <TagsEditor tags={draft.tags} onChange={(tags) => set({ tags })} />
      </FormSection>
      <FormSection
        title="Dependencies"
        note="While one of these triggers has a problem, this trigger creates none."
      >
        <DependencyPicker
          owner={owner}
          trigger={trigger}
          values={draft.dependencies}
          onChange={(dependencies) => set({ dependencies })}
        />
      </FormSection>
      <FormSection title="On-call information">
        <TextareaField
          label="Description"
          hint="Meaning and required action"
          rows={3}
          value={draft.comments}
          onChange={(comments) => set({ comments })}
        />
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField label="Link" value={draft.url} onChange={(url) => set({ url })} />
          <TextField
            label="Link name"
            value={draft.urlName}
            onChange={(urlName) => set({ urlName })}
          />
        </div>
      </FormSection>
    </ObjectForm>
  );
}
