import { useQuery, useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import { deleteSchedule, type Schedule, saveSchedule } from "~/api/oncall";
import { session } from "~/api/session-store";
import { fullName, userGroupNamesQuery, userNamesQuery } from "~/api/users";
import { ObjectForm } from "~/shared/forms/object-form";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { Input, Select, SelectField, TextareaField, TextField } from "~/ui/field";
import { type ScheduleDraft, scheduleDraft, scheduleParams, scheduleProblems } from "./draft";
import { LayersEditor, type UserChoices } from "./layers-editor";
import { texts } from "./texts";

interface PartProps {
  draft: ScheduleDraft;
  set: (next: Partial<ScheduleDraft>) => void;
  problems: Record<string, string>;
}

/** Time zones by name; that of the schedule stays if the browser does not know it. */
function zones(chosen: string) {
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
  const known = chosen === "system" || names.includes(chosen);
  return [
    ["system", texts.systemZone] as const,
    ...(known ? names : [chosen, ...names]).map((name) => [name, name] as const),
  ];
}

function General({ draft, set, problems, isNew }: PartProps & { isNew: boolean }) {
  const [choices] = useState(() => zones(draft.timezone));
  return (
    <FormSection title={texts.general}>
      <TextField
        label={texts.name}
        required
        error={problems.name}
        autoFocus={isNew}
        maxLength={255}
        value={draft.name}
        onChange={(name) => set({ name })}
      />
      <SelectField
        label={texts.timeZone}
        fieldClass="max-w-72"
        options={choices}
        value={draft.timezone}
        onChange={(timezone) => set({ timezone })}
      />
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
    </FormSection>
  );
}

function Holidays({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.holidays} note={texts.holidaysNote}>
      <RowsEditor
        word={texts.holidayWord}
        rows={draft.holidays}
        onChange={(holidays) => set({ holidays })}
        fresh={() => ({ date: "", name: "" })}
        columns="grid-cols-[9rem_minmax(0,1fr)_2rem]"
        note={problems.holidays && <p className="text-xs text-bad-ink">{problems.holidays}</p>}
      >
        {(holiday, change) => (
          <>
            <Input
              type="date"
              aria-label={texts.date}
              value={holiday.date}
              onChange={(event) => change({ date: event.target.value })}
            />
            <Input
              aria-label={texts.holidayName}
              placeholder={texts.name}
              maxLength={255}
              value={holiday.name}
              onChange={(event) => change({ name: event.target.value })}
            />
          </>
        )}
      </RowsEditor>
      <TextareaField
        label={texts.holidayCalendar}
        rows={2}
        hint={texts.holidayCalendarHint}
        value={draft.holidayCalendar}
        onChange={(holidayCalendar) => set({ holidayCalendar })}
      />
    </FormSection>
  );
}

const PERMISSIONS = [
  ["2", "View"],
  ["3", "Change"],
] as const;

function Access({ draft, set, problems }: PartProps) {
  const { data: groups = [] } = useQuery(userGroupNamesQuery());
  const names = groups.map((group) => [group.usrgrpid, group.name] as const);
  return (
    <FormSection title={texts.access} note={texts.accessNote}>
      {/* Super administrators see and change all schedules. */}
      {session()?.type === 2 && <p className="text-xs text-soft">{texts.ownGroup}</p>}
      <RowsEditor
        word={texts.groupWord}
        rows={draft.groups}
        onChange={(next) => set({ groups: next })}
        fresh={() => ({ usrgrpid: "", permission: "2" })}
        columns="grid-cols-[minmax(0,1fr)_7rem_2rem]"
        note={problems.groups && <p className="text-xs text-bad-ink">{problems.groups}</p>}
      >
        {(row, change) => (
          <>
            <Select
              aria-label={texts.group}
              options={[
                ["", texts.chooseUser],
                ...names,
                ...(row.usrgrpid && !names.some(([id]) => id === row.usrgrpid)
                  ? [[row.usrgrpid, `${texts.group} ${row.usrgrpid}`] as const]
                  : []),
              ]}
              value={row.usrgrpid}
              onChange={(event) => change({ usrgrpid: event.target.value })}
            />
            <Select
              aria-label={texts.permission}
              options={PERMISSIONS}
              value={row.permission}
              onChange={(event) => change({ permission: event.target.value })}
            />
          </>
        )}
      </RowsEditor>
    </FormSection>
  );
}

/** Users that can be on call; those of the schedule also if the user may not read them. */
function useUserChoices(schedule: Schedule | null): UserChoices {
  const { data: users } = useQuery(userNamesQuery());
  return useMemo(() => {
    const names = new Map<string, string>();
    for (const one of [...(users ?? []), ...(schedule?.users ?? [])])
      if (!names.has(one.userid)) names.set(one.userid, fullName(one));
    return [...names];
  }, [users, schedule]);
}

interface FormProps {
  schedule: Schedule | null;
  /** The server's time zone. */
  serverZone: string;
}

/** Creates or edits a schedule. */
export function ScheduleForm({ schedule, serverZone }: FormProps) {
  const zoneOf = (name: string) => (name === "system" ? serverZone : name);
  const drafting = useDraft(
    () =>
      scheduleDraft(
        schedule,
        zoneOf(schedule?.timezone ?? "system"),
        Math.floor(Date.now() / 1000),
      ),
    scheduleProblems,
  );
  const { draft, set, problems } = drafting;
  const users = useUserChoices(schedule);
  const navigate = useNavigate();
  const client = useQueryClient();
  const id = schedule?.scheduleid ?? null;
  const leave = (shown: string | undefined) => {
    void client.invalidateQueries({ queryKey: ["oncall"] });
    void navigate({ to: "/oncall", search: { schedule: shown } });
  };
  const part = { draft, set, problems };
  return (
    <ObjectForm
      word={texts.scheduleWord}
      drafting={drafting}
      isNew={id === null}
      save={() => saveSchedule(id, scheduleParams(draft, zoneOf(draft.timezone)))}
      onSaved={(answer) => leave(answer.scheduleids[0])}
      remove={() => deleteSchedule(id ?? "")}
      onDeleted={() => leave(undefined)}
      loss={texts.lossOnDelete}
    >
      <General {...part} isNew={id === null} />
      <FormSection title={texts.layers} note={texts.layersNote}>
        <LayersEditor
          layers={draft.layers}
          onChange={(layers) => set({ layers })}
          users={users}
          problems={problems}
        />
      </FormSection>
      <Holidays {...part} />
      <Access {...part} />
    </ObjectForm>
  );
}
