import type { ProblemFilter, ProblemMode } from "~/api/problems";
import { listOf } from "~/util/search";
import { parseTagFilters } from "~/util/tags";
import { resolveRange } from "~/util/time";

/** The address of the problems page, as words. */
export interface ProblemSearch {
  show?: string;
  severity?: string;
  group?: string;
  host?: string;
  /** Ids of triggers; links of other tools name them. */
  trigger?: string;
  text?: string;
  tags?: string;
  ack?: string;
  suppressed?: string;
  sort?: string;
  from?: string;
  to?: string;
  event?: string;
}

export function modeOf(search: ProblemSearch): ProblemMode {
  return search.show === "open" || search.show === "history" ? search.show : "recent";
}

/** What the API is asked for, out of the address. */
export function toFilter(search: ProblemSearch): ProblemFilter {
  const mode = modeOf(search);
  const span =
    mode === "history"
      ? resolveRange({ from: search.from ?? "now-24h", to: search.to ?? "now" })
      : null;
  return {
    mode,
    severities: listOf(search.severity).map(Number),
    groupids: listOf(search.group),
    hostids: listOf(search.host),
    triggerids: listOf(search.trigger),
    text: search.text,
    tags: search.tags ? parseTagFilters(search.tags) : undefined,
    acknowledged: search.ack === "yes" ? true : search.ack === "no" ? false : undefined,
    suppressed: search.suppressed === "yes" ? undefined : false,
    sort: search.sort === "severity" ? "severity" : "time",
    from: span?.from,
    // An end of "now" stays open, so that new events come in.
    till: search.to && search.to !== "now" ? span?.till : undefined,
  };
}

/** What "Clear filters" does to the address. */
export const NO_FILTERS: Partial<ProblemSearch> = {
  text: undefined,
  severity: undefined,
  group: undefined,
  host: undefined,
  trigger: undefined,
  tags: undefined,
  ack: undefined,
};
