/** The response to one call. */
export interface Envelope {
  id?: unknown;
  result?: unknown;
  error?: { code: number; message: string; data: string };
}

export interface Call {
  method: string;
  params: unknown;
}

/** Sends calls as a batch; returns their envelopes in the same order. */
type SendBatch = (calls: readonly Call[], signal: AbortSignal) => Promise<Envelope[]>;

interface Waiting extends Call {
  signal: AbortSignal | undefined;
  resolve: (envelope: Envelope) => void;
  reject: (error: unknown) => void;
}

/** Calls that begin within this time share requests. */
const GATHER_MS = 4;
/** Requests that run at once: browsers open six connections to a server, and live data uses one. */
const REQUESTS_MAX = 4;

/** Calls that change nothing. */
const READS = /\.get$|^history\.(buckets|gaps)$|^sla\.getsli$|^host\.states$/;

/**
 * Puts reads that begin at the same moment into few batches, while a page with many widgets asks for it.
 * Calls are dealt out in turn, so that the slow ones do not all meet in one batch.
 */
export class Gatherer {
  private pages = 0;
  private waiting: Waiting[] = [];

  constructor(private readonly send: SendBatch) {}

  begin(): () => void {
    this.pages++;
    return () => {
      this.pages--;
    };
  }

  takes(method: string): boolean {
    return this.pages > 0 && READS.test(method);
  }

  call(method: string, params: unknown, signal: AbortSignal | undefined): Promise<Envelope> {
    return new Promise((resolve, reject) => {
      if (this.waiting.length === 0) setTimeout(() => this.flush(), GATHER_MS);
      this.waiting.push({ method, params, signal, resolve, reject });
      signal?.addEventListener("abort", () => reject(signal.reason));
    });
  }

  private flush(): void {
    const calls = this.waiting.filter(({ signal }) => !signal?.aborted);
    this.waiting = [];
    const hands = Array.from({ length: Math.min(REQUESTS_MAX, calls.length) }, (_, hand) =>
      calls.filter((__, at) => at % REQUESTS_MAX === hand),
    );
    for (const hand of hands) void this.run(hand);
  }

  private async run(calls: readonly Waiting[]): Promise<void> {
    const request = new AbortController();
    const stopIfUnwanted = () => {
      if (calls.every(({ signal }) => signal?.aborted)) request.abort();
    };
    for (const { signal } of calls) signal?.addEventListener("abort", stopIfUnwanted);
    try {
      const envelopes = await this.send(calls, request.signal);
      for (const [at, call] of calls.entries()) call.resolve(envelopes[at] ?? {});
    } catch (error) {
      for (const call of calls) call.reject(error);
    }
  }
}
