import type { Query, QueryClient } from "@tanstack/react-query";

/** Notices are gathered for this long before a query is fetched again. */
export const GATHER_MS = 400;
/** A slow query waits longer between fetches, so that it takes at most a third of the time. */
const REST = 2;
const REST_MAX_MS = 10_000;

interface Pending {
  timer?: ReturnType<typeof setTimeout>;
  running: boolean;
  /** A notice arrived while the query was being fetched: the answer may not contain the change. */
  dirty: boolean;
  lastMs: number;
}

/**
 * Fetches queries again after notices, each at its own pace: a running fetch is never cancelled,
 * and a notice that arrives meanwhile causes one more fetch after it.
 */
export class Refresher {
  private readonly pending = new Map<string, Pending>();

  constructor(private readonly client: QueryClient) {}

  /** Has the queries that `concerns` selects fetched again soon. */
  notice(concerns: (query: Query) => boolean): void {
    for (const query of this.client.getQueryCache().findAll({ predicate: concerns })) {
      if (query.isActive()) this.mark(query);
      else query.invalidate();
    }
  }

  stop(): void {
    for (const { timer } of this.pending.values()) clearTimeout(timer);
    this.pending.clear();
  }

  private mark(query: Query): void {
    let pending = this.pending.get(query.queryHash);
    if (!pending) {
      pending = { running: false, dirty: false, lastMs: 0 };
      this.pending.set(query.queryHash, pending);
    }
    pending.dirty = true;
    this.schedule(query, pending);
  }

  private schedule(query: Query, pending: Pending): void {
    if (pending.running || pending.timer !== undefined) return;
    const wait = Math.max(GATHER_MS, Math.min(pending.lastMs * REST, REST_MAX_MS));
    pending.timer = setTimeout(() => void this.run(query, pending), wait);
  }

  private async run(query: Query, pending: Pending): Promise<void> {
    pending.timer = undefined;
    pending.running = true;
    // A fetch that began before the notice may have read the old state.
    if (query.state.fetchStatus === "fetching") await this.refetch(query);
    pending.dirty = false;
    const start = performance.now();
    query.invalidate();
    await this.refetch(query);
    pending.lastMs = performance.now() - start;
    pending.running = false;
    if (!query.isActive()) this.pending.delete(query.queryHash);
    else if (pending.dirty) this.schedule(query, pending);
  }

  /** Starts a fetch, or waits for the running one. */
  private refetch(query: Query): Promise<void> {
    const only = { predicate: (other: Query) => other === query };
    return this.client.refetchQueries(only, { cancelRefetch: false });
  }
}
