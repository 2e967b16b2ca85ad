// Maps, and dashboards of users and templates.
import { createRoute } from "@tanstack/react-router";
import { inside } from "~/router-frame";
import { page } from "~/shell/page";
import { pickSearch } from "~/util/search";

const maps = createRoute({
  getParentRoute: () => inside,
  path: "/maps",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/maps/page"), "MapsPage"),
});

const mapNew = createRoute({
  getParentRoute: () => inside,
  path: "/maps/new",
  component: page(() => import("~/features/maps/edit"), "MapNewPage"),
});

const mapEdit = createRoute({
  getParentRoute: () => inside,
  path: "/maps/$sysmapid/edit",
  component: page(() => import("~/features/maps/edit"), "MapEditPage"),
});

const map = createRoute({
  getParentRoute: () => inside,
  path: "/maps/$sysmapid",
  component: page(() => import("~/features/maps/page"), "MapPage"),
});

const dashboards = createRoute({
  getParentRoute: () => inside,
  path: "/dashboards",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/dashboards/page"), "DashboardsPage"),
});

const dashboardNew = createRoute({
  getParentRoute: () => inside,
  path: "/dashboards/new",
  validateSearch: (search) => pickSearch(search, ["clone"]),
  component: page(() => import("~/features/dashboards/editor/page"), "DashboardNewPage"),
});

const dashboardEdit = createRoute({
  getParentRoute: () => inside,
  path: "/dashboards/$dashboardid/edit",
  component: page(() => import("~/features/dashboards/editor/page"), "DashboardEditPage"),
});

const templateDashboardNew = createRoute({
  getParentRoute: () => inside,
  path: "/templates/$templateid/dashboards/new",
  component: page(() => import("~/features/dashboards/editor/page"), "TemplateDashboardNewPage"),
});

const templateDashboardEdit = createRoute({
  getParentRoute: () => inside,
  path: "/templates/$templateid/dashboards/$dashboardid/edit",
  component: page(() => import("~/features/dashboards/editor/page"), "TemplateDashboardEditPage"),
});

const dashboard = createRoute({
  getParentRoute: () => inside,
  path: "/dashboards/$dashboardid",
  validateSearch: (search) => pickSearch(search, ["page", "host", "from", "to", "kiosk"]),
  component: page(() => import("~/features/dashboards/dashboard"), "DashboardPage"),
});

export const boards = [
  dashboards,
  dashboardNew,
  dashboardEdit,
  templateDashboardNew,
  templateDashboardEdit,
  dashboard,
  maps,
  mapNew,
  mapEdit,
  map,
] as const;
