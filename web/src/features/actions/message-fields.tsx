import { EventSource } from "~/api/schema";
import { Checkbox, Field, Input, Select, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { type ActionSource, operationNeed } from "~/util/actions";
import type { RecipientNames } from "./names";
import type { OperationDraft } from "./operation-draft";
import { texts } from "./texts";

interface FieldsProps {
  operation: OperationDraft;
  set: (next: Partial<OperationDraft>) => void;
  names: RecipientNames;
}

interface PeopleProps {
  label: string;
  values: readonly string[];
  options: readonly (readonly [string, string])[];
  /** Of those that may not be read. */
  nameOf: (id: string) => string;
  onChange: (values: string[]) => void;
}

function People({ label, values, options, nameOf, onChange }: PeopleProps) {
  return (
    <Field label={label}>
      {(id) => (
        <Pick
          id={id}
          field
          label={label}
          values={values}
          options={options.map(([value, name]) => ({ value, label: name }))}
          labelOf={nameOf}
          onChange={onChange}
        />
      )}
    </Field>
  );
}

/** Who gets the message, by what, and its text. */
export function MessageFields({ operation, set, names }: FieldsProps) {
  const named = operationNeed(operation.type) === "message";
  const { mediaType } = operation;
  const known = mediaType === "0" || names.mediaTypes.some(([id]) => id === mediaType);
  return (
    <>
      {named && (
        <>
          <div className="grid gap-3 sm:grid-cols-2">
            <People
              label={texts.userGroups}
              values={operation.userGroups}
              options={names.groups}
              nameOf={names.group}
              onChange={(userGroups) => set({ userGroups })}
            />
            <People
              label={texts.users}
              values={operation.users}
              options={names.users}
              nameOf={names.user}
              onChange={(users) => set({ users })}
            />
          </div>
          <SelectField
            label={texts.sendBy}
            options={[
              ["0", texts.allMediaTypes],
              ...(known ? [] : [[mediaType, names.mediaType(mediaType)] as const]),
              ...names.mediaTypes,
            ]}
            value={mediaType}
            onChange={(next) => set({ mediaType: next })}
          />
        </>
      )}
      <Checkbox
        label={texts.ownText}
        checked={operation.ownText}
        onChange={(e) => set({ ownText: e.target.checked })}
      />
      {operation.ownText && (
        <>
          <TextField
            label={texts.subject}
            maxLength={255}
            value={operation.subject}
            onChange={(subject) => set({ subject })}
          />
          <TextareaField
            label={texts.message}
            required
            rows={5}
            value={operation.message}
            onChange={(message) => set({ message })}
          />
        </>
      )}
    </>
  );
}

const ACKNOWLEDGED = [
  ["", texts.allProblems],
  ["0", texts.unacknowledgedProblems],
  ["1", texts.acknowledgedProblems],
] as const;

interface StepProps extends Omit<FieldsProps, "names"> {
  source: ActionSource;
  /** The duration of the action's steps. */
  period: string;
}

/** When: from which step to which, how long each lasts, and for which problems. */
export function StepFields({ operation, set, source, period }: StepProps) {
  const box = (key: "from" | "to" | "period", label: string, placeholder?: string) => (
    <Field label={label}>
      {(id) => (
        <Input
          id={id}
          inputMode={key === "period" ? undefined : "numeric"}
          placeholder={placeholder}
          value={operation[key]}
          onChange={(e) => set({ [key]: e.target.value })}
        />
      )}
    </Field>
  );
  return (
    <div className="grid grid-cols-2 items-end gap-3 sm:grid-cols-[5rem_5rem_8rem_minmax(0,1fr)]">
      {box("from", texts.fromStep)}
      {box("to", texts.toStep)}
      {box("period", texts.ownDuration, period)}
      {source === EventSource.Trigger && (
        <Field label={texts.problems}>
          {(id) => (
            <Select
              id={id}
              options={
                // Conditions of both kinds stay until another choice is made.
                operation.acknowledged.includes(",")
                  ? [...ACKNOWLEDGED, [operation.acknowledged, texts.bothConditions]]
                  : ACKNOWLEDGED
              }
              value={operation.acknowledged}
              onChange={(e) => set({ acknowledged: e.target.value })}
            />
          )}
        </Field>
      )}
    </div>
  );
}
