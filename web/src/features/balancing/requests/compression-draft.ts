import { isSame, type Json, listOf, put, textOf, words } from "./json";
import { problems as wrong } from "./texts";
import { number, within } from "./values";

export const CODINGS = [
  ["zstd", "Zstandard"],
  ["br", "Brotli"],
  ["gzip", "gzip"],
] as const;

/** Compression as the form holds it. An empty text is the default of the engine. */
export interface CompressionDraft {
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  on: boolean;
  /** In order of preference. */
  algorithms: string[];
  level: string;
  min_length: string;
  streams: string;
  /** Media types, separated by spaces or lines. */
  types: string;
  /** Its JSON if the form cannot show it without loss. */
  json: string | null;
}

/** Compression in the form of the API; `{}` if it is off. */
export function compressionJson(draft: CompressionDraft): Json {
  if (draft.json !== null) return draft.json.trim() ? JSON.parse(draft.json) : {};
  if (!draft.on) return {};
  const types = words(draft.types);
  return put(draft.original, {
    algorithms: draft.algorithms,
    level: number(draft.level),
    min_length: number(draft.min_length),
    streams: number(draft.streams),
    types: types.length ? types : undefined,
  });
}

export function compressionDraft(original: Json): CompressionDraft {
  const draft: CompressionDraft = {
    original,
    on: Object.keys(original).length > 0,
    algorithms: listOf(original.algorithms).map(textOf),
    level: textOf(original.level),
    min_length: textOf(original.min_length),
    streams: textOf(original.streams),
    types: listOf(original.types).map(textOf).join("\n"),
    json: null,
  };
  if (isSame(original, compressionJson(draft))) return draft;
  return { ...draft, json: JSON.stringify(original, null, 2) };
}

/** What is wrong, by field. */
export function compressionProblems(draft: CompressionDraft): Record<string, string> {
  if (draft.json !== null || !draft.on) return {};
  const found: Record<string, string> = {};
  if (!draft.algorithms.length) found.algorithms = wrong.noCoding;
  if (!within(draft.level, 1, 9)) found.level = wrong.level;
  for (const field of ["min_length", "streams"] as const) {
    if (!within(draft[field], 0)) found[field] = wrong.wholeNumber;
  }
  const odd = words(draft.types).find((type) => !/^[^/\s]+\/[^/\s]+$/.test(type));
  if (odd) found.types = wrong.mediaType(odd);
  return found;
}
