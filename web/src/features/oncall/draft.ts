import type {
  Holiday,
  LayerInput,
  LayerRow,
  Schedule,
  ScheduleGroup,
  ScheduleInput,
} from "~/api/oncall";
import { formatClock, periodSeconds } from "~/util/time";
import { clockAt, wallAt } from "~/util/zone";

export type LayerSource = "rotation" | "calendar";

export interface RestrictionDraft {
  weekdays: number;
  from: string;
  to: string;
}

/** A layer as the form holds it: what its source needs is used. Moments are in the schedule's zone. */
export interface LayerDraft {
  name: string;
  source: LayerSource;
  users: { userid: string }[];
  start: string;
  /** Empty: never. */
  end: string;
  /** A number of units. */
  every: string;
  unit: string;
  /** A time of day; empty: that of the start. */
  handoff: string;
  onHolidays: string;
  restrictions: RestrictionDraft[];
  /** iCalendar text. */
  calendar: string;
}

export interface ScheduleDraft {
  name: string;
  timezone: string;
  description: string;
  layers: LayerDraft[];
  holidays: Holiday[];
  holidayCalendar: string;
  groups: ScheduleGroup[];
}

export const UNITS = [
  ["w", "weeks"],
  ["d", "days"],
  ["h", "hours"],
] as const;

export const ALL_WEEK = 127;
const LENGTH_MAX_S = 52 * 7 * 86_400;

const isMoment = (text: string) => /^\d{4}-\d{2}-\d{2}T\d{2}:\d{2}$/.test(text);

/** A moment as a box of the browser has it, in a zone; "" stands for the browser's. */
export function boxOf(clock: number, zone: string): string {
  const { year, month, date, seconds } = wallAt(clock, zone || undefined);
  return new Date(Date.UTC(year, month, date) + seconds * 1000).toISOString().slice(0, 16);
}

/** The same back, in Unix seconds; null for what is no moment. */
export function clockOf(text: string, zone: string): number | null {
  if (!isMoment(text)) return null;
  const [year = 0, month = 1, date = 1, hour = 0, minute = 0] = text.split(/[-T:]/).map(Number);
  const wall = { year, month: month - 1, date, seconds: hour * 3600 + minute * 60 };
  return clockAt(wall, zone || undefined);
}

/** A layer to begin with: weekly from Monday at nine. */
export function newLayer(name: string, now: number): LayerDraft {
  const day = new Date(now * 1000);
  day.setDate(day.getDate() - ((day.getDay() + 6) % 7));
  return {
    name,
    source: "rotation",
    users: [{ userid: "" }],
    start: `${formatClock(Math.floor(day.getTime() / 1000), "day")}T09:00`,
    end: "",
    every: "1",
    unit: "w",
    handoff: "",
    onHolidays: "0",
    restrictions: [],
    calendar: "",
  };
}

function lengthOf(period: string): Pick<LayerDraft, "every" | "unit"> {
  const [, every, unit] = /^(\d+)([wdh])$/.exec(period) ?? [];
  return every && unit ? { every, unit } : { every: "1", unit: "w" };
}

function layerDraft(row: LayerRow, zone: string, now: number): LayerDraft {
  const source = row.calendar ? "calendar" : "rotation";
  const fresh = newLayer(row.name, now);
  const end = Number(row.end);
  return {
    ...fresh,
    ...(source === "rotation" ? lengthOf(row.period) : {}),
    source,
    users: row.users.map(({ userid }) => ({ userid })),
    // Calendars need no start.
    start: Number(row.start) > 0 ? boxOf(Number(row.start), zone) : "",
    end: end > 0 ? boxOf(end, zone) : "",
    handoff: row.handoff,
    onHolidays: row.on_holidays,
    restrictions: row.restrictions.map(({ weekdays, from, to }) => ({
      weekdays: Number(weekdays),
      from,
      to,
    })),
    calendar: row.calendar,
  };
}

