import type { AlertFilter } from "~/api/alerts";
import { AlertStatus, EventSource, Withholding } from "~/api/schema";
import { listOf } from "~/util/search";
import { resolveRange } from "~/util/time";

/** The address of the action log, as words. */
export interface AlertSearch {
  /** Source and object of events: "3-4". */
  source?: string;
  status?: string;
  /** Why messages were withheld, separated by commas. */
  withheld?: string;
  text?: string;
  /** Ids, separated by commas. */
  user?: string;
  action?: string;
  media?: string;
  event?: string;
  from?: string;
  to?: string;
  /** The open row. */
  alert?: string;
}

/** Which events a row can be about: source, and kind of their object. */
export const SOURCES = [
  [`${EventSource.Trigger}-0`, "Problems of triggers"],
  [`${EventSource.Service}-6`, "Services"],
  [`${EventSource.Discovery}-1`, "Discovered devices"],
  [`${EventSource.Discovery}-2`, "Discovered services"],
  [`${EventSource.Autoregistration}-3`, "Autoregistration"],
  [`${EventSource.Internal}-0`, "Unknown triggers"],
  [`${EventSource.Internal}-4`, "Unsupported items"],
  [`${EventSource.Internal}-5`, "Unsupported discovery rules"],
] as const;

export const STATUSES = [
  ["", "All statuses"],
  ["failed", "Failed"],
  ["waiting", "In progress"],
  ["sent", "Sent"],
  ["withheld", "Withheld"],
] as const;

/** Why messages were withheld; also of those that were sent later. */
export const REASONS = [
  [Withholding.Grouped, "Grouped"],
  [Withholding.Inhibited, "Inhibited"],
  [Withholding.Storm, "Message storm"],
  [Withholding.Transient, "Transient"],
  [Withholding.Flapping, "Flapping"],
] as const;

const NUMBERS: Record<string, readonly string[]> = {
  failed: [AlertStatus.Failed],
  waiting: [AlertStatus.NotSent, AlertStatus.New],
  sent: [AlertStatus.Sent],
  withheld: [AlertStatus.Withheld],
};

export const DEFAULT_RANGE = { from: "now-24h", to: "now" };

/** The first choice stands for an address that names none. */
export const sourceOf = (search: AlertSearch): string =>
  SOURCES.find(([source]) => source === search.source)?.[0] ?? SOURCES[0][0];

/** What the API is asked for. A link to one event's rows has no time range. */
export function toFilter(search: AlertSearch, now = new Date()): AlertFilter {
  const [source, object] = sourceOf(search).split("-").map(Number);
  const isWhole = search.event !== undefined && !search.from && !search.to;
  const { from = DEFAULT_RANGE.from, to = DEFAULT_RANGE.to } = search;
  const span = isWhole ? null : resolveRange({ from, to }, now);
  return {
    eventsource: source ?? 0,
    eventobject: object,
    statuses: NUMBERS[search.status ?? ""],
    reasons: listOf(search.withheld),
    text: search.text,
    userids: listOf(search.user),
    actionids: listOf(search.action),
    mediatypeids: listOf(search.media),
    eventids: listOf(search.event),
    from: span?.from,
    // An end of "now" stays open, so that new rows come in.
    till: to === "now" ? undefined : span?.till,
  };
}

/** What "Clear filters" does to the address. */
export const NO_FILTERS: Partial<AlertSearch> = {
  status: undefined,
  withheld: undefined,
  text: undefined,
  user: undefined,
  action: undefined,
  media: undefined,
  event: undefined,
};
