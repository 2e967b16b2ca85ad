import { useQueryClient } from "@tanstack/react-query";
import { useNavigate } from "@tanstack/react-router";
import { useState } from "react";
import { deleteSlas, type Sla, saveSla } from "~/api/slas";
import { ObjectForm } from "~/shared/forms/object-form";
import { RowsEditor } from "~/shared/forms/rows-editor";
import { FormSection } from "~/shared/forms/section";
import { TagConditionsEditor } from "~/shared/forms/tag-conditions";
import { useDraft } from "~/shared/forms/use-draft";
import { Checkbox, Field, Input, SelectField, TextareaField, TextField } from "~/ui/field";
import { SegmentedField } from "~/ui/segmented";
import { replaced } from "~/util/rows";
import { TAG_OPERATORS } from "~/util/services";
import { PERIODS, WEEKDAY_NAMES } from "~/util/sla";
import { type SlaDraft, slaDraft, slaParams, slaProblems } from "./draft";
import { texts } from "./texts";

interface PartProps {
  draft: SlaDraft;
  set: (next: Partial<SlaDraft>) => void;
  problems: Record<string, string>;
}

/** Time zones by name; that of the agreement stays if the browser does not know it. */
function zones(chosen: string) {
  const names = ["UTC", ...Intl.supportedValuesOf("timeZone").filter((name) => name !== "UTC")];
  const known = chosen === "system" || names.includes(chosen);
  return [
    ["system", texts.systemZone] as const,
    ...(known ? names : [chosen, ...names]).map((name) => [name, name] as const),
  ];
}

function General({ draft, set, problems, isNew }: PartProps & { isNew: boolean }) {
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
      <TextareaField
        label={texts.description}
        rows={2}
        value={draft.description}
        onChange={(description) => set({ description })}
      />
      <Checkbox
        label={texts.enabled}
        checked={draft.on}
        onChange={(event) => set({ on: event.target.checked })}
      />
    </FormSection>
  );
}

function Objective({ draft, set, problems }: PartProps) {
  const [choices] = useState(() => zones(draft.timezone));
  return (
    <FormSection title={texts.objective} note={texts.objectiveNote}>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField
          label={texts.sloLabel}
          required
          inputMode="decimal"
          error={problems.slo}
          value={draft.slo}
          onChange={(slo) => set({ slo })}
        />
        <SelectField
          label={texts.period}
          options={PERIODS}
          value={draft.period}
          onChange={(period) => set({ period })}
        />
        <TextField
          label={texts.since}
          required
          type="date"
          hint={texts.sinceHint}
          error={problems.since}
          value={draft.since}
          onChange={(since) => set({ since })}
        />
        <SelectField
          label={texts.timeZone}
          options={choices}
          value={draft.timezone}
          onChange={(timezone) => set({ timezone })}
        />
      </div>
    </FormSection>
  );
}

function Schedule({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.schedule} note={texts.scheduleNote}>
      <SegmentedField
        label={texts.scheduleMode}
        value={draft.always ? "always" : "custom"}
        onChange={(mode) => set({ always: mode === "always" })}
        options={[
          ["always", texts.always],
          ["custom", texts.custom],
        ]}
      />
      {!draft.always && (
        <div className="flex flex-col gap-2">
          {/* Weeks begin on Monday here, in the API on Sunday. */}
          {[1, 2, 3, 4, 5, 6, 0].map((day) => (
            <Field
              key={day}
              label={WEEKDAY_NAMES[day] ?? ""}
              className="sm:grid sm:grid-cols-[7rem_minmax(0,1fr)] sm:items-center"
            >
              {(id) => (
                <Input
                  id={id}
                  value={draft.days[day] ?? ""}
                  onChange={(event) => set({ days: replaced(draft.days, day, event.target.value) })}
                />
              )}
            </Field>
          ))}
          <p className={problems.days ? "text-xs text-bad-ink" : "text-xs text-faint"}>
            {problems.days ?? texts.dayHint}
          </p>
        </div>
      )}
    </FormSection>
  );
}

function Downtimes({ draft, set, problems }: PartProps) {
  return (
    <FormSection title={texts.downtimes} note={texts.downtimesNote}>
      <RowsEditor
        word={texts.downtimeWord}
        rows={draft.downtimes}
        onChange={(downtimes) => set({ downtimes })}
        fresh={() => ({ name: "", from: "", to: "" })}
        columns="grid-cols-[minmax(0,1fr)_2rem] sm:grid-cols-[minmax(0,1fr)_12.5rem_12.5rem_2rem]"
        note={problems.downtimes && <p className="text-xs text-bad-ink">{problems.downtimes}</p>}
      >
        {(downtime, change) => (
          <>
            <Input
              aria-label={texts.downtimeName}
              placeholder={texts.name}
              maxLength={255}
              value={downtime.name}
              onChange={(event) => change({ name: event.target.value })}
            />
            {(["from", "to"] as const).map((end) => (
              <Input
                key={end}
                type="datetime-local"
                aria-label={texts[end]}
                className="max-sm:order-1 max-sm:col-span-2"
                value={downtime[end]}
                onChange={(event) => change({ [end]: event.target.value })}
              />
            ))}
          </>
        )}
      </RowsEditor>
    </FormSection>
  );
}

/** Creates or edits an agreement. */
export function SlaForm({ sla }: { sla: Sla | null }) {
  const drafting = useDraft(() => slaDraft(sla, Math.floor(Date.now() / 1000)), slaProblems);
  const { draft, set, problems } = drafting;
  const navigate = useNavigate();
  const client = useQueryClient();
  const leave = () => {
    void client.invalidateQueries({ queryKey: ["slas"] });
    void client.invalidateQueries({ queryKey: ["sli"] });
    void navigate({ to: "/sla" });
  };
  const id = sla?.slaid ?? null;
  const part = { draft, set, problems };
  return (
    <ObjectForm
      word={texts.slaWord}
      drafting={drafting}
      isNew={id === null}
      save={() => saveSla(id, slaParams(draft))}
      onSaved={leave}
      remove={() => deleteSlas([id ?? ""])}
      onDeleted={leave}
      loss={texts.lossOnDelete}
    >
      <General {...part} isNew={id === null} />
      <Objective {...part} />
      <FormSection title={texts.services} note={texts.servicesNote}>
        <TagConditionsEditor
          tags={draft.tags}
          operators={TAG_OPERATORS}
          onChange={(tags) => set({ tags })}
        />
        {problems.tags && <p className="text-xs text-bad-ink">{problems.tags}</p>}
      </FormSection>
      <Schedule {...part} />
      <Downtimes {...part} />
    </ObjectForm>
  );
}
