/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  items: "Items",
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
