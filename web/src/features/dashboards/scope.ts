import { type DashboardPage, FIELD_TYPE, fieldOf, type Widget } from "~/api/dashboards";
import type { TimeRange } from "~/util/time";
import { kindOf } from "./editor/kinds";

/** What the dashboard gives its widgets, from the address. */
export interface Scope {
  /** Undefined: no host is chosen. */
  hostid: string | undefined;
  range: TimeRange;
}

const HOSTS = ["DASHBOARD._hostid", "DASHBOARD._hostids"];
const PERIOD = "DASHBOARD._timeperiod";
const TEXT = "1";

const hasPeriod = (widget: Widget) =>
  kindOf(widget.type).settings.some(({ kind }) => kind === "period");

/** Whether a widget takes its time from the dashboard: that is the default of kinds with a time period. */
const followsTime = (widget: Widget) => {
  const reference = fieldOf(widget, "time_period._reference");
  const isOwn = fieldOf(widget, "time_period.from") !== "";
  return reference === PERIOD || (reference === "" && !isOwn && hasPeriod(widget));
};

const followsHost = (widget: Widget) =>
  widget.fields.some(({ name, value }) => name.endsWith("._reference") && HOSTS.includes(value));

const some = (pages: readonly DashboardPage[], follows: (widget: Widget) => boolean) =>
  pages.some(({ widgets }) => widgets.some(follows));

export const usesTime = (pages: readonly DashboardPage[]): boolean => some(pages, followsTime);
export const usesHost = (pages: readonly DashboardPage[]): boolean => some(pages, followsHost);

/** The widget with the host and the time of the dashboard in place of references to them. */
export function withScope(widget: Widget, { hostid, range }: Scope): Widget {
  let { fields } = widget;
  if (hostid !== undefined && fieldOf(widget, "hostids._reference") !== "")
    fields = fields.map((field) =>
      field.name === "hostids._reference" && HOSTS.includes(field.value)
        ? { type: FIELD_TYPE.host, name: "hostids.0", value: hostid }
        : field,
    );
  if (followsTime(widget))
    fields = [
      ...fields.filter(({ name }) => name !== "time_period._reference"),
      { type: TEXT, name: "time_period.from", value: range.from },
      { type: TEXT, name: "time_period.to", value: range.to },
    ];
  return fields === widget.fields ? widget : { ...widget, fields };
}
