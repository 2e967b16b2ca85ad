import { readEvents } from "~/util/event-stream";
import type { OpenStream } from "./live-hub";

/** Before the next attempt at a server that has no stream, or refuses this session. */
const RETRY_MS = 60_000;
/** The same after a stream that broke off or a server that cannot be reached. */
const RECONNECT_MS = 3_000;

/** Follows the server's event stream and connects again when it ends. */
export const openStream: OpenStream = (token, onEvent, onState) => {
  const request = new AbortController();
  let retry: ReturnType<typeof setTimeout> | undefined;

  /** Reads the stream to its end. Returns the delay in milliseconds before the next attempt. */
  const follow = async (): Promise<number> => {
    try {
      // A header instead of EventSource, which could send the token only as part of the URL.
      const headers = { Accept: "text/event-stream", Authorization: `Bearer ${token}` };
      const options = { headers, signal: request.signal, cache: "no-store" } as const;
      const response = await fetch("/api/live", options);
      if (!response.ok || !response.body) return RETRY_MS;
      onState(true);
      await readEvents(response.body, onEvent);
      return RECONNECT_MS;
    } catch {
      return RECONNECT_MS;
    }
  };

  const connect = async () => {
    const wait = await follow();
    if (request.signal.aborted) return;
    onState(false);
    retry = setTimeout(() => void connect(), wait);
  };

  void connect();
  return () => {
    clearTimeout(retry);
    request.abort();
  };
};
