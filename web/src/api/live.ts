import type { Query, QueryClient } from "@tanstack/react-query";
import { sessionToken, subscribeSession } from "./session-store";

/** What a query shows, so that the server's notices reach the right ones. */
export interface LiveMeta extends Record<string, unknown> {
  live?: "values" | "problems" | "config";
  /** For `values`: the items shown; without them any value refreshes the query. */
  itemids?: readonly string[];
}

declare module "@tanstack/react-query" {
  interface Register {
    queryMeta: LiveMeta;
  }
}

export type LiveState = "live" | "polling" | "offline";

const POLL_MS = 5_000;
/** A slow heartbeat behind the stream, in case a notice was lost on the way. */
const BACKUP_POLL_MS = 30_000;
/** Values arrive all the time: gather their notices before asking again. */
const GATHER_MS = 400;
/** How long to wait before looking again for a server that has no stream. */
const RETRY_MS = 60_000;

let state: LiveState = "polling";
const listeners = new Set<() => void>();

function setState(next: LiveState): void {
  if (state === next) return;
  state = next;
  for (const listener of listeners) listener();
}

export function liveState(): LiveState {
  return state;
}

export function subscribeLive(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For `refetchInterval`: quick while nothing tells us of changes, slow while the server does. */
export function pollInterval(): number {
  return state === "live" ? BACKUP_POLL_MS : POLL_MS;
}

function concerns(query: Query, itemids: ReadonlySet<string>): boolean {
  const meta = query.meta;
  if (meta?.live !== "values") return false;
  return !meta.itemids || meta.itemids.some((id) => itemids.has(id));
}

class Stream {
  private source: EventSource | null = null;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private gathered = new Set<string>();
  private flush: ReturnType<typeof setTimeout> | undefined;

  constructor(private readonly client: QueryClient) {}

  open(): void {
    this.close();
    const token = sessionToken();
    if (!token) return;
    const source = new EventSource(`/api/live?token=${encodeURIComponent(token)}`);
    this.source = source;
    source.onopen = () => {
      setState("live");
      // What happened while there was no stream nobody has told us.
      this.refreshAll();
    };
    source.onerror = () => {
      setState("polling");
      // CLOSED: the server has no stream (404) or refused it. Otherwise the browser reconnects itself.
      if (source.readyState === EventSource.CLOSED) {
        this.retry = setTimeout(() => this.open(), RETRY_MS);
      }
    };
    source.addEventListener("values", (event) => this.values(event.data));
    source.addEventListener("problems", () => this.refreshProblems());
    // Also what the server says when this browser was too slow to hear everything.
    source.addEventListener("config", () => this.refreshAll());
  }

  close(): void {
    clearTimeout(this.retry);
    clearTimeout(this.flush);
    this.flush = undefined;
    this.source?.close();
    this.source = null;
    setState("polling");
  }

  private refreshProblems(): void {
    void this.client.invalidateQueries({ predicate: (query) => query.meta?.live === "problems" });
  }

  private refreshAll(): void {
    void this.client.invalidateQueries({ predicate: (query) => query.meta?.live !== undefined });
  }

  private values(data: string): void {
    try {
      const { itemids } = JSON.parse(data) as { itemids: (string | number)[] };
      for (const id of itemids) this.gathered.add(String(id));
    } catch {
      return;
    }
    this.flush ??= setTimeout(() => {
      const itemids = this.gathered;
      this.gathered = new Set();
      this.flush = undefined;
      void this.client.invalidateQueries(
        { predicate: (query) => concerns(query, itemids) },
        { cancelRefetch: false },
      );
    }, GATHER_MS);
  }
}

/** Follows the session: a stream while somebody is signed in. Called once, at start. */
export function startLive(client: QueryClient): void {
  const stream = new Stream(client);
  let token: string | null = null;
  const follow = () => {
    if (sessionToken() === token) return;
    token = sessionToken();
    if (token) stream.open();
    else stream.close();
  };
  subscribeSession(follow);
  follow();
}
