import { isSame, type Json, put, textOf } from "./json";
import { problems as wrong } from "./texts";
import { isToken, milliseconds, number, within } from "./values";

/** A limit of requests as the form holds it. An empty text is the default of the engine. */
export interface RateDraft {
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  on: boolean;
  /** Whose requests are counted together: `client_ip` or `header`. */
  by: string;
  /** The header. */
  name: string;
  requests: string;
  per: string;
  status: string;
  /** Its JSON if the form cannot show it without loss. */
  json: string | null;
}

/** The limit in the form of the API; `{}`: none. */
export function rateJson(draft: RateDraft): Json {
  if (draft.json !== null) return draft.json.trim() ? JSON.parse(draft.json) : {};
  if (!draft.on) return {};
  return put(draft.original, {
    by: draft.by,
    name: draft.by === "header" ? draft.name.trim() : undefined,
    requests: number(draft.requests),
    per: draft.per.trim(),
    status: number(draft.status),
  });
}

export function rateDraft(original: Json): RateDraft {
  const draft: RateDraft = {
    original,
    on: Object.keys(original).length > 0,
    by: textOf(original.by) || "client_ip",
    name: textOf(original.name),
    requests: textOf(original.requests),
    per: textOf(original.per),
    status: textOf(original.status),
    json: null,
  };
  if (isSame(original, rateJson(draft))) return draft;
  return { ...draft, json: JSON.stringify(original, null, 2) };
}

const DAY_MS = 86_400_000;
/** The engine counts in microseconds, and a request takes many of them. */
const PER_MS_MAX = 10;

/** What is wrong, by field. */
export function rateProblems(draft: RateDraft): Record<string, string> {
  if (draft.json !== null || !draft.on) return {};
  const found: Record<string, string> = {};
  const { by, name, requests, per, status } = draft;
  const time = milliseconds(per);
  if (by === "header" && !isToken(name.trim())) found.name = wrong.headerName;
  if (!requests.trim() || !within(requests, 1, 2 ** 32 - 1)) found.requests = wrong.requests;
  if (time === null || time > DAY_MS) found.per = wrong.per;
  else if (Number(requests) > time * PER_MS_MAX) found.requests = wrong.tooFast;
  if (!within(status, 400, 599)) found.status = wrong.refusal;
  return found;
}
