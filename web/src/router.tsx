import { createRoute, createRouter, type RouterHistory } from "@tanstack/react-router";
import { alerting } from "~/router-alerting";
import { boards } from "~/router-boards";
import { inside, login, root } from "~/router-frame";
import { Crash, NotFound } from "~/shared/fallback";
import { page } from "~/shell/page";
import { parseSearch, pickSearch, stringifySearch } from "~/util/search";

const overview = createRoute({
  getParentRoute: () => inside,
  path: "/",
  component: page(() => import("~/features/overview/page"), "OverviewPage"),
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
      "by",
      "from",
      "to",
      "event",
    ]),
  component: page(() => import("~/features/problems/page"), "ProblemsPage"),
});

const hosts = createRoute({
  getParentRoute: () => inside,
  path: "/hosts",
  validateSearch: (search) =>
    pickSearch(search, ["text", "group", "tags", "status", "template", "sort", "desc"]),
  component: page(() => import("~/features/hosts/page"), "HostsPage"),
});

const hostNew = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/new",
  component: page(() => import("~/features/host/edit"), "HostNewPage"),
});

const host = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/$hostid",
  validateSearch: (search) => pickSearch(search, ["tab", "text", "from", "to"]),
  component: page(() => import("~/features/host/page"), "HostPage"),
});

const hostEdit = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/$hostid/edit",
  component: page(() => import("~/features/host/edit"), "HostEditPage"),
});

const itemNew = createRoute({
  getParentRoute: () => inside,
  path: "/hosts/$hostid/items/new",
  component: page(() => import("~/features/items/edit"), "HostItemNewPage"),
});

const ownedItemNew = createRoute({
  getParentRoute: () => inside,
  path: "/items/new",
  validateSearch: (search) => pickSearch(search, ["owner", "rule"]),
  component: page(() => import("~/features/items/edit"), "ItemNewPage"),
});

const triggerNew = createRoute({
  getParentRoute: () => inside,
  path: "/triggers/new",
  validateSearch: (search) => pickSearch(search, ["owner", "rule"]),
  component: page(() => import("~/features/triggers/edit"), "TriggerNewPage"),
});

const triggerEdit = createRoute({
  getParentRoute: () => inside,
  path: "/triggers/$triggerid/edit",
  component: page(() => import("~/features/triggers/edit"), "TriggerEditPage"),
});

const ruleNew = createRoute({
  getParentRoute: () => inside,
  path: "/rules/new",
  validateSearch: (search) => pickSearch(search, ["owner"]),
  component: page(() => import("~/features/discovery-rules/page"), "RuleNewPage"),
});

const rule = createRoute({
  getParentRoute: () => inside,
  path: "/rules/$ruleid",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/features/discovery-rules/page"), "RulePage"),
});

const hostPrototypeNew = createRoute({
  getParentRoute: () => inside,
  path: "/host-prototypes/new",
  validateSearch: (search) => pickSearch(search, ["rule"]),
  component: page(() => import("~/features/host-prototypes/edit"), "HostPrototypeNewPage"),
});

const hostPrototypeEdit = createRoute({
  getParentRoute: () => inside,
  path: "/host-prototypes/$hostid/edit",
  component: page(() => import("~/features/host-prototypes/edit"), "HostPrototypeEditPage"),
});

const webNew = createRoute({
  getParentRoute: () => inside,
  path: "/web/new",
  validateSearch: (search) => pickSearch(search, ["owner"]),
  component: page(() => import("~/features/web-scenarios/edit"), "WebNewPage"),
});

const webEdit = createRoute({
  getParentRoute: () => inside,
  path: "/web/$httptestid/edit",
  component: page(() => import("~/features/web-scenarios/edit"), "WebEditPage"),
});

const itemEdit = createRoute({
  getParentRoute: () => inside,
  path: "/items/$itemid/edit",
  component: page(() => import("~/features/items/edit"), "ItemEditPage"),
});

const latest = createRoute({
  getParentRoute: () => inside,
  path: "/latest",
  validateSearch: (search) => pickSearch(search, ["text", "group", "host", "tags", "state"]),
  component: page(() => import("~/features/latest/page"), "LatestPage"),
});

const graph = createRoute({
  getParentRoute: () => inside,
  path: "/graph",
  validateSearch: (search) => pickSearch(search, ["items", "from", "to", "split"]),
  component: page(() => import("~/features/graph/page"), "GraphPage"),
});

const templates = createRoute({
  getParentRoute: () => inside,
  path: "/templates",
  validateSearch: (search) => pickSearch(search, ["text", "group", "linked"]),
  component: page(() => import("~/features/templates/page"), "TemplatesPage"),
});

const template = createRoute({
  getParentRoute: () => inside,
  path: "/templates/$templateid",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/features/templates/template"), "TemplatePage"),
});

const maintenance = createRoute({
  getParentRoute: () => inside,
  path: "/maintenance",
  validateSearch: (search) => pickSearch(search, ["text", "state", "group", "host"]),
  component: page(() => import("~/features/maintenance/page"), "MaintenancePage"),
});

const maintenanceNew = createRoute({
  getParentRoute: () => inside,
  path: "/maintenance/new",
  validateSearch: (search) => pickSearch(search, ["host"]),
  component: page(() => import("~/features/maintenance/edit"), "MaintenanceNewPage"),
});

const maintenanceEdit = createRoute({
  getParentRoute: () => inside,
  path: "/maintenance/$maintenanceid/edit",
  component: page(() => import("~/features/maintenance/edit"), "MaintenanceEditPage"),
});

