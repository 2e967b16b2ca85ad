// Pages of alerting and of services.
import { createRoute } from "@tanstack/react-router";
import { inside } from "~/router-frame";
import { page } from "~/shell/page";
import { pickSearch } from "~/util/search";

const actions = createRoute({
  getParentRoute: () => inside,
  path: "/actions",
  validateSearch: (search) => pickSearch(search, ["source"]),
  component: page(() => import("~/features/actions/page"), "ActionsPage"),
});

const actionNew = createRoute({
  getParentRoute: () => inside,
  path: "/actions/new",
  validateSearch: (search) => pickSearch(search, ["source"]),
  component: page(() => import("~/features/actions/edit"), "ActionNewPage"),
});

const actionEdit = createRoute({
  getParentRoute: () => inside,
  path: "/actions/$actionid/edit",
  component: page(() => import("~/features/actions/edit"), "ActionEditPage"),
});

const mediaTypes = createRoute({
  getParentRoute: () => inside,
  path: "/media-types",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/media-types/page"), "MediaTypesPage"),
});

const mediaTypeNew = createRoute({
  getParentRoute: () => inside,
  path: "/media-types/new",
  component: page(() => import("~/features/media-types/edit"), "MediaTypeNewPage"),
});

const mediaTypeEdit = createRoute({
  getParentRoute: () => inside,
  path: "/media-types/$mediatypeid/edit",
  component: page(() => import("~/features/media-types/edit"), "MediaTypeEditPage"),
});

const scripts = createRoute({
  getParentRoute: () => inside,
  path: "/scripts",
  validateSearch: (search) => pickSearch(search, ["text", "scope"]),
  component: page(() => import("~/features/scripts/page"), "ScriptsPage"),
});

const scriptNew = createRoute({
  getParentRoute: () => inside,
  path: "/scripts/new",
  component: page(() => import("~/features/scripts/edit"), "ScriptNewPage"),
});

const scriptEdit = createRoute({
  getParentRoute: () => inside,
  path: "/scripts/$scriptid/edit",
  component: page(() => import("~/features/scripts/edit"), "ScriptEditPage"),
});

const services = createRoute({
  getParentRoute: () => inside,
  path: "/services",
  validateSearch: (search) => pickSearch(search, ["text", "tags", "status", "open", "sla"]),
  component: page(() => import("~/features/services/page"), "ServicesPage"),
});

const serviceNew = createRoute({
  getParentRoute: () => inside,
  path: "/services/new",
  validateSearch: (search) => pickSearch(search, ["parent"]),
  component: page(() => import("~/features/services/edit"), "ServiceNewPage"),
});

const serviceEdit = createRoute({
  getParentRoute: () => inside,
  path: "/services/$serviceid/edit",
  component: page(() => import("~/features/services/edit"), "ServiceEditPage"),
});

const slas = createRoute({
  getParentRoute: () => inside,
  path: "/sla",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/sla/page"), "SlasPage"),
});

const slaNew = createRoute({
  getParentRoute: () => inside,
  path: "/sla/new",
  component: page(() => import("~/features/sla/edit"), "SlaNewPage"),
});

const slaEdit = createRoute({
  getParentRoute: () => inside,
  path: "/sla/$slaid/edit",
  component: page(() => import("~/features/sla/edit"), "SlaEditPage"),
});

const slaReport = createRoute({
  getParentRoute: () => inside,
  path: "/sla-report",
  validateSearch: (search) => pickSearch(search, ["sla", "service", "from", "to"]),
  component: page(() => import("~/features/sla/report"), "SlaReportPage"),
});

const correlations = createRoute({
  getParentRoute: () => inside,
  path: "/correlation",
  validateSearch: (search) => pickSearch(search, ["text"]),
  component: page(() => import("~/features/correlation/page"), "CorrelationsPage"),
});

const correlationNew = createRoute({
  getParentRoute: () => inside,
  path: "/correlation/new",
  component: page(() => import("~/features/correlation/edit"), "CorrelationNewPage"),
});

const correlationEdit = createRoute({
  getParentRoute: () => inside,
  path: "/correlation/$correlationid/edit",
  component: page(() => import("~/features/correlation/edit"), "CorrelationEditPage"),
});

const onCall = createRoute({
  getParentRoute: () => inside,
  path: "/oncall",
  validateSearch: (search) => pickSearch(search, ["schedule", "week"]),
  component: page(() => import("~/features/oncall/page"), "OnCallPage"),
});

const onCallNew = createRoute({
  getParentRoute: () => inside,
  path: "/oncall/new",
  component: page(() => import("~/features/oncall/edit"), "ScheduleNewPage"),
});

const onCallEdit = createRoute({
  getParentRoute: () => inside,
  path: "/oncall/$scheduleid/edit",
  component: page(() => import("~/features/oncall/edit"), "ScheduleEditPage"),
});

const heartbeat = createRoute({
  getParentRoute: () => inside,
  path: "/heartbeat",
  component: page(() => import("~/features/heartbeat/page"), "HeartbeatPage"),
});

const messageLinks = createRoute({
  getParentRoute: () => inside,
  path: "/message-links",
  component: page(() => import("~/features/message-links/page"), "MessageLinksPage"),
});

const alerts = createRoute({
  getParentRoute: () => inside,
  path: "/alerts",
  validateSearch: (search) =>
    pickSearch(search, [
      "source",
      "status",
      "withheld",
      "text",
      "user",
      "action",
      "media",
      "event",
      "from",
      "to",
      "alert",
    ]),
  component: page(() => import("~/features/alerts/page"), "AlertsPage"),
});

export const alerting = [
  actions,
  actionNew,
  actionEdit,
  mediaTypes,
  mediaTypeNew,
  mediaTypeEdit,
  scripts,
  scriptNew,
  scriptEdit,
  services,
  serviceNew,
  serviceEdit,
  slas,
  slaNew,
  slaEdit,
  slaReport,
  correlations,
  correlationNew,
  correlationEdit,
  onCall,
  onCallNew,
  onCallEdit,
  heartbeat,
  messageLinks,
  alerts,
] as const;
