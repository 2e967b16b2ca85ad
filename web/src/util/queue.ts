import { periodSeconds } from "./time";

/** An item that the server collects by itself, as item.get gives it. */
export interface PolledItem {
  itemid: string;
  name: string;
  key_: string;
  delay: string;
  type: string;
  lastclock: string;
  hosts: { hostid: string; name: string }[];
  interfaces: { available: string; error: string }[];
  preprocessing: { type: string }[];
}

/** An item whose value is overdue. */
export interface DelayedItem {
  itemid: string;
  name: string;
  key: string;
  type: string;
  hostid: string;
  host: string;
  delay: string;
  /** Unix seconds of the newest value; 0: none yet. */
  lastclock: number;
  /** Seconds past the time a value was due; null where none has ever come. */
  late: number | null;
  reason: string;
}

/** Values are late from here on: less is the ordinary spread of a busy server. */
const LATE_SECONDS = 10;
/** "Discard unchanged" steps: their items are silent on purpose. */
const THROTTLING = new Set(["19", "20"]);

/** Which items are overdue at `now`, the latest first. */
export function delayedItems(items: readonly PolledItem[], now: number): DelayedItem[] {
  const delayed: DelayedItem[] = [];
  for (const item of items) {
    const interval = periodSeconds(item.delay.split(";")[0] ?? "");
    if (!interval || item.preprocessing.some((step) => THROTTLING.has(step.type))) continue;
    const lastclock = Number(item.lastclock);
    const late = lastclock === 0 ? null : now - lastclock - interval;
    if (late !== null && late < LATE_SECONDS) continue;
    const failing = item.interfaces.find((iface) => iface.available === "2");
    const reason = failing
      ? failing.error || "The interface is not available"
      : late === null
        ? "No value has come yet"
        : "The answer is overdue";
    delayed.push({
      itemid: item.itemid,
      name: item.name,
      key: item.key_,
      type: item.type,
      hostid: item.hosts[0]?.hostid ?? "",
      host: item.hosts[0]?.name ?? "",
      delay: item.delay,
      lastclock,
      late,
      reason,
    });
  }
  return delayed.sort((a, b) => (b.late ?? -1) - (a.late ?? -1) || a.host.localeCompare(b.host));
}
