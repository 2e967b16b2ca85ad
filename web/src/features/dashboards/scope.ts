import type { DashboardPage, Widget } from "~/api/dashboards";
import type { TimeRange } from "~/util/time";
import { DASHBOARD, hasOwnTime, sourcesOf } from "./widgets/bus";

/** What the dashboard gives its widgets. */
export interface Scope {
  /** Undefined: no host is chosen. */
  hostid: string | undefined;
  range: TimeRange;
}

/** Kinds whose data have a time. */
const TIMED: ReadonlySet<string> = new Set([
  "actionlog",
  "graph",
  "graphprototype",
  "itemhistory",
  "plaintext",
  "svggraph",
  "toptriggers",
]);

/** Whether a widget takes its time from the dashboard: that is the default of kinds with a time period. */
const followsTime = (widget: Widget) => {
  const source = sourcesOf(widget).find(({ signal }) => signal === "_timeperiod");
  if (source) return source.reference === DASHBOARD;
  return TIMED.has(widget.type) && !hasOwnTime(widget);
};

const followsHost = (widget: Widget) =>
  sourcesOf(widget).some(
    ({ reference, signal }) => reference === DASHBOARD && signal.startsWith("_hostid"),
  );

const some = (pages: readonly DashboardPage[], follows: (widget: Widget) => boolean) =>
  pages.some(({ widgets }) => widgets.some(follows));

export const usesTime = (pages: readonly DashboardPage[]): boolean => some(pages, followsTime);
export const usesHost = (pages: readonly DashboardPage[]): boolean => some(pages, followsHost);
