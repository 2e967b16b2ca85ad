import { createContext, useContext } from "react";
import type { Widget } from "~/api/dashboards";
import { DEFAULT_RANGE, resolveRange, type TimeRange } from "~/util/time";
import { Settings } from "./settings";

/** What a widget sends to the others, by the names of Zabbix 7.0. */
export interface Signals {
  _hostid: string;
  _hostids: readonly string[];
  _hostgroupids: readonly string[];
  _itemid: string;
  _mapid: string;
  _timeperiod: TimeRange;
}
export type Signal = keyof Signals;

/** The signals of each widget by its `reference`; those of the dashboard are under `DASHBOARD`. */
export type SignalsBy = ReadonlyMap<string, Partial<Signals>>;

/** The reference of the dashboard: its host and its time period. */
export const DASHBOARD = "DASHBOARD";

export interface Bus {
  signals: SignalsBy;
  send: (reference: string, signals: Partial<Signals>) => void;
  /** The host on whose page the dashboard is; undefined: it is a dashboard of users. */
  pageHost: string | undefined;
}

export const BusContext = createContext<Bus>({
  signals: new Map(),
  send: () => undefined,
  pageHost: undefined,
});

export const useBus = () => useContext(BusContext);

/** A map of signals with those of one widget replaced. */
export function withSignals(
  before: SignalsBy,
  reference: string,
  signals: Partial<Signals>,
): SignalsBy {
  return new Map(before).set(reference, { ...before.get(reference), ...signals });
}

/** What a setting listens to: `ABCDE._hostid`. Zabbix 7.0 writes it in `hostids._reference` and similar fields. */
export interface Source {
  reference: string;
  signal: Signal;
}

const SOURCE = /^(\w*)\.(_hostid|_hostids|_hostgroupids|_itemid|_mapid|_timeperiod)$/;

export function sourceOf(text: string): Source | undefined {
  const [, reference, signal] = SOURCE.exec(text) ?? [];
  return reference && signal ? { reference, signal: signal as Signal } : undefined;
}

/** The sources of a widget's settings. */
export const sourcesOf = (widget: Pick<Widget, "fields">): Source[] =>
  widget.fields.flatMap(({ name, value }) =>
    name.endsWith("._reference") ? (sourceOf(value) ?? []) : [],
  );

/**
 * What a setting of a widget listens to. `value` undefined: nothing is selected yet. `source` undefined: the
 * setting does not listen.
 */
export type Heard<T> = { source: Source | undefined; value: T | undefined };

export function heardBy<S extends Signal>(
  signals: SignalsBy,
  widget: Pick<Widget, "fields">,
  setting: string,
  signal: S,
): Heard<Signals[S]> {
  const source = sourceOf(Settings.of(widget).text(`${setting}._reference`));
  if (source?.signal !== signal) return { source: undefined, value: undefined };
  return { source, value: signals.get(source.reference)?.[signal] };
}

/** The host that replaces those of a widget; on the page of a host, that host. */
export function hostFor(bus: Bus, widget: Pick<Widget, "fields">): Heard<string> {
  const heard = heardBy(bus.signals, widget, "override_hostid", "_hostid");
  if (heard.source?.reference === DASHBOARD && bus.pageHost) {
    return { source: heard.source, value: bus.pageHost };
  }
  return heard;
}

/** The hosts of a widget: those that it listens to, those of its settings, on the page of a host that host. */
export function hostsFor(bus: Bus, widget: Widget): readonly string[] {
  const settings = Settings.of(widget);
  if (bus.pageHost !== undefined) return [bus.pageHost];
  const override = hostFor(bus, widget);
  if (override.value) return [override.value];
  const one = heardBy(bus.signals, widget, "hostids", "_hostid").value;
  const many = heardBy(bus.signals, widget, "hostids", "_hostids").value;
  return many ?? (one ? [one] : settings.list("hostids"));
}

/** The host groups of a widget: those that it listens to, or those of its settings. */
export function groupsFor(bus: Bus, widget: Widget): readonly string[] {
  const heard = heardBy(bus.signals, widget, "groupids", "_hostgroupids").value;
  return heard ?? Settings.of(widget).list("groupids");
}

/** The time of a widget: its own, that of another widget, or that of the dashboard. */
export function rangeFor(signals: SignalsBy, widget: Pick<Widget, "fields">): TimeRange {
  const settings = Settings.of(widget);
  const own = {
    from: settings.text("time_period.from"),
    to: settings.text("time_period.to", "now"),
  };
  if (own.from !== "" && resolveRange(own)) return own;
  // Zabbix 6.0 has `graph_time` with its own limits.
  const old = { from: settings.text("time_from"), to: settings.text("time_to", "now") };
  if (settings.flag("graph_time") && resolveRange(old)) return old;
  const heard = heardBy(signals, widget, "time_period", "_timeperiod").value;
  return heard ?? signals.get(DASHBOARD)?._timeperiod ?? DEFAULT_RANGE;
}

/** Whether a widget has a time of its own, which the dashboard does not change. */
export function hasOwnTime(widget: Pick<Widget, "fields">): boolean {
  const settings = Settings.of(widget);
  return settings.text("time_period.from") !== "" || settings.flag("graph_time");
}

/** The reference under which a widget sends; undefined: no other widget can listen. */
export const referenceOf = (widget: Pick<Widget, "fields">): string | undefined =>
  Settings.of(widget).text("reference") || undefined;
