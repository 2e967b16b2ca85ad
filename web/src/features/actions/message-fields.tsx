import { Link } from "@tanstack/react-router";
import { EventSource } from "~/api/schema";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { Checkbox, Field, Input, Select, SelectField, TextareaField, TextField } from "~/ui/field";
import { Pick } from "~/ui/pick";
import { Sentence } from "~/ui/sentence";
import { type ActionSource, operationNeed } from "~/util/actions";
import { ON_CALL_WHO } from "~/util/oncall";
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

/** The users of on-call schedules, who are found when the message is made. */
function OnCall({ operation, set, names }: FieldsProps) {
  const { onCall } = operation;
  const known = new Set(names.schedules.map(([id]) => id));
  if (names.schedules.length === 0 && onCall.length === 0)
    return (
      <p className="text-xs text-soft">
        <Sentence
          text={texts.noSchedules}
          places={{
            page: (
              <Link to="/oncall/new" className="text-accent-ink underline underline-offset-2">
                {texts.createSchedule}
              </Link>
            ),
          }}
        />
      </p>
    );
  return (
    <fieldset className="flex flex-col gap-1">
      <legend className="pb-1 text-xs font-medium text-soft">{texts.onCallSchedules}</legend>
      <RowsEditor
        word={texts.onCallWord}
        rows={onCall}
        onChange={(next) => set({ onCall: next })}
        fresh={() => ({ scheduleid: names.schedules[0]?.[0] ?? "", who: "0" })}
        columns="grid-cols-[minmax(0,1fr)_2rem] sm:grid-cols-[minmax(0,1fr)_minmax(0,1fr)_2rem]"
      >
        {(row, change) => (
          <>
            <Select
              aria-label={texts.onCallSchedule}
              options={[
                ...(known.has(row.scheduleid)
                  ? []
                  : [[row.scheduleid, names.schedule(row.scheduleid)] as const]),
                ...names.schedules,
              ]}
              value={row.scheduleid}
              onChange={(e) => change({ scheduleid: e.target.value })}
            />
            <Select
              aria-label={texts.onCallWho}
              className="max-sm:order-1"
              options={ON_CALL_WHO}
              value={row.who}
              onChange={(e) => change({ who: e.target.value })}
            />
          </>
        )}
      </RowsEditor>
    </fieldset>
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
          <OnCall operation={operation} set={set} names={names} />
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
