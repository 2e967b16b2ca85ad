/** A user or a user group with whom an object is shared; "2": read, "3": read and write. */
export interface Share {
  id: string;
  permission: "2" | "3";
}

/** Who sees an object besides its owner and super admins. */
export interface SharedDraft {
  /** False: all users see it. */
  isPrivate: boolean;
  users: readonly Share[];
  userGroups: readonly Share[];
}

/** The sharing of an object as the API has it. */
export interface Shared {
  private: "0" | "1";
  users: readonly { userid: string; permission: "2" | "3" }[];
  userGroups: readonly { usrgrpid: string; permission: "2" | "3" }[];
}

const PRIVATE: string = "1";

/** The sharing of an object while it is edited; new objects are private. */
export function sharedDraft(object: Shared | null): SharedDraft {
  return {
    isPrivate: (object?.private ?? PRIVATE) === PRIVATE,
    users: object?.users.map(({ userid, permission }) => ({ id: userid, permission })) ?? [],
    userGroups:
      object?.userGroups.map(({ usrgrpid, permission }) => ({ id: usrgrpid, permission })) ?? [],
  };
}

/**
 * The sharing as `create` and `update` take it. Unchanged lists of an existing object are left out: the
 * server refuses users and user groups that the user cannot see.
 */
export function sharedParams(draft: SharedDraft, object: Shared | null) {
  const before = sharedDraft(object);
  const isNew = (name: "users" | "userGroups") =>
    object === null || JSON.stringify(draft[name]) !== JSON.stringify(before[name]);
  const users = draft.users.map(({ id, permission }) => ({ userid: id, permission }));
  const userGroups = draft.userGroups.map(({ id, permission }) => ({ usrgrpid: id, permission }));
  return {
    private: draft.isPrivate ? ("1" as const) : ("0" as const),
    ...(isNew("users") && { users }),
    ...(isNew("userGroups") && { userGroups }),
  };
}
