import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, Ids, Many } from "./gets";
import type { Members } from "./methods";

/** When a layer is in force: weekdays as bits from Monday, times of day. */
export interface Restriction {
  weekdays: string;
  from: string;
  /** At most `from`: of the next day. */
  to: string;
}

export interface LayerRow {
  name: string;
  /** In turn. */
  users: { userid: string }[];
  /** Unix seconds. */
  start: string;
  /** Unix seconds; "0": never. */
  end: string;
  /** "1w", "2d", "12h". */
  period: string;
  /** A time of day; "": that of the start. */
  handoff: string;
  /** See `HOLIDAY_RULES` in `util/oncall.ts`. */
  on_holidays: string;
  restrictions: Restriction[];
  /** Text of a calendar whose events are the shifts. */
  calendar: string;
  calendar_error: string;
}

export interface OverrideRow {
  overrideid: string;
  userid: string;
  from: string;
  to: string;
  /** The other override of a swap; "0": none. */
  swapid: string;
  createdby: string;
}

export interface ScheduleRow {
  scheduleid: string;
  name: string;
  /** "system": the server's. */
  timezone: string;
  description: string;
  /** Text of a calendar whose days are holidays. */
  holiday_calendar: string;
}

export interface Member {
  userid: string;
  username: string;
  name: string;
  surname: string;
}

export interface Holiday {
  date: string;
  name: string;
}

/** `permission`: 2 view, 3 change. */
export interface ScheduleGroup {
  usrgrpid: string;
  permission: string;
}

/** A layer as `create` takes it: a rotation or a calendar. */
export type LayerInput = Pick<LayerRow, "name"> & Partial<Omit<LayerRow, "calendar_error">>;

export interface ScheduleInput {
  name: string;
  timezone: string;
  description: string;
  usergroups: ScheduleGroup[];
  layers: LayerInput[];
  holidays: Holiday[];
  holiday_calendar: string;
}

export interface ShiftsParams {
  scheduleids?: readonly string[];
  from: number;
  to: number;
  userids?: readonly string[];
  of?: "final" | "layers";
  limit?: number;
}

export interface ShiftRow {
  scheduleid: string;
  /** "0": nobody. */
  userid: string;
  from: string;
  to: string;
  /** Place of the layer; "-1": an override, or a gap. */
  layer: string;
  overrideid: string;
  gap: string;
}

export interface OverrideParams {
  scheduleid: string;
  userid: string;
  from: number;
  to: number;
  /** The shift of `userid` that is taken over in exchange. */
  swap?: { from: number; to: number };
}

export interface CalendarParams {
  /** "0": all, with `mine` 1. */
  scheduleid: string;
  mine: 0 | 1;
  revoke?: 1;
}

/** What schedules have for the tables of methods. */
export interface OnCallMethods {
  "oncall.shifts": { params: ShiftsParams; result: ShiftRow[] };
  "oncall.override": { params: OverrideParams; result: { overrideids: string[] } };
  "oncall.revoke": { params: string[]; result: { overrideids: string[] } };
  "oncall.ical": { params: CalendarParams; result: { token: string; path: string } };
}

export interface OnCallGets {
  "oncall.get": Get<
    ScheduleRow,
    {
      selectLayers: Many<"layers", LayerRow>;
      selectHolidays: Many<"holidays", Holiday>;
      selectUserGroups: Many<"usergroups", ScheduleGroup>;
      selectOverrides: Many<"overrides", OverrideRow>;
      selectUsers: Many<"users", Member>;
    },
    { scheduleids?: Ids; userids?: Ids; editable?: boolean }
  >;
}

export interface ScheduleSummary {
  scheduleid: string;
  name: string;
  timezone: string;
  description: string;
  layers: { name: string; calendar_error: string }[];
  users: Member[];
}

/** Shifts begin and end without a notice on the stream. */
const POLL_MS = 30_000;
/** More than a month of hourly shifts of a schedule. */
const SHIFTS_MAX = 5_000;

