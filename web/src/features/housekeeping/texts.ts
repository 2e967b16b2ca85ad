/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  housekeeping: "Housekeeping",
  events: {
    title: "Events",
    note: "Events of open problems are always kept.",
    switch: "Delete old events",
  },
  ofTriggers: "Events of triggers",
  ofServices: "Events of services",
  internal: "Internal events",
  ofDiscovery: "Events of network discovery",
  ofAutoregistration: "Events of autoregistration",
  services: {
    title: "Services",
    note: "Status changes of services. The SLI of a time before them cannot be computed.",
    switch: "Delete old status changes",
  },
  statusChanges: "Status changes",
  audit: { title: "Audit log", switch: "Delete old entries" },
  entries: "Entries",
  sessions: {
    title: "Sessions",
    note: "Users without automatic logout sign in again after this time without a request.",
    switch: "End unused sessions",
  },
  unusedSessions: "Unused sessions",
  history: {
    title: "History",
    note: "Without an override, the period of each item applies.",
    switch: "Override the period of items",
  },
  allHistory: "History of all items",
  trends: {
    title: "Trends",
    note: "Without an override, the period of each item applies.",
    switch: "Override the period of items",
  },
  allTrends: "Trends of all items",
  wrong: (least: string, orZero: boolean) =>
    `Enter a duration from ${least} to 9125d${orZero ? ", or 0 to keep nothing" : ""}.`,
  save: "Save housekeeping",
  saved: "The settings of housekeeping were saved.",
  overrideTitle: "Override the period of all items?",
  overrideText:
    "History and trends that are older than the new period are deleted within an hour, also of items that keep them longer. They cannot be restored.",
  override: "Override",
} as const;
