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
  dueTime: (time: string) => `Due ${time}`,
  itemsOverdue: (items: string) => `${items} overdue`,
  itemsOverdueOf: (items: string, shown: string) =>
    `${items} overdue; the ${shown} most overdue are shown`,
  notCounted: (items: string) => `Not counted: ${items} on unavailable interfaces.`,
} as const;
