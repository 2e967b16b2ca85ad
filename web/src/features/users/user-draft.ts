import type { Members } from "~/api/methods";
import { type MediaDraft, mediaParams } from "./media-draft";

/** A user as the dialog holds it. */
export interface UserDraft {
  username: string;
  name: string;
  surname: string;
  roleid: string;
  groupids: string[];
  autologout: string;
  autologin: boolean;
  password: string;
  again: string;
  /** The own password up to now, which changing it asks for. */
  current: string;
  medias: MediaDraft[];
}

const PASSWORD_MIN = 8;

/** What is wrong with the passwords; the server also refuses those that everybody guesses. */
export function passwordProblem(
  draft: Pick<UserDraft, "password" | "again" | "current">,
  isNew: boolean,
  own: boolean,
): string | undefined {
  if (isNew && !draft.password) return "Enter a password.";
  if (!draft.password && !draft.again) return undefined;
  if (draft.password.length < PASSWORD_MIN)
    return `The password must have at least ${PASSWORD_MIN} characters.`;
  if (draft.password !== draft.again) return "The passwords do not match.";
  if (own && !draft.current) return "Enter your current password too.";
  return undefined;
}

/** The draft as the create and update methods take it, with what this editor may change. */
export function userParams(
  draft: UserDraft,
  who: { admin: boolean; own: boolean; mediaChanged?: boolean },
): Members<"user"> {
  return {
    username: who.admin ? draft.username.trim() : undefined,
    name: draft.name.trim(),
    surname: draft.surname.trim(),
    roleid: who.admin && !who.own ? draft.roleid : undefined,
    usrgrps: who.admin ? draft.groupids.map((usrgrpid) => ({ usrgrpid })) : undefined,
    autologin: draft.autologin ? "1" : "0",
    autologout: draft.autologin ? "0" : draft.autologout.trim() || "0",
    // A role can deny a user changes of media, but not of the rest.
    medias: who.mediaChanged ? mediaParams(draft.medias) : undefined,
    passwd: draft.password || undefined,
    current_passwd: who.own && draft.password ? draft.current : undefined,
  };
}
