import { isSame, type Json, put, textOf } from "./json";
import { problems as wrong } from "./texts";
import { isToken } from "./values";

/** What servers learn about clients, as the form holds it. */
export interface ForwardedDraft {
  /** As it is stored: members that the form does not know stay. */
  original: Json;
  /** `append`, `replace` or `remove`. */
  x_forwarded_for: string;
  x_forwarded_proto: boolean;
  x_forwarded_port: boolean;
  /** Whether the engine writes `Forwarded` (RFC 7239). */
  forwarded: boolean;
  /** Name in `Via`; empty: none. */
  via: string;
  client_cert: boolean;
  /** Its JSON if the form cannot show it without loss. */
  json: string | null;
}

/** The settings in the form of the API: defaults are left out unless they are stored. */
export function forwardedJson(draft: ForwardedDraft): Json {
  if (draft.json !== null) return draft.json.trim() ? JSON.parse(draft.json) : {};
  const { original } = draft;
  const kept = <T>(member: string, value: T, byDefault: T) =>
    value === byDefault && !(member in original) ? undefined : value;
  return put(original, {
    x_forwarded_for: kept("x_forwarded_for", draft.x_forwarded_for, "append"),
    x_forwarded_proto: kept("x_forwarded_proto", draft.x_forwarded_proto, true),
    x_forwarded_port: kept("x_forwarded_port", draft.x_forwarded_port, false),
    forwarded: draft.forwarded ? "replace" : undefined,
    via: draft.via.trim() || undefined,
    client_cert: kept("client_cert", draft.client_cert, false),
  });
}

export function forwardedDraft(original: Json): ForwardedDraft {
  const draft: ForwardedDraft = {
    original,
    x_forwarded_for: textOf(original.x_forwarded_for) || "append",
    x_forwarded_proto: original.x_forwarded_proto !== false,
    x_forwarded_port: original.x_forwarded_port === true,
    forwarded: original.forwarded === "replace",
    via: textOf(original.via),
    client_cert: original.client_cert === true,
    json: null,
  };
  if (isSame(original, forwardedJson(draft))) return draft;
  return { ...draft, json: JSON.stringify(original, null, 2) };
}

/** What is wrong, by field. */
export function forwardedProblems(draft: ForwardedDraft): Record<string, string> {
  if (draft.json !== null || !draft.via.trim() || isToken(draft.via.trim())) return {};
  return { via: wrong.via };
}
