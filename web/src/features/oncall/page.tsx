import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo, useState } from "react";
import {
  editableSchedulesQuery,
  overridesQuery,
  type ScheduleSummary,
  schedulesQuery,
  shiftsQuery,
} from "~/api/oncall";
import { session } from "~/api/session-store";
import { together } from "~/api/windows";
import { serverZoneQuery } from "~/api/zone";
import { QueryError, StaleError } from "~/shared/fallback";
import { Page } from "~/shared/page";
import { Button, buttonClass, IconButton } from "~/ui/button";
import { Card } from "~/ui/card";
import { Select } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Empty, SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { blocksOf, dayWords, joined, type Shift, shiftOf, weekFrom } from "~/util/oncall";
import { localZone } from "~/util/time";
import { CalendarDialog } from "./calendar-dialog";
import { MyShifts } from "./mine";
import { OnCallNow } from "./now";
import { type People, peopleOf } from "./people";
import { ShiftDialog } from "./shift-dialog";
import type { ChangeKind, Rights } from "./shift-draft";
import { texts } from "./texts";
import { type Lane, WeekGrid, WeekList } from "./week";

const route = getRouteApi("/inside/oncall");

const mayCreate = () => (session()?.type ?? 0) >= 2;

const CREATE = (
  <Link to="/oncall/new" className={buttonClass("primary")}>
    <Icon name="plus" size={15} />
    {texts.createSchedule}
  </Link>
);

/** Around the week, so that shifts are not cut at its ends. */
const AROUND_S = 14 * 86_400;

const overrideOf = (shift: Shift) => ({ ...shift, layer: -1 });

/** What is read of the week of a schedule. */
function useWeek(schedule: ScheduleSummary, days: readonly number[]) {
  const range = {
    scheduleids: [schedule.scheduleid],
    from: (days[0] ?? 0) - AROUND_S,
    to: (days.at(-1) ?? 0) + AROUND_S,
  };
  const final = useQuery(shiftsQuery(range));
  const layers = useQuery(shiftsQuery({ ...range, of: "layers" }));
  const overrides = useQuery(overridesQuery(schedule.scheduleid));
  const lanes = useMemo((): Lane[] => {
    const { scheduleid } = schedule;
    const own = (overrides.data ?? []).map((row) =>
      overrideOf(shiftOf({ ...row, scheduleid, layer: "-1", gap: "0" })),
    );
    const rows = (layers.data ?? []).map(shiftOf);
    const ofLayers = schedule.layers.map(({ name }, at) => ({
      id: String(at),
      label: texts.layer(name),
      shifts: joined(rows.filter(({ layer }) => layer === at)),
    }));
    return [{ id: "overrides", label: texts.overrides, shifts: own }, ...ofLayers.toReversed()];
  }, [schedule, layers.data, overrides.data]);
  return {
    final: final.data && joined(final.data.map(shiftOf)),
    lanes,
    query: together(final, layers),
  };
}

interface NotesProps {
  schedule: ScheduleSummary;
  days: readonly number[];
  final: readonly Shift[];
}

/** What the reader has to know about times and calendars. */
function Notes({ schedule, days, final }: NotesProps) {
  const { data: server } = useQuery(serverZoneQuery());
  const own = localZone();
  const isServers = schedule.timezone === "system";
  const zone = isServers ? server : schedule.timezone;
  const gaps = blocksOf(final, days).filter(({ isGap }) => isGap).length;
  const failed = schedule.layers.filter((layer) => layer.calendar_error);
  return (
    <>
      {gaps > 0 && <p className="text-xs text-bad-ink">{texts.gapsNote(gaps)}</p>}
      {failed.map((layer) => (
        <p key={layer.name} className="text-xs text-bad-ink">
          {texts.calendarFailed(layer.name, layer.calendar_error)}
        </p>
      ))}
      {zone && zone !== own && (
        <p className="text-xs text-soft">
          {texts.otherZone(isServers ? texts.serverZone(zone) : zone)}
        </p>
      )}
    </>
  );
}

interface WeekProps {
  schedule: ScheduleSummary;
  schedules: readonly ScheduleSummary[];
  people: People;
  /** Weeks from the present one. */
  weeks: number;
  editable: boolean;
  onGo: (next: { schedule?: string; week?: string }) => void;
  onOpen: (shift: Shift) => void;
}

