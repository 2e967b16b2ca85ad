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

/** What is wrong with the passwords; the server checks them by its rules. */
export function passwordProblem(
  draft: Pick<UserDraft, "password" | "again" | "current">,
  isNew: boolean,
  own: boolean,
  /** Minimum length, where the user may read it. */
  least = 1,
): string | undefined {
  if (isNew && !draft.password) return "Enter a password.";
  if (!draft.password && !draft.again) return undefined;
  if ([...draft.password].length < least)
    return `The password must have at least ${least} characters.`;
  if (draft.password !== draft.again) return "The passwords do not match.";
  if (own && !draft.current) return "Enter your current password too.";
  return undefined;
}

/** The draft as the create and update methods take it, with what this editor may change. */
export function userParams(
  draft: UserDraft,
  who: { admin: boolean; own: boolean; provisioned?: boolean; mediaChanged?: boolean },
): Members<"user"> {
  // What the directory of a provisioned user decides on is not sent.
  const decides = who.admin && !who.provisioned;
  return {
    username: decides ? draft.username.trim() : undefined,
    name: who.provisioned ? undefined : draft.name.trim(),
    surname: who.provisioned ? undefined : draft.surname.trim(),
    roleid: decides && !who.own ? draft.roleid : undefined,
    usrgrps: decides ? draft.groupids.map((usrgrpid) => ({ usrgrpid })) : undefined,
    autologin: draft.autologin ? "1" : "0",
    autologout: draft.autologin ? "0" : draft.autologout.trim() || "0",
    // A role can deny a user changes of media, but not of the rest.
    medias: who.mediaChanged ? mediaParams(draft.medias) : undefined,
    passwd: draft.password || undefined,
    current_passwd: who.own && draft.password ? draft.current : undefined,
  };
}
