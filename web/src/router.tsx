import {
  createRootRoute,
  createRoute,
  createRouter,
  type RouteComponent,
  redirect,
} from "@tanstack/react-router";
import type { ComponentType } from "react";
import { session } from "~/api/session-store";
import { Crash, NotFound } from "~/shell/fallback";
import { Shell } from "~/shell/shell";
import { lazyComponent } from "~/ui/lazy";
import { parseSearch, pickSearch, stringifySearch } from "~/util/search";

/** A page whose code is loaded when it is opened. */
function page<K extends string>(
  // Not by the component's type, which depends on that of the routes.
  load: () => Promise<Record<K, unknown>>,
  name: K,
): RouteComponent {
  return lazyComponent(async () => (await load())[name] as ComponentType);
}

const root = createRootRoute();

const login = createRoute({
  getParentRoute: () => root,
  path: "/login",
  validateSearch: (search) => pickSearch(search, ["next"]),
  component: page(() => import("~/pages/login"), "LoginPage"),
});

const inside = createRoute({
  getParentRoute: () => root,
  id: "inside",
  component: Shell,
  beforeLoad: ({ location }) => {
    if (session()) return;
    const next = location.href === "/" ? undefined : location.href;
    throw redirect({ to: "/login", search: { next } });
  },
});

const overview = createRoute({
  getParentRoute: () => inside,
  path: "/",
  component: page(() => import("~/pages/overview"), "OverviewPage"),
});

const problems = createRoute({
  getParentRoute: () => inside,
  path: "/problems",
  validateSearch: (search) =>
    pickSearch(search, [
      "show",
      "severity",
      "group",
      "host",
      "trigger",
      "text",
      "tags",
      "ack",
      "suppressed",
      "sort",
      "from",
      "to",
      "event",
    ]),
  component: page(() => import("~/pages/problems"), "ProblemsPage"),
});

const hosts = createRoute({
  getParentRoute: () => inside,
  path: "/hosts",
  validateSearch: (search) =>
    pickSearch(search, ["text", "group", "tags", "status", "template", "sort", "desc"]),
  component: page(() => import("~/pages/hosts"), "HostsPage"),
});

const hostNew = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/new",
  component: page(() => import("~/pages/host-edit"), "HostNewPage"),
});

const host = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/$hostid",
  validateSearch: (search) => pickSearch(search, ["tab", "text", "from", "to"]),
  component: page(() => import("~/pages/host"), "HostPage"),
});

const hostEdit = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/$hostid/edit",
  component: page(() => import("~/pages/host-edit"), "HostEditPage"),
});

const itemNew = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/$hostid/items/new",
  component: page(() => import("~/pages/item-edit"), "HostItemNewPage"),
});

const ownedItemNew = createRoute({
  getParentRoute: () => inside,
  path: "/items/new",
  validateSearch: (search) => pickSearch(search, ["owner", "rule"]),
  component: page(() => import("~/pages/item-edit"), "ItemNewPage"),
});

const triggerNew = createRoute({
  getParentRoute: () => inside,
  path: "/triggers/new",
  validateSearch: (search) => pickSearch(search, ["owner", "rule"]),
  component: page(() => import("~/pages/trigger-edit"), "TriggerNewPage"),
});

const triggerEdit = createRoute({
  getParentRoute: () => inside,
  path: "/triggers/$triggerid/edit",
  component: page(() => import("~/pages/trigger-edit"), "TriggerEditPage"),
});

const ruleNew = createRoute({
  getParentRoute: () => inside,
  path: "/rules/new",
  validateSearch: (search) => pickSearch(search, ["owner"]),
  component: page(() => import("~/pages/rule"), "RuleNewPage"),
});

const rule = createRoute({
  getParentRoute: () => inside,
  path: "/rules/$ruleid",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/pages/rule"), "RulePage"),
});

const hostPrototypeNew = createRoute({
  getParentRoute: () => inside,
  path: "/host-prototypes/new",
  validateSearch: (search) => pickSearch(search, ["rule"]),
  component: page(() => import("~/pages/host-prototype-edit"), "HostPrototypeNewPage"),
});

const hostPrototypeEdit = createRoute({
  getParentRoute: () => inside,
  path: "/host-prototypes/$hostid/edit",
  component: page(() => import("~/pages/host-prototype-edit"), "HostPrototypeEditPage"),
});

const webNew = createRoute({
  getParentRoute: () => inside,
  path: "/web/new",
  validateSearch: (search) => pickSearch(search, ["owner"]),
  component: page(() => import("~/pages/web-edit"), "WebNewPage"),
});

const webEdit = createRoute({
  getParentRoute: () => inside,
  path: "/web/$httptestid/edit",
  component: page(() => import("~/pages/web-edit"), "WebEditPage"),
});

const itemEdit = createRoute({
  getParentRoute: () => inside,
  path: "/items/$itemid/edit",
  component: page(() => import("~/pages/item-edit"), "ItemEditPage"),
});