/** `zone`: the schedule's, or the server's for a new one. */
export function scheduleDraft(row: Schedule | null, zone: string, now: number): ScheduleDraft {
  return {
    name: row?.name ?? "",
    timezone: row?.timezone ?? "system",
    description: row?.description ?? "",
    layers: row?.layers.map((layer) => layerDraft(layer, zone, now)) ?? [newLayer("Primary", now)],
    holidays: row?.holidays.map(({ date, name }) => ({ date, name })) ?? [],
    holidayCalendar: row?.holiday_calendar ?? "",
    groups: row?.usergroups.map(({ usrgrpid, permission }) => ({ usrgrpid, permission })) ?? [],
  };
}

const isTime = (text: string) => /^([01]\d|2[0-3]):[0-5]\d$/.test(text.trim());

function rotationProblem(layer: LayerDraft): string | undefined {
  if (layer.users.length === 0 || layer.users.some(({ userid }) => !userid))
    return "Choose the users in turn.";
  if (!isMoment(layer.start)) return "Enter when the first shift begins.";
  const length = periodSeconds(`${layer.every.trim()}${layer.unit}`);
  if (!length || length > LENGTH_MAX_S) return "Enter a shift length from 1 hour to 52 weeks.";
  if (layer.unit !== "h" && layer.handoff && !isTime(layer.handoff))
    return "Enter the time of the handoff, such as 09:00.";
  return undefined;
}

/** What is wrong with a layer. */
function layerProblem(layer: LayerDraft): string | undefined {
  if (!layer.name.trim()) return "Enter a name for each layer.";
  if (layer.source === "calendar" && !layer.calendar.includes("BEGIN:VCALENDAR"))
    return "Enter a calendar that starts with BEGIN:VCALENDAR.";
  if (layer.end && !isMoment(layer.end)) return "Enter when the layer ends.";
  for (const { weekdays, from, to } of layer.restrictions) {
    if (weekdays === 0) return "Choose weekdays for each time.";
    if (!isTime(from) || !(isTime(to) || to.trim() === "24:00"))
      return "Enter times of day, such as 18:00 and 24:00.";
  }
  return layer.source === "rotation" ? rotationProblem(layer) : undefined;
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function scheduleProblems(draft: ScheduleDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (draft.layers.length === 0) problems.layers = "Add at least one layer.";
  for (const [at, layer] of draft.layers.entries()) {
    const problem = layerProblem(layer);
    if (problem) problems[`layer${at}`] = problem;
  }
  if (draft.holidays.some(({ date }) => !/^\d{4}-\d{2}-\d{2}$/.test(date)))
    problems.holidays = "Enter a date for each holiday.";
  if (draft.groups.some(({ usrgrpid }) => !usrgrpid)) problems.groups = "Choose each user group.";
  return problems;
}

function layerParams(layer: LayerDraft, zone: string): LayerInput {
  const both: LayerInput = {
    name: layer.name.trim(),
    start: String(clockOf(layer.start, zone) ?? 0),
    end: String(clockOf(layer.end, zone) ?? 0),
    on_holidays: layer.onHolidays,
    restrictions: layer.restrictions.map(({ weekdays, from, to }) => ({
      weekdays: String(weekdays),
      from: from.trim(),
      to: to.trim(),
    })),
  };
  if (layer.source === "calendar") return { ...both, calendar: layer.calendar };
  return {
    ...both,
    users: layer.users,
    period: `${layer.every.trim()}${layer.unit}`,
    handoff: layer.unit === "h" ? "" : layer.handoff.trim(),
  };
}

/** A draft without problems, as `oncall.create` and `oncall.update` take it. */
export function scheduleParams(draft: ScheduleDraft, zone: string): ScheduleInput {
  return {
    name: draft.name.trim(),
    timezone: draft.timezone,
    description: draft.description,
    layers: draft.layers.map((layer) => layerParams(layer, zone)),
    holidays: draft.holidays.map(({ date, name }) => ({ date, name: name.trim() })),
    holiday_calendar: draft.holidayCalendar,
    usergroups: draft.groups,
  };
}
