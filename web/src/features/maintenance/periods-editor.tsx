import { PeriodType } from "~/api/schema";
import { Mask } from "~/shared/forms/mask";
import { AddButton } from "~/shared/forms/rows-editor";
import { IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { SelectField, TextField } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { MONTHS, periodWords, type Repeat, WEEKDAYS, WEEKS } from "~/util/maintenance";
import { patched, without } from "~/util/rows";
import { newPeriod, type PeriodDraft, periodOf } from "./draft";
import { texts } from "./texts";

const REPEATS: readonly (readonly [Repeat, string])[] = [
  ["0", "Once"],
  ["2", "Daily"],
  ["3", "Weekly"],
  ["4", "Monthly"],
];
const WEEK_OPTIONS = WEEKS.map((name, n) => [String(n + 1), name] as const);

interface PeriodProps {
  period: PeriodDraft;
  set: (next: Partial<PeriodDraft>) => void;
}

function Every({ period, set, unit }: PeriodProps & { unit: string }) {
  return (
    <TextField
      label={texts.everyUnit(unit)}
      inputMode="numeric"
      value={period.every}
      onChange={(every) => set({ every })}
    />
  );
}

/** Which days of which months. */
function Monthly({ period, set }: PeriodProps) {
  return (
    <>
      <Mask
        label={texts.months}
        names={MONTHS}
        mask={period.months}
        onChange={(months) => set({ months })}
      />
      <div className="flex flex-wrap items-end gap-3">
        <Segmented
          label={texts.date}
          value={period.by}
          onChange={(by) => set({ by })}
          options={[
            ["day", texts.dayOfTheMonth],
            ["weekdays", texts.dayOfTheWeek],
          ]}
        />
        {period.by === "day" ? (
          <TextField
            label={texts.day}
            fieldClass="w-20"
            inputMode="numeric"
            value={period.dayText}
            onChange={(dayText) => set({ dayText })}
          />
        ) : (
          <SelectField
            label={texts.weekOfTheMonth}
            fieldClass="w-36"
            options={WEEK_OPTIONS}
            value={period.every}
            onChange={(every) => set({ every })}
          />
        )}
      </div>
    </>
  );
}

function PeriodFields({ period, set }: PeriodProps) {
  const { repeat } = period;
  const weekly =
    repeat === PeriodType.Weekly || (repeat === PeriodType.Monthly && period.by === "weekdays");
  return (
    <>
      {repeat === PeriodType.Monthly && <Monthly period={period} set={set} />}
      {weekly && (
        <Mask
          label={texts.daysOfTheWeek}
          names={WEEKDAYS}
          mask={period.weekdays}
          onChange={(weekdays) => set({ weekdays })}
        />
      )}
      <div className="grid gap-3 sm:grid-cols-3">
        {repeat === PeriodType.Daily && <Every period={period} set={set} unit="days" />}
        {repeat === PeriodType.Weekly && <Every period={period} set={set} unit="weeks" />}
        {repeat === PeriodType.Once ? (
          <TextField
            label={texts.start}
            type="datetime-local"
            value={period.startDate}
            onChange={(startDate) => set({ startDate })}
          />
        ) : (
          <TextField
            label={texts.at}
            type="time"
            value={period.startTime}
            onChange={(startTime) => set({ startTime })}
          />
        )}
        <TextField
          label={texts.duration}
          placeholder="2h 30m"
          value={period.length}
          onChange={(length) => set({ length })}
        />
      </div>
    </>
  );
}

/** What makes no sense for the new kind does not stay from the old one. */
function changeRepeat(period: PeriodDraft, repeat: Repeat): Partial<PeriodDraft> {
  const weekday = (new Date(period.startDate).getDay() + 6) % 7;
  const weekdays =
    repeat === PeriodType.Weekly && period.weekdays === 0 ? 1 << (weekday || 0) : period.weekdays;
  return { repeat, every: "1", weekdays, months: period.months || 4095 };
}

interface PeriodsEditorProps {
  periods: readonly PeriodDraft[];
  onChange: (periods: PeriodDraft[]) => void;
  /** Saving was tried: what is wrong is shown as such. */
  tried: boolean;
}

/** Time periods, a box each, with what it means in words below. */
export function PeriodsEditor({ periods, onChange, tried }: PeriodsEditorProps) {
  const set = (at: number, next: Partial<PeriodDraft>) => onChange(patched(periods, at, next));
  return (
    <div className="flex flex-col gap-3">
      {periods.map((period, i) => {
        const read = periodOf(period);
        const wrong = typeof read === "string";
        return (
          <fieldset
            // biome-ignore lint/suspicious/noArrayIndexKey: periods have no identity but their place
            key={i}
            aria-label={texts.timePeriod(i + 1)}
            className="flex flex-col gap-3 rounded-lg border p-3"
          >
            <div className="flex items-center justify-between gap-2">
              <Segmented
                label={texts.repeats}
                value={period.repeat}
                onChange={(repeat) => set(i, changeRepeat(period, repeat))}
                options={REPEATS}
              />
              <IconButton
                icon="trash"
                label={texts.removeTimePeriod(i + 1)}
                onClick={() => onChange(without(periods, i))}
              />
            </div>
            <PeriodFields period={period} set={(next) => set(i, next)} />
            <p className={cx("text-sm", wrong ? (tried ? "text-bad-ink" : "text-faint") : "")}>
              {wrong ? read : periodWords(read)}
            </p>
          </fieldset>
        );
      })}
      <AddButton onClick={() => onChange([...periods, newPeriod(Math.floor(Date.now() / 1000))])}>
        {texts.addTimePeriod}
      </AddButton>
    </div>
  );
}
