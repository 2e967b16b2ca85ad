import type { TagCondition } from "~/api/services";
import type { ExcludedDowntime, Sla, SlaInput } from "~/api/slas";
import { daySpans, daysOf, isAlways, SLA_OFF, SLA_ON, scheduleOf, WEEKDAY_NAMES } from "~/util/sla";
import { formatClock, formatLocal, parseTime } from "~/util/time";

/** An agreement as the form holds it; moments as the browser's boxes have them. */
export interface SlaDraft {
  name: string;
  description: string;
  on: boolean;
  slo: string;
  period: string;
  timezone: string;
  /** A day. */
  since: string;
  tags: TagCondition[];
  always: boolean;
  /** Spans of each day, Sunday first. */
  days: string[];
  downtimes: { name: string; from: string; to: string }[];
}

const WORK_DAYS = ["", ...Array.from({ length: 5 }, () => "08:00-17:00"), ""];

/** Days are those of UTC, as the server has them. */
const dayOf = (clock: number) => new Date(clock * 1000).toISOString().slice(0, 10);
const clockOfDay = (day: string) => Date.parse(`${day}T00:00:00Z`) / 1000;

/** A moment as a box has it; its seconds are kept. */
const boxOf = (clock: number) =>
  clock % 60 === 0 ? formatLocal(clock) : formatClock(clock).replace(" ", "T");

export function slaDraft(row: Sla | null, now: number): SlaDraft {
  const schedule = (row?.schedule ?? []).map(({ period_from, period_to }) => ({
    period_from: Number(period_from),
    period_to: Number(period_to),
  }));
  const always = isAlways(schedule);
  return {
    name: row?.name ?? "",
    description: row?.description ?? "",
    on: row ? row.status === SLA_ON : true,
    slo: row?.slo ?? "99.9",
    period: row?.period ?? "2",
    timezone: row?.timezone ?? "system",
    since: dayOf(row ? Number(row.effective_date) : now),
    tags: row?.service_tags.map(({ tag, operator, value }) => ({ tag, operator, value })) ?? [
      { tag: "", operator: "0", value: "" },
    ],
    always,
    days: always ? WORK_DAYS : daysOf(schedule),
    downtimes:
      row?.excluded_downtimes.map(({ name, period_from, period_to }) => ({
        name,
        from: boxOf(Number(period_from)),
        to: boxOf(Number(period_to)),
      })) ?? [],
  };
}

const moment = (text: string) => parseTime(text.replace("T", " "), "from");

function downtimeProblem({ name, from, to }: SlaDraft["downtimes"][number]): string | undefined {
  if (!name.trim()) return "Enter a name for each excluded downtime.";
  const [start, end] = [moment(from), moment(to)];
  if (start === null || end === null || start >= end)
    return "An excluded downtime must end after it begins.";
  return undefined;
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function slaProblems(draft: SlaDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  const slo = Number(draft.slo);
  if (!/^\d+(\.\d{1,4})?$/.test(draft.slo.trim()) || slo > 100)
    problems.slo = "Enter a percentage from 0 to 100, with up to 4 decimals.";
  if (!Number.isFinite(clockOfDay(draft.since))) problems.since = "Enter a date.";
  if (draft.tags.every(({ tag }) => !tag.trim())) problems.tags = "Enter at least one service tag.";
  if (!draft.always) {
    const wrong = draft.days.findIndex((text) => daySpans(text) === null);
    if (wrong >= 0)
      problems.days = `Enter the times of ${WEEKDAY_NAMES[wrong]} such as 08:00-12:00, 13:00-18:00.`;
    else if (scheduleOf(draft.days).length === 0)
      problems.days = "Enter times for at least one day.";
  }
  const downtime = draft.downtimes.map(downtimeProblem).find(Boolean);
  if (downtime) problems.downtimes = downtime;
  return problems;
}

/** A draft without problems, as `sla.create` and `sla.update` take it. */
export function slaParams(draft: SlaDraft): SlaInput {
  const downtimes = draft.downtimes.map(
    ({ name, from, to }): ExcludedDowntime => ({
      name: name.trim(),
      period_from: String(moment(from)),
      period_to: String(moment(to)),
    }),
  );
  return {
    name: draft.name.trim(),
    description: draft.description,
    status: draft.on ? SLA_ON : SLA_OFF,
    slo: draft.slo.trim(),
    period: draft.period,
    timezone: draft.timezone,
    effective_date: String(clockOfDay(draft.since)),
    service_tags: draft.tags
      .filter(({ tag }) => tag.trim())
      .map(({ tag, operator, value }) => ({ tag: tag.trim(), operator, value })),
    schedule: draft.always ? [] : scheduleOf(draft.days),
    excluded_downtimes: downtimes,
  };
}
