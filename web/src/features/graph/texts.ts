/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  items: "Items",
  fromTo: (from: string, till: string) => `${from} to ${till}`,
  historyLost: (reason: string) => `History of this range was lost: damaged file (${reason}).`,
  historyMayBeLost: (reason: string) =>
    `History of this range may be incomplete: damaged file (${reason}).`,
  noValuesYet: "No values yet.",
  theCheckWasRequested: "The check was requested. New values appear shortly.",
  checkNow: "Check now",
  graph: "Graph",
  charts: "Charts",
  combined: "Combined",
  separate: "Separate",
  copyLink: "Copy link",
  selectItemsToDisplay: "Select items to display",
  selectInLatestData: "Select in Latest data",
  selectItemsAboveOr:
    "Select items above, or select rows in Latest data. Drag over a chart to zoom in.",
  theseItemsDoNot: "These items do not exist",
  theyWereDeletedOr: "They were deleted, or you do not have permission to view them.",
  theLinkWasCopied: "The link was copied.",
} as const;
