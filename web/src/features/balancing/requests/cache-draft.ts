import { isSame, type Json, listOf, put, textOf, words } from "./json";
import { problems as wrong } from "./texts";
import { isToken, milliseconds, number, within } from "./values";

/** A cache as the form holds it. An empty text is the default of the engine. */
export interface CacheDraft {
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  on: boolean;
  size: string;
  max_object: string;
  max_objects: string;
  /** Names of headers, separated by spaces or lines. */
  key_headers: string;
  stale_if_error: string;
  stale_while_revalidate: string;
  collapse: string;
  status_header: boolean;
  /** Its JSON if the form cannot show it without loss. */
  json: string | null;
}

/** The size of a new cache. */
const SIZE = "64M";

/** The cache in the form of the API; `{}` if it is off. */
export function cacheJson(draft: CacheDraft): Json {
  if (draft.json !== null) return draft.json.trim() ? JSON.parse(draft.json) : {};
  if (!draft.on) return {};
  const headers = words(draft.key_headers);
  return put(draft.original, {
    size: draft.size.trim() || SIZE,
    max_object: draft.max_object.trim() || undefined,
    max_objects: number(draft.max_objects),
    key_headers: headers.length ? headers : undefined,
    stale_if_error: draft.stale_if_error.trim() || undefined,
    stale_while_revalidate: draft.stale_while_revalidate.trim() || undefined,
    collapse: draft.collapse.trim() || undefined,
    status_header: draft.status_header || undefined,
  });
}

export function cacheDraft(original: Json): CacheDraft {
  const draft: CacheDraft = {
    original,
    on: Object.keys(original).length > 0,
    size: textOf(original.size) || SIZE,
    max_object: textOf(original.max_object),
    max_objects: textOf(original.max_objects),
    key_headers: listOf(original.key_headers).map(textOf).join("\n"),
    stale_if_error: textOf(original.stale_if_error),
    stale_while_revalidate: textOf(original.stale_while_revalidate),
    collapse: textOf(original.collapse),
    status_header: original.status_header === true,
    json: null,
  };
  if (isSame(original, cacheJson(draft))) return draft;
  return { ...draft, json: JSON.stringify(original, null, 2) };
}

const isSize = (text: string) => /^\d+[KMGT]$/.test(text.trim());

/** What is wrong, by field. */
export function cacheProblems(draft: CacheDraft): Record<string, string> {
  if (draft.json !== null || !draft.on) return {};
  const found: Record<string, string> = {};
  if (!isSize(draft.size)) found.size = wrong.size;
  if (draft.max_object.trim() && !isSize(draft.max_object)) found.max_object = wrong.size;
  if (!within(draft.max_objects, 1, 10_000_000)) found.max_objects = wrong.maxObjects;
  if (!words(draft.key_headers).every(isToken)) found.key_headers = wrong.headerName;
  for (const member of ["stale_if_error", "stale_while_revalidate", "collapse"] as const) {
    const time = draft[member];
    if (time.trim() && milliseconds(time) === null) found[member] = wrong.time;
  }
  return found;
}
