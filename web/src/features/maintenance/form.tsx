import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { deleteMaintenances, type MaintenanceDetail, saveMaintenance } from "~/api/maintenance";
import { serverZoneQuery } from "~/api/zone";
import { ObjectForm } from "~/shared/forms/object-form";
import { FormSection } from "~/shared/forms/section";
import { useDraft } from "~/shared/forms/use-draft";
import { GroupPicker, HostPicker } from "~/shared/pickers";
import { useFollow } from "~/shared/silence";
import { Field, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { useNow } from "~/util/hooks";
import { nextRuns, runsUntil, WEEKDAYS } from "~/util/maintenance";
import { formatClock, zoneName } from "~/util/time";
import { type Draft, draftOf, paramsOf, problemsOf, scheduleOf } from "./draft";
import { PeriodsEditor } from "./periods-editor";
import { TagConditions } from "./tag-conditions";
import { texts } from "./texts";

const PREVIEWED = 5;

/** When the draft would run next. */
function Preview({ draft }: { draft: Draft }) {
  const now = Math.floor(useNow() / 60) * 60;
  const { data: zone } = useQuery(serverZoneQuery());
  const schedule = scheduleOf(draft, zone);
  if (!schedule) return null;
  const until = runsUntil(schedule, now);
  const runs = nextRuns(schedule, now, PREVIEWED);
  return (
    <section aria-label={texts.nextStarts} className="rounded-lg bg-sunken px-3 py-2.5">
      <h3 className="pb-1 text-xs font-semibold text-soft">{texts.nextStarts}</h3>
      {until !== null && <p>{texts.startsImmediatelyAndRuns(formatClock(until, "minute"))}</p>}
      {runs.length === 0 && until === null && <p>{texts.neverRunsNoPeriod}</p>}
      <ol>
        {runs.map(({ start, end }) => (
          <li key={start} className="tabular flex gap-2">
            <span className="w-8 text-soft">
              {WEEKDAYS[(new Date(start * 1000).getDay() + 6) % 7]}
            </span>
            <span>{texts.fromTo(formatClock(start, "minute"), formatClock(end, "minute"))}</span>
          </li>
        ))}
      </ol>
      <p className="pt-1 text-xs text-faint">{texts.zones(zoneName(), zone ?? "")}</p>
    </section>
  );
}

interface FormProps {
  maintenance: MaintenanceDetail | null;
  /** Hosts that a new one begins with. */
  hostids?: string[];
}

/** Creates or edits a maintenance. */
export function MaintenanceForm({ maintenance, hostids }: FormProps) {
  const drafting = useDraft(
    () => draftOf(maintenance, Math.floor(Date.now() / 1000), hostids),
    problemsOf,
  );
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const follow = useFollow();
  const leave = () => {
    follow();
    void navigate({ to: "/maintenance" });
  };
  const id = maintenance?.maintenanceid ?? null;
  return (
    <ObjectForm
      word={texts.maintenanceWord}
      drafting={drafting}
      isNew={id === null}
      save={() => saveMaintenance(id, paramsOf(draft))}
      onSaved={leave}
      remove={() => deleteMaintenances([id ?? ""])}
      onDeleted={leave}
      loss="Its hosts leave maintenance immediately."
    >
      <FormSection
        title={texts.maintenance}
        note="Problems are hidden and send no notifications during maintenance."
      >
        <TextField
          label={texts.name}
          required
          error={problems.name}
          autoFocus={!maintenance}
          maxLength={128}
          value={draft.name}
          onChange={(name) => set({ name })}
        />
        <div className="flex flex-col items-start gap-1">
          <SegmentedField
            label={texts.maintenanceType}
            value={draft.noData ? "without" : "with"}
            onChange={(v) => set({ noData: v === "without" })}
            options={[
              ["with", texts.withDataCollection],
              ["without", texts.noDataCollection],
            ]}
          />
          <p className="text-xs text-faint">
            {draft.noData ? texts.valuesReceivedDuringMaintenance : texts.valuesAreStoredProblems}
          </p>
        </div>
        <TextareaField
          label={texts.description}
          rows={2}
          value={draft.description}
          onChange={(description) => set({ description })}
        />
      </FormSection>
      <FormSection title={texts.scope} note="Subgroups are included.">
        <Field label={texts.hostGroups} error={problems.covers}>
          {(id) => (
            <GroupPicker
              of="host"
              id={id}
              field
              values={draft.groupids}
              onChange={(groupids) => set({ groupids })}
            />
          )}
        </Field>
        <Field label={texts.hosts}>
          {(id) => (
            <HostPicker
              id={id}
              field
              values={draft.hostids}
              onChange={(ids) => set({ hostids: ids })}
            />
          )}
        </Field>
        <TagConditions draft={draft} set={set} />
      </FormSection>
      <FormSection
        title={texts.schedule}
        note="Time periods that start between Active since and Active till."
      >
        <div className="grid gap-4 sm:grid-cols-2">
          <TextField
            label={texts.activeSince}
            required
            type="datetime-local"
            value={draft.since}
            onChange={(since) => set({ since })}
          />
          <TextField
            label={texts.activeTill}
            required
            error={problems.till}
            type="datetime-local"
            value={draft.till}
            onChange={(till) => set({ till })}
          />
        </div>
        <PeriodsEditor
          periods={draft.periods}
          onChange={(periods) => set({ periods })}
          tried={Object.keys(problems).length > 0}
        />
        <Preview draft={draft} />
      </FormSection>
    </ObjectForm>
  );
}
