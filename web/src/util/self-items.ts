import { State } from "~/api/schema";
import type { GraphableItem } from "./key-graphs";

const BUSY = /^zabbix\[process,([^,\]]+),avg,busy\]$/;
const CACHES =
  /^zabbix\[(rcache|wcache|vcache|tcache|vmware),.*(pused)\]$|^zabbix\[vedette,.*(pused)\]$/;

/** The stages of the server with their busy share, the busiest first. */
export function busyStages<I extends GraphableItem & { lastvalue: string }>(
  items: readonly I[],
): { name: string; item: I; busy: number }[] {
  return items
    .flatMap((item) => {
      const name = BUSY.exec(item.key_)?.[1];
      if (!name || item.state !== State.Normal || item.lastclock === "0") return [];
      return [{ name, item, busy: Number(item.lastvalue) }];
    })
    .sort((a, b) => b.busy - a.busy || a.name.localeCompare(b.name));
}

/** Shares of caches in use. */
export function cacheItems<I extends GraphableItem>(items: readonly I[]): I[] {
  return items.filter(
    (item) => CACHES.test(item.key_) && item.state === State.Normal && item.lastclock !== "0",
  );
}

/** The first of some keys that the server has. */
export function firstOf<I extends GraphableItem>(
  items: readonly I[],
  keys: readonly string[],
): I | undefined {
  for (const key of keys) {
    const found = items.find((item) => item.key_ === key);
    if (found) return found;
  }
  return undefined;
}
