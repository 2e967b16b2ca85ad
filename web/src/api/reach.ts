/** Whether the server answers. */
export interface Reach {
  reachable: boolean;
  /** Unix milliseconds of the last answer. */
  answeredAt: number;
}

let reach: Reach = { reachable: true, answeredAt: Date.now() };
const listeners = new Set<() => void>();

function set(next: Reach): void {
  const changed = next.reachable !== reach.reachable;
  reach = next;
  if (changed) for (const listener of listeners) listener();
}

/** An answer arrived. */
export function answered(now = Date.now()): void {
  set({ reachable: true, answeredAt: now });
}

/** A request got no answer. */
export function unanswered(): void {
  set({ ...reach, reachable: false });
}

export function isReachable(): boolean {
  return reach.reachable;
}

/** Unix seconds of the last answer. */
export function answeredAt(): number {
  return Math.floor(reach.answeredAt / 1000);
}

export function subscribeReach(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}
