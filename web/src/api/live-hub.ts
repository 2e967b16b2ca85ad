/** What a page sends: `follow` also keeps its place, `leave` when it is hidden or closed. */
export type FromPage = { kind: "follow"; token: string } | { kind: "leave" };

/** What a page receives. */
export type ToPage =
  | { kind: "state"; live: boolean }
  | { kind: "event"; name: string; data: string };

export interface PagePort {
  postMessage(message: ToPage): void;
}

/** Opens the stream of a session; returns what closes it. */
export type OpenStream = (
  token: string,
  onEvent: (name: string, data: string) => void,
  onState: (live: boolean) => void,
) => () => void;

/** Pages repeat `follow` this often. */
export const FOLLOW_MS = 10_000;
/** A page that was silent for this long is gone: a tab that crashed does not say so. */
const SILENT_MS = 35_000;

interface Shared {
  close: () => void;
  live: boolean;
}

/** One event stream per session for all pages that follow it; without visible pages there is none. */
export class LiveHub {
  private readonly pages = new Map<PagePort, { token: string; seen: number }>();
  private readonly streams = new Map<string, Shared>();

  constructor(
    private readonly openStream: OpenStream,
    private readonly now: () => number = Date.now,
  ) {}

  receive(port: PagePort, message: FromPage): void {
    this.dropSilent();
    if (message.kind === "leave") {
      this.pages.delete(port);
      this.closeUnused();
      return;
    }
    const { token } = message;
    const joins = this.pages.get(port)?.token !== token;
    this.pages.set(port, { token, seen: this.now() });
    this.closeUnused();
    const stream = this.streams.get(token) ?? this.open(token);
    if (joins) port.postMessage({ kind: "state", live: stream.live });
  }

  /** Open streams, for tests. */
  get size(): number {
    return this.streams.size;
  }

  private open(token: string): Shared {
    const shared: Shared = { close: () => undefined, live: false };
    this.streams.set(token, shared);
    shared.close = this.openStream(
      token,
      (name, data) => this.send(token, { kind: "event", name, data }),
      (live) => {
        shared.live = live;
        this.send(token, { kind: "state", live });
      },
    );
    return shared;
  }

  private send(token: string, message: ToPage): void {
    this.dropSilent();
    this.closeUnused();
    for (const [port, page] of this.pages) if (page.token === token) port.postMessage(message);
  }

  private dropSilent(): void {
    const oldest = this.now() - SILENT_MS;
    for (const [port, page] of this.pages) if (page.seen < oldest) this.pages.delete(port);
  }

  private closeUnused(): void {
    const used = new Set([...this.pages.values()].map((page) => page.token));
    for (const [token, stream] of this.streams) {
      if (used.has(token)) continue;
      this.streams.delete(token);
      stream.close();
    }
  }
}
