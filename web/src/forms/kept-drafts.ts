import { endReason, session, subscribeSession } from "~/api/session-store";

// Drafts of a session that expired, until the same user signs in again in this tab. They are kept
// in memory, because a draft may contain passwords.
const kept = new Map<string, unknown>();

function keyOf(userid: string): string {
  return `${userid} ${location.pathname}${location.search}`;
}

/** The draft that an expired session left on this page, once. */
export function takeDraft<D>(): D | undefined {
  const userid = session()?.userid;
  if (!userid) return undefined;
  const key = keyOf(userid);
  const draft = kept.get(key) as D | undefined;
  kept.delete(key);
  return draft;
}

/** Keeps the draft if the session expires; returns what stops that. */
export function keepDraft<D>(unsaved: () => D | undefined): () => void {
  const userid = session()?.userid;
  return subscribeSession(() => {
    if (session() || !userid || endReason() !== "expired") return;
    const draft = unsaved();
    if (draft !== undefined) kept.set(keyOf(userid), draft);
  });
}
