/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
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
  ofHost: "Dashboards of the host",
  noHostDashboards: "No dashboards",
  dashboardsComeWithTemplates: "Dashboards of a host come with its templates.",
} as const;
