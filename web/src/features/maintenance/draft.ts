import type { MaintenanceDetail, MaintenanceTag } from "~/api/maintenance";
import type { Members } from "~/api/methods";
import { PeriodType } from "~/api/schema";
import {
  LENGTH_MIN_S,
  lengthSeconds,
  lengthText,
  type Period,
  type Schedule,
  timeSeconds,
  timeText,
} from "~/util/maintenance";
import { formatLocal, parseTime } from "~/util/time";

/** A period as its boxes hold it. */
export interface PeriodDraft extends Omit<Period, "startTime" | "length" | "startDate" | "every"> {
  every: string;
  /** Of a monthly one: whether a day of the month or weekdays choose. */
  by: "day" | "weekdays";
  dayText: string;
  startTime: string;
  length: string;
  startDate: string;
}

/** A maintenance as the form holds it; moments as the browser's boxes have them. */
export interface Draft {
  name: string;
  noData: boolean;
  description: string;
  since: string;
  till: string;
  groupids: string[];
  hostids: string[];
  anyTag: boolean;
  tags: MaintenanceTag[];
  periods: PeriodDraft[];
}

const DAY_S = 86_400;
const ALL_MONTHS = 4095;

export function periodDraft(period: Period): PeriodDraft {
  return {
    ...period,
    every: String(period.every),
    by: period.weekdays > 0 ? "weekdays" : "day",
    dayText: String(period.day || 1),
    startTime: timeText(period.startTime),
    length: lengthText(period.length),
    startDate: formatLocal(period.startDate),
  };
}

/** A period to begin with: once, in an hour, or what fits the other kinds. */
export function newPeriod(now: number): PeriodDraft {
  const startDate = Math.ceil(now / 3600) * 3600;
  const rest = { every: 1, day: 0, months: ALL_MONTHS, weekdays: 0 };
  return periodDraft({ repeat: "0", ...rest, startTime: 7200, length: 3600, startDate });
}

export function draftOf(
  maintenance: MaintenanceDetail | null,
  now: number,
  hostids: string[] = [],
): Draft {
  const since = now - (now % 3600);
  return {
    name: maintenance?.name ?? "",
    noData: maintenance?.noData ?? false,
    description: maintenance?.description ?? "",
    since: formatLocal(maintenance?.since ?? since),
    till: formatLocal(maintenance?.till ?? since + 365 * DAY_S),
    groupids: maintenance?.groups.map((group) => group.groupid) ?? [],
    hostids: maintenance?.hosts.map((host) => host.hostid) ?? hostids,
    anyTag: maintenance?.anyTag ?? false,
    tags: maintenance?.tags ?? [],
    periods: maintenance?.periods.map(periodDraft) ?? [newPeriod(now)],
  };
}

const moment = (text: string) => parseTime(text.replace("T", " "), "from");

function count(text: string, max: number): number | null {
  const n = /^\d{1,3}$/.test(text.trim()) ? Number(text) : 0;
  return n >= 1 && n <= max ? n : null;
}

/** What its boxes say, or what is wrong with them. */
export function periodOf(draft: PeriodDraft): Period | string {
  const { repeat, by } = draft;
  const length = lengthSeconds(draft.length);
  if (length === null) return "Enter a duration such as 2h, 90m or 1d 12h.";
  if (length < LENGTH_MIN_S) return "A period must last at least five minutes.";
  const none = { every: 1, months: 0, weekdays: 0, day: 0, startTime: 0, startDate: 0 };
  if (repeat === PeriodType.Once) {
    const startDate = moment(draft.startDate);
    return startDate === null ? "Choose a start time." : { ...none, repeat, length, startDate };
  }
  const startTime = timeSeconds(draft.startTime);
  if (startTime === null) return "Enter a time such as 02:30.";
  const timed = { ...none, repeat, length, startTime };
  const max = { "2": 999, "3": 99, "4": 5 }[repeat];
  const every = count(draft.every, max);
  if (repeat === PeriodType.Daily)
    return every ? { ...timed, every } : `Days: enter a number from 1 to ${max}.`;
  if (repeat === PeriodType.Weekly) {
    if (!every) return `Weeks: enter a number from 1 to ${max}.`;
    if (draft.weekdays === 0) return "Choose at least one day of the week.";
    return { ...timed, every, weekdays: draft.weekdays };
  }
  if (draft.months === 0) return "Choose at least one month.";
  if (by === "weekdays") {
    if (draft.weekdays === 0) return "Choose at least one day of the week.";
    return { ...timed, every: every ?? 1, months: draft.months, weekdays: draft.weekdays };
  }
  const day = count(draft.dayText, 31);
  return day
    ? { ...timed, months: draft.months, day }
    : "Day of the month: enter a number from 1 to 31.";
}

/** When the draft would run by the clocks of a zone; periods that cannot be read are left out. */
export function scheduleOf(draft: Draft, zone?: string): Schedule | null {
  const since = moment(draft.since);
  const till = moment(draft.till);
  if (since === null || till === null || since >= till) return null;
  const periods = draft.periods.map(periodOf).filter((one) => typeof one !== "string");
  return { since, till, periods, zone };
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function problemsOf(draft: Draft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (scheduleOf(draft) === null) problems.till = "The end must be after the start.";
  if (draft.groupids.length + draft.hostids.length === 0) {
    problems.covers = "Choose at least one host group or host.";
  }
  if (draft.periods.length === 0) problems.periods = "Add at least one time period.";
  for (const [n, period] of draft.periods.entries()) {
    const read = periodOf(period);
    if (typeof read === "string") problems[`period${n}`] = read;
  }
  return problems;
}

function periodParams(period: Period): object {
  const { repeat, every, months, weekdays, day, startTime, length, startDate } = period;
  const members = { timeperiod_type: repeat, period: length };
  if (repeat === PeriodType.Once) return { ...members, start_date: startDate };
  const timed = { ...members, start_time: startTime };
  if (repeat === PeriodType.Daily) return { ...timed, every };
  if (repeat === PeriodType.Weekly) return { ...timed, every, dayofweek: weekdays };
  return weekdays > 0
    ? { ...timed, month: months, every, dayofweek: weekdays }
    : { ...timed, month: months, day };
}

/** A draft without problems, as `maintenance.create` and `maintenance.update` take it. */
export function paramsOf(draft: Draft): Members<"maintenance"> {
  const schedule = scheduleOf(draft);
  const tags = draft.noData ? [] : draft.tags.filter((tag) => tag.tag.trim());
  return {
    name: draft.name.trim(),
    maintenance_type: draft.noData ? 1 : 0,
    description: draft.description,
    active_since: schedule?.since,
    active_till: schedule?.till,
    groups: draft.groupids.map((groupid) => ({ groupid })),
    hosts: draft.hostids.map((hostid) => ({ hostid })),
    tags_evaltype: draft.anyTag ? 2 : 0,
    tags: tags.map(({ tag, value, operator }) => ({ tag: tag.trim(), value, operator })),
    timeperiods: schedule?.periods.map(periodParams),
  };
}
