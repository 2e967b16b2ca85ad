import type { AuditFilter } from "~/api/audit";
import { AUDIT_ACTIONS, AUDIT_RESOURCES } from "~/util/audit";
import { listOf } from "~/util/search";
import { resolveRange } from "~/util/time";

/** The address of the audit log, as words. */
export interface AuditSearch {
  /** Lists are separated by commas. */
  user?: string;
  action?: string;
  kind?: string;
  /** Id of the object. */
  id?: string;
  /** Entries of one call. */
  set?: string;
  text?: string;
  from?: string;
  to?: string;
  /** The open entry. */
  entry?: string;
}

export const DEFAULT_RANGE = { from: "now-7d", to: "now" };

const known = (list: readonly (readonly [string, string])[], wanted: string | undefined) =>
  listOf(wanted).filter((number) => list.some(([one]) => one === number));

/** The filter of the request. Entries of one object or one call have no time range at first. */
export function toFilter(search: AuditSearch, now = new Date()): AuditFilter {
  const isWhole = Boolean(search.id || search.set) && !search.from && !search.to;
  const { from = DEFAULT_RANGE.from, to = DEFAULT_RANGE.to } = search;
  const span = isWhole ? null : resolveRange({ from, to }, now);
  return {
    text: search.text,
    userids: listOf(search.user).filter((id) => /^\d+$/.test(id)),
    actions: known(AUDIT_ACTIONS, search.action),
    resourcetypes: known(AUDIT_RESOURCES, search.kind),
    resourceid: /^\d+$/.test(search.id ?? "") ? search.id : undefined,
    recordsetid: search.set,
    from: span?.from,
    // An end of "now" stays open, so that new entries come in.
    till: to === "now" ? undefined : span?.till,
  };
}

/** What "Clear filters" does to the address. */
export const NO_FILTERS: Partial<AuditSearch> = {
  user: undefined,
  action: undefined,
  kind: undefined,
  id: undefined,
  set: undefined,
  text: undefined,
};
