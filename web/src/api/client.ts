import { type Envelope, Gatherer } from "./gather";
import type { GetMethod, GetParams, RowOf } from "./gets";
import type { FixedMethod, Method, Methods } from "./methods";
import { answered, unanswered } from "./reach";
import { heardDate } from "./server-clock";
import { endSession, sessionToken } from "./session-store";

/** An error that the API, or the way to it, reported. `data` is the sentence meant for people. */
export class ApiError extends Error {
  constructor(
    /** The JSON-RPC code; 0 when no answer arrived, an HTTP status when it was not JSON-RPC. */
    readonly code: number,
    readonly data: string,
    readonly method: string,
  ) {
    super(data);
    this.name = "ApiError";
  }

  /** The session is over: only signing in again helps. */
  get signedOut(): boolean {
    return /re-login|Not authori[sz]ed/i.test(this.data);
  }
}

const NO_RESULT = "The server did not respond to this call of a batch.";
const API_PATH = "/api_jsonrpc.php";
/** These refuse to be called with a token. */
const ANONYMOUS = new Set([
  "user.login",
  "user.confirmation",
  "user.confirm",
  "user.checkAuthentication",
  "apiinfo.version",
]);

let lastId = 0;

const requestOf = (method: string, params: unknown) => ({
  jsonrpc: "2.0",
  method,
  params,
  id: ++lastId,
});

/** Sends a call, or a batch of calls. */
async function post(
  method: string,
  request: object,
  signal?: AbortSignal,
  token = sessionToken(),
): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": "application/json-rpc" };
  if (token && !ANONYMOUS.has(method)) headers.Authorization = `Bearer ${token}`;
  const body = JSON.stringify(request);
  try {
    const answer = await fetch(API_PATH, { method: "POST", headers, body, signal });
    // Gateways in front of a server that is down.
    if (answer.status >= 502 && answer.status <= 504) unanswered();
    else answered();
    heardDate(answer);
    return answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    unanswered();
    throw new ApiError(0, "The server does not respond.", method);
  }
}

const send = (method: string, params: unknown, signal?: AbortSignal, token?: string) =>
  post(method, requestOf(method, params), signal, token);

/** Keeps asking until the server answers again. */
export function probe(): Promise<unknown> {
  return rpc("apiinfo.version", []).catch(() => undefined);
}

function httpError(answer: Response, method: string): ApiError {
  if (answer.status === 429) {
    const wait = Number(answer.headers.get("Retry-After"));
    const when = wait > 0 ? `in ${wait} seconds` : "later";
    return new ApiError(429, `Too many attempts. Try again ${when}.`, method);
  }
  return new ApiError(
    answer.status,
    `The server responded with HTTP status ${answer.status}.`,
    method,
  );
}

type KeysOf<T> = T extends unknown ? keyof T : never;
/** Refuses members that the method does not take: a generic parameter would let them pass. */
type Known<P, Params> = P & { [K in Exclude<keyof P, KeysOf<Params>>]: never };

/**
 * Calls one method of the API. Throws an `ApiError`; ends the session when the server says it is over.
 * The rows of a `get` have the members that `output` and `select…` name.
 */
export function rpc<M extends FixedMethod>(
  method: M,
  params: Methods[M]["params"],
  signal?: AbortSignal,
): Promise<Methods[M]["result"]>;
export function rpc<M extends GetMethod, const P extends GetParams<M>>(
  method: M,
  params: Known<P, GetParams<M>>,
  signal?: AbortSignal,
): Promise<RowOf<M, P>[]>;
export function rpc(method: Method, params: unknown, signal?: AbortSignal): Promise<unknown> {
  return call(method, params, signal);
}

/** Reads the JSON of a response. */
async function bodyOf<T>(answer: Response, method: string, signal?: AbortSignal): Promise<T> {
  try {
    return (await answer.json()) as T;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw httpError(answer, method);
  }
}

const gatherer = new Gatherer(async (calls, signal) => {
  const method = calls[0]?.method ?? "";
  const requests = calls.map((one) => requestOf(one.method, one.params));
  const answer = await post(method, requests, signal);
  const envelopes = await bodyOf<Envelope[] | Envelope>(answer, method, signal);
  // A batch that is refused as a whole has one envelope.
  if (!Array.isArray(envelopes)) return requests.map(() => envelopes);
  const byId = new Map(envelopes.map((envelope) => [envelope.id, envelope]));
  return requests.map(({ id }) => byId.get(id) ?? {});
});

/** From now on, reads of the same moment share requests, until the returned function is called. */
export const gatherReads = () => gatherer.begin();

async function envelopeOf(
  method: Method,
  params: unknown,
  signal?: AbortSignal,
): Promise<[Envelope, Response?]> {
  if (gatherer.takes(method)) return [await gatherer.call(method, params, signal)];
  const answer = await send(method, params, signal);
  return [await bodyOf<Envelope>(answer, method, signal), answer];
}

async function call(method: Method, params: unknown, signal?: AbortSignal): Promise<unknown> {
  const [envelope, answer] = await envelopeOf(method, params, signal);
  if (envelope.error) {
    const { code, message, data } = envelope.error;
    const error = new ApiError(code, data || message, method);
    if (error.signedOut && !ANONYMOUS.has(method)) endSession("expired");
    throw error;
  }
  if (envelope.result === undefined) {
    throw answer ? httpError(answer, method) : new ApiError(0, NO_RESULT, method);
  }
  return envelope.result;
}

/** Ends a session that this page does not use. */
export async function endOther(token: string): Promise<void> {
  await send("user.logout", [], undefined, token).catch(() => undefined);
}

/** Number of events in a step of time, by severity. */
export interface EventGroup {
  /** Start of the step. */
  clock: string;
  severity: string;
  rowscount: string;
}

/** How many events `event.get` would return, by steps of so many seconds from `time_from` and severity. */
export function rpcEventGroups(
  params: GetParams<"event.get"> & { time_from: number; time_till: number },
  step: number,
  signal?: AbortSignal,
): Promise<EventGroup[]> {
  const groups = { ...params, groupBy: ["clock", "severity"], step };
  return call("event.get", groups, signal) as Promise<EventGroup[]>;
}

/** How many rows a `get` would return; `countOutput` answers with a text. */
export async function rpcCount<M extends GetMethod>(
  method: M,
  params: GetParams<M>,
  signal?: AbortSignal,
): Promise<number> {
  return Number(await call(method, { ...params, countOutput: true }, signal));
}
