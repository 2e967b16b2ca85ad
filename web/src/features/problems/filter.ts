import type { Grouping, ProblemFilter, ProblemMode } from "~/api/problems";
import { listOf } from "~/util/search";
import { parseTagFilters, tagFilterText } from "~/util/tags";
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
  /** What open problems are grouped by: "host", "group", "name", or "tag:" and the name of a tag. */
  by?: string;
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

const GROUPINGS: ReadonlySet<string> = new Set(["host", "group", "name"]);

/** What the address groups problems by; the history is never grouped. */
export function groupingOf(search: ProblemSearch): Grouping | null {
  const by = search.by ?? "";
  if (modeOf(search) === "history") return null;
  if (by.startsWith("tag:") && by.length > 4) return { groupBy: "tag", groupTag: by.slice(4) };
  return GROUPINGS.has(by) ? { groupBy: by as "host" | "group" | "name" } : null;
}

/** How the address changes to show the problems of a group one by one. */
export function insideGroup(
  grouping: Grouping,
  key: string,
  tags: string | undefined,
): Partial<ProblemSearch> {
  switch (grouping.groupBy) {
    case "host":
      return { by: undefined, host: key };
    case "group":
      return { by: undefined, group: key };
    case "name":
      return { by: undefined, text: key };
    case "tag": {
      const tag = key
        ? tagFilterText({ tag: grouping.groupTag, value: key })
        : `!${grouping.groupTag}`;
      return { by: undefined, tags: tags ? `${tags}, ${tag}` : tag };
    }
  }
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