const discovery = createRoute({
  getParentRoute: () => inside,
  path: "/discovery",
  validateSearch: (search) => pickSearch(search, ["text", "state", "rule"]),
  component: page(() => import("~/features/network-discovery/page"), "DiscoveryPage"),
});

const networkRules = createRoute({
  getParentRoute: () => inside,
  path: "/discovery-rules",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/network-discovery/rules"), "NetworkRulesPage"),
});

const networkRuleNew = createRoute({
  getParentRoute: () => inside,
  path: "/discovery-rules/new",
  component: page(() => import("~/features/network-discovery/rule-edit"), "NetworkRuleNewPage"),
});

const networkRuleEdit = createRoute({
  getParentRoute: () => inside,
  path: "/discovery-rules/$druleid/edit",
  component: page(() => import("~/features/network-discovery/rule-edit"), "NetworkRuleEditPage"),
});

const autoregistration = createRoute({
  getParentRoute: () => inside,
  path: "/autoregistration",
  component: page(() => import("~/features/autoregistration/page"), "AutoregistrationPage"),
});

const proxies = createRoute({
  getParentRoute: () => inside,
  path: "/proxies",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/features/proxies/page"), "ProxiesPage"),
});

const queue = createRoute({
  getParentRoute: () => inside,
  path: "/queue",
  validateSearch: (search) => pickSearch(search, ["by"]),
  component: page(() => import("~/features/queue/page"), "QueuePage"),
});

const health = createRoute({
  getParentRoute: () => inside,
  path: "/health",
  validateSearch: (search) => pickSearch(search, ["from", "to"]),
  component: page(() => import("~/features/health/page"), "HealthPage"),
});

const capacity = createRoute({
  getParentRoute: () => inside,
  path: "/capacity",
  component: page(() => import("~/features/capacity/page"), "CapacityPage"),
});

const system = createRoute({
  getParentRoute: () => inside,
  path: "/system",
  component: page(() => import("~/features/system/page"), "SystemPage"),
});

const housekeeping = createRoute({
  getParentRoute: () => inside,
  path: "/housekeeping",
  component: page(() => import("~/features/housekeeping/page"), "HousekeepingPage"),
});

const authentication = createRoute({
  getParentRoute: () => inside,
  path: "/authentication",
  validateSearch: (search) => pickSearch(search, ["tab"]),
  component: page(() => import("~/features/authentication/page"), "AuthenticationPage"),
});

const connectors = createRoute({
  getParentRoute: () => inside,
  path: "/connectors",
  component: page(() => import("~/features/connectors/page"), "ConnectorsPage"),
});

const audit = createRoute({
  getParentRoute: () => inside,
  path: "/audit",
  validateSearch: (search) =>
    pickSearch(search, ["user", "action", "kind", "id", "set", "text", "from", "to", "entry"]),
  component: page(() => import("~/features/audit/page"), "AuditPage"),
});

const balancedServices = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/services",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/services"), "ServicesPage"),
});

const pools = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/pools",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/pools"), "PoolsPage"),
});

const poolGroups = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/pool-groups",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/pool-groups"), "PoolGroupsPage"),
});

const healthMonitors = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/health-monitors",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/others"), "MonitorsPage"),
});

const vips = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/vips",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/others"), "VipsPage"),
});

const certificates = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/certificates",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/others"), "CertificatesPage"),
});

const engineGroups = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/engine-groups",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/balancing/others"), "EngineGroupsPage"),
});

const engineGroup = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/engine-groups/$id/placement",
  validateSearch: (search) => pickSearch(search, ["view", "text", "show"]),
  component: page(() => import("~/features/balancing/groups/page"), "GroupPage"),
});

const engines = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/engines",
  component: page(() => import("~/features/balancing/engines/page"), "EnginesPage"),
});

const balance = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/services/balance",
  component: page(() => import("~/features/balancing/wizard/page"), "BalancePage"),
});

const balancedNew = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/$kind/new",
  component: page(() => import("~/features/balancing/edit"), "BalancedNewPage"),
});

const balancedEdit = createRoute({
  getParentRoute: () => inside,
  path: "/balancing/$kind/$id/edit",
  component: page(() => import("~/features/balancing/edit"), "BalancedEditPage"),
});

const transactions = createRoute({
  getParentRoute: () => inside,
  path: "/transactions",
  validateSearch: (search) => pickSearch(search, ["filter", "from", "to", "group"]),
  component: page(() => import("~/features/transactions/page"), "TransactionsPage"),
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
  component: page(() => import("~/features/users/page"), "UsersPage"),
});

const pages = [
  ...alerting,
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
  ...boards,
  templates,
  template,
  maintenance,
  maintenanceNew,
  maintenanceEdit,
  discovery,
  networkRules,
  networkRuleNew,
  networkRuleEdit,
  autoregistration,
  proxies,
  queue,
  health,
  capacity,
  system,
  housekeeping,
  authentication,
  connectors,
  audit,
  users,
  balancedServices,
  pools,
  poolGroups,
  healthMonitors,
  vips,
  certificates,
  engineGroups,
  engineGroup,
  engines,
  balance,
  balancedNew,
  balancedEdit,
  transactions,
  unknown,
] as const;

/** The routes with a history: the browser's, or that of a test. */
export function createAppRouter(history?: RouterHistory) {
  return createRouter({
    routeTree: root.addChildren([login, inside.addChildren(pages)]),
    history,
    defaultPreload: "intent",
    defaultErrorComponent: Crash,
    parseSearch,
    stringifySearch,
  });
}

export const router = createAppRouter();

declare module "@tanstack/react-router" {
  interface Register {
    router: typeof router;
  }
}
