import { endReason, session, subscribeSession } from "~/api/session-store";

// Drafts of a session that expired, until the same user signs in again in this tab. They are kept
// in memory, because a draft may contain passwords.
const kept = new Map<string, unknown>();

function keyOf(userid: string, name: string): string {
  return `${userid} ${name} ${location.pathname}${location.search}`;
}

/** The draft of this name that an expired session left on this page. */
export function keptDraft<D>(name = ""): D | undefined {
  const userid = session()?.userid;
  return userid ? (kept.get(keyOf(userid, name)) as D | undefined) : undefined;
}

/** Returns the kept draft and deletes it. */
export function takeDraft<D>(name = ""): D | undefined {
  const draft = keptDraft<D>(name);
  const userid = session()?.userid;
  if (userid) kept.delete(keyOf(userid, name));
  return draft;
}

/** Keeps the draft if the session expires; returns a function that stops that. */
export function keepDraft<D>(unsaved: () => D | undefined, name = ""): () => void {
  const userid = session()?.userid;
  return subscribeSession(() => {
    if (session() || !userid || endReason() !== "expired") return;
    const draft = unsaved();
    if (draft !== undefined) kept.set(keyOf(userid, name), draft);
  });
}
