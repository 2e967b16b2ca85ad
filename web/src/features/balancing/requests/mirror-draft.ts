import { target, targetOf } from "../targets";
import { isSame, type Json, put, textOf } from "./json";
import { problems as wrong } from "./texts";
import { number, within } from "./values";

/** Copies of requests as the form holds them. An empty text is the default of the engine. */
export interface MirrorDraft {
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  /** The pool or pool group that gets the copies, as a word of `target`; "": no copies. */
  to: string;
  percent: string;
  max_body: string;
  concurrent: string;
  /** Its JSON if the form cannot show it without loss. */
  json: string | null;
}

const BODY_MAX = 1 << 20;
const CONCURRENT_MAX = 1024;

/** The mirror in the form of the API; `{}`: none. */
export function mirrorJson(draft: MirrorDraft): Json {
  if (draft.json !== null) return draft.json.trim() ? JSON.parse(draft.json) : {};
  if (!draft.to) return {};
  const { poolid, poolgroupid } = targetOf(draft.to);
  return put(draft.original, {
    poolid: poolgroupid === "0" ? poolid : undefined,
    poolgroupid: poolgroupid === "0" ? undefined : poolgroupid,
    percent: number(draft.percent),
    max_body: number(draft.max_body),
    concurrent: number(draft.concurrent),
  });
}

export function mirrorDraft(original: Json): MirrorDraft {
  const draft: MirrorDraft = {
    original,
    to: target({
      poolid: textOf(original.poolid),
      poolgroupid: textOf(original.poolgroupid) || "0",
    }),
    percent: textOf(original.percent),
    max_body: textOf(original.max_body),
    concurrent: textOf(original.concurrent),
    json: null,
  };
  if (isSame(original, mirrorJson(draft))) return draft;
  return { ...draft, json: JSON.stringify(original, null, 2) };
}

/** Whether a box is empty or has a percentage with at most two decimals. */
const isPercentage = (text: string) =>
  !text.trim() || (/^\d{1,3}(\.\d{1,2})?$/.test(text.trim()) && Number(text) <= 100);

/** What is wrong, by field. */
export function mirrorProblems(draft: MirrorDraft): Record<string, string> {
  if (draft.json !== null || !draft.to) return {};
  const found: Record<string, string> = {};
  if (!isPercentage(draft.percent)) found.percent = wrong.percent;
  if (!within(draft.max_body, 0, BODY_MAX)) found.max_body = wrong.maxBody;
  if (!within(draft.concurrent, 1, CONCURRENT_MAX)) found.concurrent = wrong.concurrent;
  return found;
}
