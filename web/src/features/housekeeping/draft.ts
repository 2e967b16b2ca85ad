import type { Housekeeping } from "~/api/housekeeping";
import { periodSeconds } from "~/util/time";
import { texts } from "./texts";

const HOUR_S = 3600;
const DAY_S = 24 * HOUR_S;
const YEARS_25_S = 25 * 365 * DAY_S;

/** A period of the settings. */
export interface Period {
  name: keyof Housekeeping;
  label: string;
  /** Shortest, seconds. */
  min: number;
  /** 0 = nothing is kept. */
  orZero?: boolean;
}

/** Periods that one switch turns on. */
export interface Part {
  title: string;
  note?: string;
  mode: keyof Housekeeping;
  /** What the switch does. */
  switch: string;
  periods: readonly Period[];
}

const days = (name: keyof Housekeeping, label: string): Period => ({ name, label, min: DAY_S });

/** The form, section by section. */
export const PARTS: readonly Part[] = [
  {
    ...texts.events,
    mode: "hk_events_mode",
    periods: [
      days("hk_events_trigger", texts.ofTriggers),
      days("hk_events_service", texts.ofServices),
      days("hk_events_internal", texts.internal),
      days("hk_events_discovery", texts.ofDiscovery),
      days("hk_events_autoreg", texts.ofAutoregistration),
    ],
  },
  {
    ...texts.services,
    mode: "hk_services_mode",
    periods: [days("hk_services", texts.statusChanges)],
  },
  { ...texts.audit, mode: "hk_audit_mode", periods: [days("hk_audit", texts.entries)] },
  {
    ...texts.sessions,
    mode: "hk_sessions_mode",
    periods: [days("hk_sessions", texts.unusedSessions)],
  },
  {
    ...texts.history,
    mode: "hk_history_global",
    periods: [{ name: "hk_history", label: texts.allHistory, min: HOUR_S, orZero: true }],
  },
  {
    ...texts.trends,
    mode: "hk_trends_global",
    periods: [{ name: "hk_trends", label: texts.allTrends, min: DAY_S, orZero: true }],
  },
];

/** Names of all settings of the form. */
export const NAMES = PARTS.flatMap((part) => [
  part.mode,
  ...part.periods.map((period) => period.name),
]);

function problem(period: Period, text: string): string | null {
  const seconds = periodSeconds(text);
  if (seconds === 0 && period.orZero) return null;
  if (seconds !== null && seconds >= period.min && seconds <= YEARS_25_S) return null;
  return texts.wrong(period.min === HOUR_S ? "1h" : "1d", period.orZero === true);
}

/** What is wrong with the periods that apply. */
export function housekeepingProblems(draft: Housekeeping): Record<string, string> {
  const problems: Record<string, string> = {};
  for (const part of PARTS.filter((one) => draft[one.mode] === "1"))
    for (const period of part.periods) {
      const found = problem(period, draft[period.name]);
      if (found) problems[period.name] = found;
    }
  return problems;
}

/** What is stored: without the periods that do not apply, which the form does not check. */
export function housekeepingParams(draft: Housekeeping): Partial<Housekeeping> {
  const applied = PARTS.flatMap((part) =>
    draft[part.mode] === "1" ? part.periods.map((period) => period.name) : [],
  );
  const names = [...PARTS.map((part) => part.mode), ...applied];
  return Object.fromEntries(names.map((name) => [name, draft[name].trim()]));
}

/** Switches of overrides that the draft turns on: they may delete history of items that keep it longer. */
export const newOverrides = (before: Housekeeping, draft: Housekeeping): readonly Part[] =>
  PARTS.filter(
    ({ mode, periods }) =>
      mode.endsWith("_global") &&
      draft[mode] === "1" &&
      (before[mode] !== "1" || periods.some(({ name }) => before[name] !== draft[name].trim())),
  );