/** The schedules that the user may view. */
export const schedulesQuery = () =>
  queryOptions({
    queryKey: ["oncall", "schedules"],
    queryFn: ({ signal }): Promise<ScheduleSummary[]> =>
      rpc(
        "oncall.get",
        {
          output: ["scheduleid", "name", "timezone", "description"],
          selectLayers: ["name", "calendar_error"],
          selectUsers: ["userid", "username", "name", "surname"],
          sortfield: "name",
        },
        signal,
      ),
    refetchInterval: POLL_MS,
    meta: { live: "config" },
  });

/** Ids of the schedules that the user may change. */
export const editableSchedulesQuery = () =>
  queryOptions({
    queryKey: ["oncall", "editable"],
    queryFn: async ({ signal }): Promise<string[]> =>
      (await rpc("oncall.get", { output: ["scheduleid"], editable: true }, signal)).map(
        (row) => row.scheduleid,
      ),
    meta: { live: "config" },
  });

/** Names of schedules, for choices and texts. */
export const scheduleNamesQuery = () =>
  queryOptions({
    queryKey: ["oncall", "names"],
    queryFn: ({ signal }) =>
      rpc("oncall.get", { output: ["scheduleid", "name"], sortfield: "name" }, signal),
    meta: { live: "config" },
  });

export interface Schedule extends ScheduleRow {
  layers: LayerRow[];
  holidays: Holiday[];
  usergroups: ScheduleGroup[];
  users: Member[];
}

/** A schedule as its form edits it. */
export const scheduleQuery = (scheduleid: string) =>
  queryOptions({
    queryKey: ["oncall", "one", scheduleid],
    queryFn: async ({ signal }): Promise<Schedule | null> =>
      (
        await rpc(
          "oncall.get",
          {
            output: ["scheduleid", "name", "timezone", "description", "holiday_calendar"],
            scheduleids: scheduleid,
            selectLayers: "extend",
            selectHolidays: "extend",
            selectUserGroups: "extend",
            selectUsers: ["userid", "username", "name", "surname"],
          },
          signal,
        )
      )[0] ?? null,
    meta: { live: "config" },
  });

/** The overrides of a schedule. */
export const overridesQuery = (scheduleid: string) =>
  queryOptions({
    queryKey: ["oncall", "overrides", scheduleid],
    queryFn: async ({ signal }): Promise<OverrideRow[]> => {
      const [row] = await rpc(
        "oncall.get",
        { output: ["scheduleid"], scheduleids: scheduleid, selectOverrides: "extend" },
        signal,
      );
      return row?.overrides ?? [];
    },
    enabled: scheduleid !== "",
    refetchInterval: POLL_MS,
    meta: { live: "config" },
  });

/** Who is on call when. */
export const shiftsQuery = (params: ShiftsParams) =>
  queryOptions({
    queryKey: ["oncall", "shifts", params],
    queryFn: ({ signal }): Promise<ShiftRow[]> =>
      rpc("oncall.shifts", { limit: SHIFTS_MAX, ...params }, signal),
    placeholderData: (rows, query) => {
      const before = query?.queryKey[2] as ShiftsParams | undefined;
      // The clock has moved on: what was read stays until the answer is there.
      const same =
        before?.to !== undefined &&
        JSON.stringify({ ...before, from: 0, to: 0 }) ===
          JSON.stringify({ ...params, from: 0, to: 0 }) &&
        Math.abs(before.from - params.from) < 2 * MOVE_S;
      return same ? rows : undefined;
    },
    refetchInterval: POLL_MS,
    meta: { live: "config" },
  });

/** Ranges from "now" begin at these steps, so that their queries last. */
export const MOVE_S = 300;

export function saveSchedule(
  scheduleid: string | null,
  schedule: Members<"oncall">,
): Promise<{ scheduleids: string[] }> {
  if (!scheduleid) return rpc("oncall.create", schedule);
  return rpc("oncall.update", { scheduleid, ...schedule });
}

export const deleteSchedule = (scheduleid: string): Promise<unknown> =>
  rpc("oncall.delete", [scheduleid]);

export const overrideShift = (params: OverrideParams) => rpc("oncall.override", params);

/** Of a swap both overrides go. */
export const revokeOverride = (overrideid: string) => rpc("oncall.revoke", [overrideid]);

/** A new address of a calendar; the earlier one stops working. */
export const createCalendar = (params: CalendarParams) => rpc("oncall.ical", params);
