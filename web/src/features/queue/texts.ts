/** Texts that users read, to be reviewed and translated in one place. */
export const texts = {
  overdue: "Overdue",
  host: "Host",
  item: "Item",
  reason: "Reason",
  type: "Type",
  interval: "Interval",
  lastValue: "Last value",
  delayedItems: "Delayed items",
  nothingIsOverdue: "Nothing is overdue",
  allPolledItemsAre: "All polled items are up to date.",
  itemsInTheQueue: "Items in the queue",
  queue: "Queue",
  view: "View",
  proxy: "Proxy",
} as const;