const latest = createRoute({
  getParentRoute: () => inside,
  path: "/latest",
  validateSearch: (search) => pickSearch(search, ["text", "group", "host", "tags", "state"]),
  component: page(() => import("~/pages/latest"), "LatestPage"),
});

const graph = createRoute({
  getParentRoute: () => inside,
  path: "/graph",
  validateSearch: (search) => pickSearch(search, ["items", "from", "to", "split"]),
  component: page(() => import("~/pages/graph"), "GraphPage"),
});

const templates = createRoute({
  getParentRoute: () => inside,
  path: "/templates",
  validateSearch: (search) => pickSearch(search, ["text", "group", "linked"]),
  component: page(() => import("~/pages/templates"), "TemplatesPage"),
});

const template = createRoute({
  getParentRoute: () => inside,
  path: "/templates/$templateid",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/pages/template"), "TemplatePage"),
});

const maintenance = createRoute({
  getParentRoute: () => inside,
  path: "/maintenance",
  validateSearch: (search) => pickSearch(search, ["text", "state", "group", "host"]),
  component: page(() => import("~/pages/maintenance"), "MaintenancePage"),
});

const maintenanceNew = createRoute({
  getParentRoute: () => inside,
  path: "/maintenance/new",
  validateSearch: (search) => pickSearch(search, ["host"]),
  component: page(() => import("~/pages/maintenance-edit"), "MaintenanceNewPage"),
});

const maintenanceEdit = createRoute({
  getParentRoute: () => inside,
  path: "/maintenance/$maintenanceid/edit",
  component: page(() => import("~/pages/maintenance-edit"), "MaintenanceEditPage"),
});

const discovery = createRoute({
  getParentRoute: () => inside,
  path: "/discovery",
  validateSearch: (search) => pickSearch(search, ["text", "state", "rule"]),
  component: page(() => import("~/pages/discovery"), "DiscoveryPage"),
});

const networkRules = createRoute({
  getParentRoute: () => inside,
  path: "/discovery-rules",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/pages/network-rules"), "NetworkRulesPage"),
});

const networkRuleNew = createRoute({
  getParentRoute: () => inside,
  path: "/discovery-rules/new",
  component: page(() => import("~/pages/network-rule-edit"), "NetworkRuleNewPage"),
});

const networkRuleEdit = createRoute({
  getParentRoute: () => inside,
  path: "/discovery-rules/$druleid/edit",
  component: page(() => import("~/pages/network-rule-edit"), "NetworkRuleEditPage"),
});

const actions = createRoute({
  getParentRoute: () => inside,
  path: "/actions",
  validateSearch: (search) => pickSearch(search, ["source"]),
  component: page(() => import("~/pages/actions"), "ActionsPage"),
});

const actionNew = createRoute({
  getParentRoute: () => inside,
  path: "/actions/new",
  validateSearch: (search) => pickSearch(search, ["source"]),
  component: page(() => import("~/pages/action-edit"), "ActionNewPage"),
});

const actionEdit = createRoute({
  getParentRoute: () => inside,
  path: "/actions/$actionid/edit",
  component: page(() => import("~/pages/action-edit"), "ActionEditPage"),
});

const autoregistration = createRoute({
  getParentRoute: () => inside,
  path: "/autoregistration",
  component: page(() => import("~/pages/autoregistration"), "AutoregistrationPage"),
});

const queue = createRoute({
  getParentRoute: () => inside,
  path: "/queue",
  validateSearch: (search) => pickSearch(search, ["by"]),
  component: page(() => import("~/pages/queue"), "QueuePage"),
});

const health = createRoute({
  getParentRoute: () => inside,
  path: "/health",
  validateSearch: (search) => pickSearch(search, ["from", "to"]),
  component: page(() => import("~/pages/health"), "HealthPage"),
});

const capacity = createRoute({
  getParentRoute: () => inside,
  path: "/capacity",
  component: page(() => import("~/pages/capacity"), "CapacityPage"),
});

/** Every other address: the page says that there is none, inside the shell. */
const unknown = createRoute({
  getParentRoute: () => inside,
  path: "$",
  component: NotFound,
});

const users = createRoute({
  getParentRoute: () => inside,
  path: "/users",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/pages/users"), "UsersPage"),
});

const pages = [
  overview,
  problems,
  hosts,
  hostNew,
  host,
  hostEdit,
  itemNew,
  ownedItemNew,
  itemEdit,
  triggerNew,
  triggerEdit,
  ruleNew,
  rule,
  hostPrototypeNew,
  hostPrototypeEdit,
  webNew,
  webEdit,
  latest,
  graph,
  templates,
  template,
  maintenance,
  maintenanceNew,
  maintenanceEdit,
  discovery,
  networkRules,
  networkRuleNew,
  networkRuleEdit,
  actions,
  actionNew,
  actionEdit,
  autoregistration,
  queue,
  health,
  capacity,
  users,
  unknown,
] as const;

export const router = createRouter({
  routeTree: root.addChildren([login, inside.addChildren(pages)]),
  defaultPreload: "intent",
  defaultErrorComponent: Crash,
  parseSearch,
  stringifySearch,
});

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
