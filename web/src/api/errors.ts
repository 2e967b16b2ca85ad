import { ApiError } from "./client";

/** An error in two sentences: what happened, and what the reader can do. */
export interface Explained {
  what: string;
  todo: string;
}

const ADVICE: [RegExp, string][] = [
  [/already exists/i, "Choose another name, or edit the existing one."],
  [
    /No permissions to referred object/i,
    "It was deleted, or you do not have permission to view it. Ask an administrator.",
  ],
  [/No permissions to call/i, "Your role does not allow this. Ask an administrator."],
  [/cannot be deleted, because it is used by/i, "Remove it there first."],
  [/cannot be empty/i, "Fill in the field and save again."],
  [
    /unexpected parameter|invalid parameter/i,
    "Correct the field named in the message and save again.",
  ],
];

/** Turns whatever was thrown into words. */
export function explain(error: unknown): Explained {
  if (!(error instanceof ApiError)) {
    const what = error instanceof Error ? error.message : String(error);
    return { what, todo: "Reload the page. If it happens again, report it." };
  }
  if (error.code === 0) {
    return {
      what: error.data,
      todo: "Check that the server is running and that you can reach it. This page retries automatically.",
    };
  }
  if (error.signedOut) return { what: "Your session has ended.", todo: "Sign in again." };
  // Unknown methods are told both ways.
  if (error.code === -32601 || /^Incorrect (method|API) "/.test(error.data)) {
    return {
      what: `The server does not support ${error.method}.`,
      todo: "The server and the UI may have different versions. Upgrade the older one.",
    };
  }
  const advice = ADVICE.find(([pattern]) => pattern.test(error.data));
  return { what: error.data, todo: advice?.[1] ?? "Try again. See the server log for details." };
}

/** What the server refuses of an object: the member, its path below that, and why. */
export interface Refusal {
  /** Such as "port"; empty: the object as a whole. */
  member: string;
  text: string;
}

/** The member of a written object that an error names; null for errors of other kinds. */
export function refusalOf(error: unknown): Refusal | null {
  if (!(error instanceof ApiError)) return null;
  const found = /^Invalid parameter "\/(?:\d+\/?)?([a-z_0-9]*)((?:\/[^"/]+)*)": (.*)$/s.exec(
    error.data,
  );
  if (!found) return null;
  const [, member = "", below = "", why = ""] = found;
  const text = why.charAt(0).toUpperCase() + why.slice(1);
  // Reasons of engines begin with the member in quotes instead.
  const named = member || (/^'([a-z_]+)(?:\.[a-z_]+)?'[: ]/.exec(why)?.[1] ?? "");
  return { member: named, text: below ? `${below.slice(1)}: ${why}` : text };
}
