import type { ItemRow } from "~/api/items";
import { State } from "~/api/schema";
import { firstOf } from "~/util/self-items";

/** An older value is not that of now: the items are polled at least once a minute. */
const FRESH_S = 300;

/** A figure of self-monitoring: its value, or since when there is none. */
export type Figure =
  | { value: string; clock: number }
  | { value: null /** Unix seconds of the last value; 0: never. */; clock: number };

/** `lasting`: a value that stays true, such as the version of a running server. */
export function figureOf(
  items: readonly ItemRow[] | undefined,
  keys: readonly string[],
  now: number,
  lasting = false,
): Figure {
  const item = items && firstOf(items, keys);
  if (!item) return { value: null, clock: 0 };
  const clock = Number(item.lastclock);
  const isFresh = clock > 0 && item.state === State.Normal && (lasting || now - clock <= FRESH_S);
  return isFresh ? { value: item.lastvalue, clock } : { value: null, clock };
}

/** Unix seconds of the start of the server; null: unknown. */
export function startOf(uptime: Figure): number | null {
  return uptime.value === null ? null : uptime.clock - Number(uptime.value);
}
