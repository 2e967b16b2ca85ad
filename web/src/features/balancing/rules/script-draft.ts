import { isObject, isSame, type Json, put, textOf } from "../requests/json";
import { target, targetOf } from "../targets";
import { problems as words } from "./texts";

/** The script of a rule as the form holds it. An empty text is the default of the engine. */
export interface ScriptDraft {
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  request: string;
  response: string;
  /** What it may choose, as words of `target`. */
  pools: readonly string[];
  timeout: string;
  on_error: string;
}

function poolJson(word: string): Json {
  const { poolid, poolgroupid } = targetOf(word);
  return poolgroupid === "0" ? { poolid } : { poolgroupid };
}

function poolWord(pool: unknown): string {
  const given = isObject(pool) ? pool : {};
  return target({ poolid: textOf(given.poolid), poolgroupid: textOf(given.poolgroupid) || "0" });
}

/** The script in the form of the API. */
export function scriptJson(draft: ScriptDraft): Json {
  return put(draft.original, {
    request: draft.request || undefined,
    response: draft.response || undefined,
    pools: draft.pools.length ? draft.pools.map(poolJson) : undefined,
    timeout: draft.timeout.trim() || undefined,
    on_error: draft.on_error || undefined,
  });
}

export function scriptDraft(original: Json): ScriptDraft {
  return {
    original,
    request: textOf(original.request),
    response: textOf(original.response),
    pools: Array.isArray(original.pools) ? original.pools.map(poolWord) : [],
    timeout: textOf(original.timeout),
    on_error: textOf(original.on_error),
  };
}

/** Whether the form shows all of a script. */
export const isWholeScript = (original: Json) =>
  isSame(original, scriptJson(scriptDraft(original)));

const SOURCE_MAX = 32768;
const bytes = (text: string) => new TextEncoder().encode(text).length;

/** What is wrong, by field. */
export function scriptProblems(draft: ScriptDraft): Record<string, string> {
  const found: Record<string, string> = {};
  if (!draft.request.trim() && !draft.response.trim()) found.request = words.script;
  if (bytes(draft.request) > SOURCE_MAX) found.request = words.longScript;
  if (bytes(draft.response) > SOURCE_MAX) found.response = words.longScript;
  if (draft.pools.includes("")) found.pools = words.pool;
  else if (draft.pools.length && !draft.request.trim()) found.request = words.scriptOfPools;
  const ms = /^(\d{1,2})ms$/.exec(draft.timeout.trim())?.[1];
  const isTime = ms !== undefined && Number(ms) >= 1 && Number(ms) <= 50;
  if (draft.timeout.trim() && !isTime) found.timeout = words.scriptTime;
  return found;
}
