import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, Ids, Many } from "./gets";
import { pollInterval } from "./live";

/** A setting of a widget. */
export interface WidgetField {
  /** See `FIELD_TYPE`. */
  type: string;
  name: string;
  value: string;
}

export interface Widget {
  widgetid: string;
  /** As `problems`. */
  type: string;
  name: string;
  /** Columns and rows of a grid of 72 by 64. */
  x: string;
  y: string;
  width: string;
  height: string;
  /** "1": without a header. */
  view_mode: string;
  fields: WidgetField[];
}

export interface DashboardPage {
  dashboard_pageid: string;
  name: string;
  widgets: Widget[];
}

interface Row {
  dashboardid: string;
  name: string;
}

export interface DashboardGets {
  "dashboard.get": Get<Row, { selectPages: Many<"pages", DashboardPage> }, { dashboardids?: Ids }>;
  "hostdashboard.get": Get<
    Row & { hostid: string; templateid: string },
    { selectPages: Many<"pages", DashboardPage> },
    { hostids?: Ids }
  >;
}

/** Kinds of fields that refer to objects. */
export const FIELD_TYPE = {
  item: "4",
  itemPrototype: "5",
  graph: "6",
  graphPrototype: "7",
  map: "8",
  service: "9",
  sla: "10",
} as const;

export const dashboardsQuery = () =>
  queryOptions({
    queryKey: ["dashboards"],
    queryFn: ({ signal }) =>
      rpc("dashboard.get", { output: ["dashboardid", "name"], sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

const WITH_PAGES = {
  output: ["dashboardid", "name"],
  selectPages: ["dashboard_pageid", "name", "widgets"],
} as const;

export const dashboardQuery = (dashboardid: string) =>
  queryOptions({
    queryKey: ["dashboards", "one", dashboardid],
    queryFn: async ({ signal }) =>
      (await rpc("dashboard.get", { ...WITH_PAGES, dashboardids: dashboardid }, signal))[0] ?? null,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** Dashboards of the templates above a host, with the host's own items and graphs. */
export const hostDashboardsQuery = (hostid: string) =>
  queryOptions({
    queryKey: ["dashboards", "host", hostid],
    queryFn: ({ signal }) =>
      rpc("hostdashboard.get", { ...WITH_PAGES, hostids: hostid, sortfield: "name" }, signal),
    meta: { live: "config" },
  });

const inOrder = (fields: readonly WidgetField[]) =>
  fields
    .toSorted((a, b) => a.name.localeCompare(b.name, "en", { numeric: true }))
    .map((field) => field.value);

/** Values of the fields of a kind, in the order of their names: `itemid.0`, `itemid.1`. */
export const objectsOf = (widget: Widget, type: string) =>
  inOrder(widget.fields.filter((field) => field.type === type));

/** Values of a field that may have several: `severities.0`, or `severities` in older templates. */
export const valuesOf = (widget: Widget, name: string) =>
  inOrder(
    widget.fields.filter(
      (field) =>
        field.name === name ||
        (field.name.startsWith(`${name}.`) && /^\d+$/.test(field.name.slice(name.length + 1))),
    ),
  );

/** The value of a plain field; empty if the widget does not have it. */
export const fieldOf = (widget: Widget, name: string) =>
  widget.fields.find((field) => field.name === name)?.value ?? "";
