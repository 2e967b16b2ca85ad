import { State } from "~/api/schema";

/** Overdue items of one type or proxy, by how late they are. */
export interface QueueLine {
  /** The item type, or the proxy; "0" stands for the server itself. */
  id: string;
  /** 5–10 s, 10–30 s, 30–60 s, 1–5 min, 5–10 min, more. */
  counts: readonly number[];
  total: number;
}

/** A line as the server tells it: an id and `delay5` to `delay600`. */
export type RawQueueLine = Record<string, string | number>;

export const DELAYS: readonly (readonly [member: string, label: string])[] = [
  ["delay5", "5–10 s"],
  ["delay10", "10–30 s"],
  ["delay30", "30–60 s"],
  ["delay60", "1–5 min"],
  ["delay300", "5–10 min"],
  ["delay600", "Over 10 min"],
];

/** Lines with anything late, the longest queue first. */
export function queueLines(raw: readonly RawQueueLine[], id: "itemtype" | "proxyid"): QueueLine[] {
  return raw
    .map((line) => {
      const counts = DELAYS.map(([member]) => Number(line[member] ?? 0));
      return { id: String(line[id] ?? "0"), counts, total: counts.reduce((a, b) => a + b, 0) };
    })
    .filter((line) => line.total > 0)
    .sort((a, b) => b.total - a.total);
}

/** What all lines come to. */
export function sumLines(lines: readonly QueueLine[]): number[] {
  return DELAYS.map((_, i) => lines.reduce((sum, line) => sum + (line.counts[i] ?? 0), 0));
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
  /** Unix seconds when the value was due. */
  due: number;
  reason: string;
}

/** What tells why an item is late. */
export interface LateItem {
  lastclock: string;
  state: string;
  error: string;
  hosts: { proxyid?: string }[];
  interfaces: { available: string; error: string }[];
}

/** Why a value is late: what failed, else what the server says (`told`), else the likely. */
export function lateReason(item: LateItem, told?: string): string {
  const failing = item.interfaces.find((iface) => iface.available === "2");
  if (failing) return failing.error || "The interface is not available";
  if (item.state === State.NotSupported && item.error) return item.error;
  if (told) return `${told[0]?.toUpperCase()}${told.slice(1)}`;
  const proxyid = item.hosts[0]?.proxyid;
  if (proxyid && proxyid !== "0") return "The proxy has not sent the value";
  if (item.lastclock === "0") return "No value received yet";
  return "Response overdue: the device is slow or the server is overloaded";
}

/** A device with overdue items. */
export interface SlowHost {
  hostid: string;
  host: string;
  items: number;
  /** Unix seconds when the oldest of them was due. */
  due: number;
  reason: string;
}

/** Devices by the number of overdue items, the worst first. */
export function slowHosts(items: readonly DelayedItem[], max: number): SlowHost[] {
  const hosts = new Map<string, SlowHost>();
  for (const { hostid, host, due, reason } of items) {
    const known = hosts.get(hostid);
    if (!known) hosts.set(hostid, { hostid, host, items: 1, due, reason });
    else {
      known.items++;
      if (due < known.due) Object.assign(known, { due, reason });
    }
  }
  return [...hosts.values()].sort((a, b) => b.items - a.items || a.due - b.due).slice(0, max);
}
