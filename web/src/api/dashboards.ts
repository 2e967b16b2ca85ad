import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Get, Ids, Many } from "./gets";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import type * as schema from "./schema";

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
  /** Seconds; "0": the period of the dashboard. */
  display_period: string;
  widgets: Widget[];
}

interface SharedUser {
  userid: string;
  permission: "2" | "3";
}
interface SharedGroup {
  usrgrpid: string;
  permission: "2" | "3";
}

interface WithPages {
  selectPages: Many<"pages", DashboardPage>;
}

export interface DashboardGets {
  "dashboard.get": Get<
    schema.Dashboard,
    WithPages & {
      selectUsers: Many<"users", SharedUser>;
      selectUserGroups: Many<"userGroups", SharedGroup>;
    },
    { dashboardids?: Ids; editable?: boolean }
  >;
  "templatedashboard.get": Get<
    schema.TemplateDashboard,
    WithPages,
    { dashboardids?: Ids; templateids?: Ids }
  >;
  "hostdashboard.get": Get<schema.HostDashboard, WithPages, { hostids?: Ids }>;
}

/** Kinds of fields that refer to objects. */
export const FIELD_TYPE = {
  group: "2",
  host: "3",
  item: "4",
  itemPrototype: "5",
  graph: "6",
  graphPrototype: "7",
  map: "8",
  service: "9",
  sla: "10",
  user: "11",
  action: "12",
  mediaType: "13",
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
  output: ["dashboardid", "name", "display_period", "auto_start"],
  selectPages: ["dashboard_pageid", "name", "display_period", "widgets"],
} as const;

/** A dashboard of users with all that its form edits; null: it does not exist or is not visible. */
export const dashboardQuery = (dashboardid: string) =>
  queryOptions({
    queryKey: ["dashboards", "one", dashboardid],
    queryFn: async ({ signal }) =>
      (
        await rpc(
          "dashboard.get",
          {
            ...WITH_PAGES,
            output: [...WITH_PAGES.output, "userid", "private"],
            selectUsers: ["userid", "permission"],
            selectUserGroups: ["usrgrpid", "permission"],
            dashboardids: dashboardid,
          },
          signal,
        )
      )[0] ?? null,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** Whether the user may change a dashboard of users. */
export const editableDashboardQuery = (dashboardid: string) =>
  queryOptions({
    queryKey: ["dashboards", "editable", dashboardid],
    queryFn: async ({ signal }) => {
      const output = ["dashboardid"] as const;
      const params = { output, dashboardids: dashboardid, editable: true };
      return (await rpc("dashboard.get", params, signal)).length > 0;
    },
    meta: { live: "config" },
  });

/** Dashboards of a template, by name. */
export const templateDashboardsQuery = (templateid: string) =>
  queryOptions({
    queryKey: ["dashboards", "template", templateid],
    queryFn: ({ signal }) =>
      rpc(
        "templatedashboard.get",
        { output: ["dashboardid", "name"], templateids: templateid, sortfield: "name" },
        signal,
      ),
    meta: { live: "config" },
  });

/** A dashboard of a template with all that its form edits. */
export const templateDashboardQuery = (dashboardid: string) =>
  queryOptions({
    queryKey: ["dashboards", "of template", dashboardid],
    queryFn: async ({ signal }) => {
      const params = {
        ...WITH_PAGES,
        output: [...WITH_PAGES.output, "templateid"],
        dashboardids: dashboardid,
      } as const;
      return (await rpc("templatedashboard.get", params, signal))[0] ?? null;
    },
    meta: { live: "config" },
  });

type Read<Q extends (id: string) => { queryFn?: unknown }> =
  ReturnType<Q> extends { queryFn?: infer F }
    ? F extends (...args: never[]) => infer R
      ? NonNullable<Awaited<R>>
      : never
    : never;

export type Dashboard = Read<typeof dashboardQuery>;
export type TemplateDashboard = Read<typeof templateDashboardQuery>;

/** Creates a dashboard of users, or changes the one given; returns its id. */
export async function saveDashboard(
  dashboardid: string | null,
  dashboard: Members<"dashboard">,
): Promise<string> {
  const { dashboardids } = await (dashboardid
    ? rpc("dashboard.update", { dashboardid, ...dashboard })
    : rpc("dashboard.create", dashboard));
  return dashboardids[0] ?? "";
}

/** Creates a dashboard of a template, or changes the one given; returns its id. */
export async function saveTemplateDashboard(
  dashboardid: string | null,
  dashboard: Members<"templatedashboard">,
): Promise<string> {
  const { dashboardids } = await (dashboardid
    ? rpc("templatedashboard.update", { dashboardid, ...dashboard })
    : rpc("templatedashboard.create", dashboard));
  return dashboardids[0] ?? "";
}

export const deleteDashboard = (dashboardid: string): Promise<unknown> =>
  rpc("dashboard.delete", [dashboardid]);

export const deleteTemplateDashboard = (dashboardid: string): Promise<unknown> =>
  rpc("templatedashboard.delete", [dashboardid]);

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
