import type { Query, QueryClient } from "@tanstack/react-query";
import { probe } from "./client";
import { FOLLOW_MS, type FromPage, LiveHub, type ToPage } from "./live-hub";
import { openStream } from "./live-stream";
import { isReachable, subscribeReach } from "./reach";
import { Refresher } from "./refresh";
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
/** How often a server that does not answer is asked again. */
const PROBE_MS = 3_000;

let streaming = false;
const listeners = new Set<() => void>();

function notify(): void {
  for (const listener of listeners) listener();
}

export function liveState(): LiveState {
  if (!isReachable()) return "offline";
  return streaming ? "live" : "polling";
}

export function subscribeLive(listener: () => void): () => void {
  listeners.add(listener);
  return () => listeners.delete(listener);
}

/** For `refetchInterval`: quick while nothing tells us of changes, slow while the server does. */
export function pollInterval(): number {
  return liveState() === "live" ? BACKUP_POLL_MS : POLL_MS;
}

function concerns(query: Query, itemids: ReadonlySet<string>): boolean {
  const meta = query.meta;
  if (meta?.live !== "values") return false;
  return !meta.itemids || meta.itemids.some((id) => itemids.has(id));
}

/** The shared worker's port; where there are no shared workers, a hub of this page alone. */
function connect(receive: (message: ToPage) => void): (message: FromPage) => void {
  if ("SharedWorker" in globalThis) {
    const worker = new SharedWorker(new URL("./live-worker.ts", import.meta.url), {
      type: "module",
      name: "vedette-live",
    });
    worker.port.onmessage = (event: MessageEvent<ToPage>) => receive(event.data);
    return (message) => worker.port.postMessage(message);
  }
  const hub = new LiveHub(openStream);
  const port = { postMessage: receive };
  return (message) => hub.receive(port, message);
}

function itemsOf(data: string): ReadonlySet<string> {
  try {
    const { itemids } = JSON.parse(data) as { itemids: (string | number)[] };
    return new Set(itemids.map(String));
  } catch {
    return new Set();
  }
}

/** Asks a server that does not answer until it does, then refreshes what is shown. */
function watchReach(refreshAll: () => void): void {
  let timer: ReturnType<typeof setInterval> | undefined;
  subscribeReach(() => {
    clearInterval(timer);
    if (isReachable()) refreshAll();
    else timer = setInterval(() => void probe(), PROBE_MS);
    notify();
  });
}

/** Follows the session while the page is visible. Called once, at start. */
export function startLive(client: QueryClient): void {
  const refresher = new Refresher(client);
  const refreshAll = () => refresher.notice((query) => query.meta?.live !== undefined);
  const setStreaming = (live: boolean) => {
    if (streaming === live) return;
    streaming = live;
    notify();
  };

  const receive = (message: ToPage) => {
    if (message.kind === "state") {
      const ended = streaming && !message.live;
      setStreaming(message.live);
      // Notices sent while there was no stream are lost. A stream also ends with its session, which
      // the next request reports.
      if (message.live || ended) refreshAll();
      if (!message.live) void probe();
    } else if (message.name === "values") {
      const itemids = itemsOf(message.data);
      refresher.notice((query) => concerns(query, itemids));
    } else if (message.name === "problems") {
      refresher.notice((query) => query.meta?.live === "problems");
    } else if (message.name === "config") {
      // Also sent if this browser was too slow to read every notice.
      refreshAll();
    }
  };

  const send = connect(receive);
  const follow = () => {
    const token = sessionToken();
    if (token && document.visibilityState === "visible") send({ kind: "follow", token });
    else {
      send({ kind: "leave" });
      setStreaming(false);
    }
  };
  subscribeSession(() => {
    if (!sessionToken()) refresher.stop();
    follow();
  });
  document.addEventListener("visibilitychange", follow);
  addEventListener("pagehide", () => send({ kind: "leave" }));
  addEventListener("pageshow", follow);
  setInterval(follow, FOLLOW_MS);
  watchReach(refreshAll);
  follow();
}
