import type { Writes } from "./methods";
import { answered, unanswered } from "./reach";
import type { MethodName } from "./schema";
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

interface Envelope<T> {
  result?: T;
  error?: { code: number; message: string; data: string };
}

/** A method of the server, or one that it will have: callers must expect that the latter fail. */
export type Method = MethodName | "proxy.get";

const API_PATH = "/api_jsonrpc.php";
/** These refuse to be called with a token. */
const ANONYMOUS = new Set(["user.login", "user.checkAuthentication", "apiinfo.version"]);

let lastId = 0;

async function send(
  method: string,
  params: unknown,
  signal?: AbortSignal,
  token = sessionToken(),
): Promise<Response> {
  const headers: Record<string, string> = { "Content-Type": "application/json-rpc" };
  if (token && !ANONYMOUS.has(method)) headers.Authorization = `Bearer ${token}`;
  const body = JSON.stringify({ jsonrpc: "2.0", method, params, id: ++lastId });
  try {
    const answer = await fetch(API_PATH, { method: "POST", headers, body, signal });
    // Gateways in front of a server that is down.
    if (answer.status >= 502 && answer.status <= 504) unanswered();
    else answered();
    return answer;
  } catch (error) {
    if (signal?.aborted) throw error;
    unanswered();
    throw new ApiError(0, "The server does not respond.", method);
  }
}

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

/** Calls one method of the API. Throws an `ApiError`; ends the session when the server says it is over. */
export function rpc<M extends keyof Writes>(
  method: M,
  params: Writes[M]["params"],
): Promise<Writes[M]["result"]>;
export function rpc<T>(
  method: Exclude<Method, keyof Writes>,
  params: unknown,
  signal?: AbortSignal,
): Promise<T>;
export async function rpc(method: Method, params: unknown, signal?: AbortSignal): Promise<unknown> {
  const answer = await send(method, params, signal);
  let envelope: Envelope<unknown>;
  try {
    envelope = (await answer.json()) as Envelope<unknown>;
  } catch (error) {
    if (signal?.aborted) throw error;
    throw httpError(answer, method);
  }
  if (envelope.error) {
    const { code, message, data } = envelope.error;
    const error = new ApiError(code, data || message, method);
    if (error.signedOut && !ANONYMOUS.has(method)) endSession("expired");
    throw error;
  }
  if (envelope.result === undefined) throw httpError(answer, method);
  return envelope.result;
}

/** Ends a session that this page does not use. */
export async function endOther(token: string): Promise<void> {
  await send("user.logout", [], undefined, token).catch(() => undefined);
}

/** `countOutput` answers with a string. */
export async function rpcCount(
  method: Exclude<Method, keyof Writes>,
  params: object,
  signal?: AbortSignal,
): Promise<number> {
  return Number(await rpc<string>(method, { ...params, countOutput: true }, signal));
}
