/** Settings of widgets by the names of their fields. */
const settings: Readonly<Record<string, string>> = {
  acknowledged_by_me: "acknowledged by me",
  exclude_groupids: "excluded host groups",
  ext_ack: "separate acknowledged problems",
  "groupids._reference": "host groups of another widget",
  hide_empty_groups: "hide groups without problems",
  "hostids._reference": "hosts of another widget",
  layout: "layout",
  show_opdata: "operational data",
  show_symptoms: "symptoms",
  show_tags: "tags",
  show_timeline: "timeline",
  show_type: "problems per host group",
  sort_triggers: "order",
  tag_name_format: "format of tag names",
  tag_priority: "priority of tags",
};

/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  settings,
  notApplied: (names: readonly string[]) =>
    `Settings of this widget that are not applied: ${names.join(", ")}.`,
  resolved: "Resolved",
  dashboards: "Dashboards",
  dashboard: "Dashboard",
  dashboardWord: "dashboard",
  searchDashboards: "Search dashboards",
  thisDashboardDoesNot: "This dashboard does not exist",
  dashboardsShow:
    "A dashboard shows widgets on a grid. Create dashboards through the API; this page shows them.",
  pages: "Pages of the dashboard",
  page: (number: number) => `Page ${number}`,
  noWidgets: "This page has no widgets",
  notDrawn: (type: string) => `${type} is not drawn yet`,
  notVisible: "Deleted, or not visible to you",
  noItems: "No items are chosen",
  noValue: "No value yet",
  noMatchingProblems: "No problems match",
  openUrl: "Open the address",
  noUrl: "No address of http or https",
  ofHost: "Dashboards of the host",
  noHostDashboards: "No dashboards",
  dashboardsComeWithTemplates: "Dashboards of a host come with its templates.",
} as const;