function Week({ schedule, schedules, people, weeks, editable, onGo, onOpen }: WeekProps) {
  const now = useNow();
  // The week changes with the day only.
  const today = weekFrom(now)[0] ?? now;
  const days = useMemo(() => weekFrom(today, weeks), [today, weeks]);
  const { final, lanes, query } = useWeek(schedule, days);
  const go = (to: number) => onGo({ week: to === 0 ? undefined : String(to) });
  return (
    <Card
      title={schedules.length > 1 ? texts.week : schedule.name}
      bodyClass=""
      side={
        editable && (
          <Link
            to="/oncall/$scheduleid/edit"
            params={{ scheduleid: schedule.scheduleid }}
            className={buttonClass("plain", true)}
          >
            <Icon name="edit" size={13} />
            {texts.editSchedule}
          </Link>
        )
      }
    >
      <div className="flex flex-wrap items-center gap-2 px-3 pt-1 pb-3">
        {schedules.length > 1 && (
          <Select
            aria-label={texts.schedule}
            className="w-56!"
            options={schedules.map((one) => [one.scheduleid, one.name] as const)}
            value={schedule.scheduleid}
            onChange={(event) => onGo({ schedule: event.target.value })}
          />
        )}
        <span className="flex items-center">
          <IconButton icon="left" label={texts.previousWeek} onClick={() => go(weeks - 1)} />
          <IconButton icon="right" label={texts.nextWeek} onClick={() => go(weeks + 1)} />
        </span>
        <span className="tabular font-medium">
          {texts.fromTo(dayWords(days[0] ?? 0), dayWords(days.at(-2) ?? 0))}
        </span>
        {weeks !== 0 && (
          <Button small look="quiet" onClick={() => go(0)}>
            {texts.today}
          </Button>
        )}
      </div>
      <StaleError query={query} className="mx-3 mb-2" />
      {!final ? (
        query.error ? (
          <QueryError
            error={query.error}
            onRetry={() => void query.refetch()}
            className="mx-3 mb-3"
          />
        ) : (
          <SkeletonRows rows={4} />
        )
      ) : (
        <>
          <WeekGrid days={days} final={final} lanes={lanes} people={people} onOpen={onOpen} />
          <WeekList days={days} final={final} people={people} onOpen={onOpen} />
          <div className="flex flex-col gap-1 border-t px-3 py-2 empty:hidden">
            <Notes schedule={schedule} days={days} final={final} />
          </div>
        </>
      )}
    </Card>
  );
}

interface Opened {
  shift: Shift;
  kind: ChangeKind;
  now: number;
}

/** What the user may do about a schedule's shifts. */
function useRights(schedule: ScheduleSummary | undefined): Rights {
  const { data: editable = [] } = useQuery({ ...editableSchedulesQuery(), enabled: mayCreate() });
  const own = session()?.userid ?? "";
  return {
    own,
    change: schedule !== undefined && editable.includes(schedule.scheduleid),
    member: schedule?.users.some(({ userid }) => userid === own) === true,
  };
}

function Schedules({ schedules }: { schedules: readonly ScheduleSummary[] }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = useNow();
  const [opened, setOpened] = useState<Opened>();
  const people = useMemo(() => peopleOf(schedules), [schedules]);
  const named = (id: string | undefined) => schedules.find(({ scheduleid }) => scheduleid === id);
  const schedule = named(search.schedule) ?? schedules[0];
  const ofShift = named(opened?.shift.scheduleid) ?? schedule;
  const editable = useRights(schedule).change;
  const rights = useRights(ofShift);
  const open = (shift: Shift, kind: ChangeKind = "cover") => setOpened({ shift, kind, now });
  if (!schedule || !ofShift) return null;
  return (
    <div className="flex flex-col gap-4">
      <OnCallNow schedules={schedules} people={people} chosen={schedule.scheduleid} />
      <MyShifts schedules={schedules} onChange={open} />
      <Week
        schedule={schedule}
        schedules={schedules}
        people={people}
        weeks={Math.trunc(Number(search.week)) || 0}
        editable={editable}
        onGo={(next) => void navigate({ search: (old) => ({ ...old, ...next }) })}
        onOpen={open}
      />
      {opened && (
        <ShiftDialog
          {...opened}
          schedule={ofShift}
          rights={rights}
          people={people}
          onClose={() => setOpened(undefined)}
        />
      )}
    </div>
  );
}

/** Who is on call now, the user's own shifts, and the week of a schedule. */
export function OnCallPage() {
  const query = useQuery(schedulesQuery());
  const [calendar, setCalendar] = useState(false);
  const schedules = query.data;
  return (
    <Page
      title={texts.onCall}
      scroll
      actions={
        <>
          {schedules && schedules.length > 0 && (
            <Button icon="link" onClick={() => setCalendar(true)}>
              {texts.calendar}
            </Button>
          )}
          {mayCreate() && CREATE}
        </>
      }
    >
      <StaleError query={query} className="mb-2" />
      {!schedules ? (
        query.error ? (
          <QueryError error={query.error} onRetry={() => void query.refetch()} />
        ) : (
          <SkeletonRows rows={10} />
        )
      ) : schedules.length === 0 ? (
        <Card bodyClass="">
          <Empty icon="phone" title={texts.noSchedules} action={mayCreate() ? CREATE : undefined}>
            {mayCreate() ? texts.schedulesSay : texts.askForASchedule}
          </Empty>
        </Card>
      ) : (
        <Schedules schedules={schedules} />
      )}
      {calendar && schedules && (
        <CalendarDialog schedules={schedules} onClose={() => setCalendar(false)} />
      )}
    </Page>
  );
}
