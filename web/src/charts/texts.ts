/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  historyLost: "History of this range was lost: damaged file.",
  historyMayBeLost: "History of this range may be incomplete: damaged file.",
  from: "From",
  to: "To",
  now1hNowD: "now-1h, now/d, 2026-11-21 10:00",
  apply: "Apply",
  earlier: "Earlier",
  timeRange: (what: string) => `Time range: ${what}`,
  later: "Later",
  zoomOut: "Zoom out",
  hostsByHighestSeverity: "Hosts by highest severity",
  problemsStarted: (total: number) => `${total} problems started`,
  startedTime: (time: string, sum: number) => `${time}\n${sum} started`,
  timesAreIn: (zone: string) => `Times are in ${zone}.`,
} as const;
