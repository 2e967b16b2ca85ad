import type { GetMethod, GetParams } from "../gets";
import type { FixedMethod, Method, Methods } from "../methods";
import { read, type Stored, type Tables } from "./tables";

/** How the mock answers methods that do not read tables. */
export type Answers = {
  [M in FixedMethod]?: (
    params: Methods[M]["params"],
  ) => Methods[M]["result"] | Promise<Methods[M]["result"]>;
} & { [M in GetMethod]?: (params: GetParams<M>) => readonly Stored<M>[] };

/** An error of the API, as in its envelope. */
interface Refusal {
  code: number;
  message: string;
  data: string;
}

const refusal = (code: number, message: string, data: string): Refusal => ({ code, message, data });

/** What the server says about something that the user's role denies. */
export const DENIED = refusal(
  -32500,
  "Application error.",
  "No permissions to referred object or it does not exist!",
);

/**
 * The API in memory, typed by the same `Methods` as the UI's calls: `get` reads tables, other methods
 * have functions. A test or the dev server gives its `fetch` to the page; the page does not know.
 */
export class MockApi {
  /** Calls so far, the newest last. */
  readonly calls: { method: string; params: unknown }[] = [];
  /** The server cannot be reached. */
  down = false;
  private readonly refused = new Map<Method, Refusal>();
  private waiting: Promise<void> | undefined;
  private release: () => void = () => undefined;

  constructor(
    readonly tables: Tables,
    readonly answers: Answers,
  ) {}

  /** Refuses a method from now on. */
  refuse(method: Method, error: Refusal): void {
    this.refused.set(method, error);
  }

  /** Answers a method again. */
  allow(method: Method): void {
    this.refused.delete(method);
  }

  /** Answers nothing until `goOn`. */
  hold(): void {
    this.waiting = new Promise((resolve) => {
      this.release = resolve;
    });
  }

  goOn(): void {
    this.waiting = undefined;
    this.release();
  }

  /** Calls of one method. */
  callsOf(method: Method): unknown[] {
    return this.calls.filter((call) => call.method === method).map((call) => call.params);
  }

  /** The answer to one request of JSON-RPC, as an envelope. */
  async respond(request: { id: unknown; method: string; params: unknown }): Promise<object> {
    const { id, method, params } = request;
    this.calls.push({ method, params });
    await this.waiting;
    const envelope = { jsonrpc: "2.0", id };
    const error = this.refused.get(method as Method);
    if (error) return { ...envelope, error };
    // The types of a method and its parameters agree where they are called; here they are data.
    const answer = this.answers[method as Method] as ((params: unknown) => unknown) | undefined;
    if (answer) return { ...envelope, result: await answer(params) };
    const rows = this.tables[method as GetMethod];
    if (rows)
      return { ...envelope, result: read(rows, params as Readonly<Record<string, unknown>>) };
    const data = `The mock has no method "${method}".`;
    return { ...envelope, error: refusal(-32601, "Method not found.", data) };
  }

  /** For `fetch` of a page: the API, and nothing else. */
  readonly fetch = async (_input: unknown, init?: RequestInit): Promise<Response> => {
    if (this.down) throw new TypeError("Failed to fetch");
    const signal = init?.signal;
    const request = JSON.parse(String(init?.body));
    const answer = Array.isArray(request)
      ? await Promise.all(request.map((call) => this.respond(call)))
      : await this.respond(request);
    signal?.throwIfAborted();
    return Response.json(answer);
  };
}
