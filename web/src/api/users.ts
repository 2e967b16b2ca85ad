import { queryOptions } from "@tanstack/react-query";
import { endOther, rpc } from "./client";
import type { Members } from "./methods";
import { beginSession, endSession, type Session, session, setDenied } from "./session-store";

export interface LoginAnswer {
  sessionid: string;
  userid: string;
  username: string;
  name: string;
  surname: string;
  type: number;
  /** "3": no access to user interfaces. */
  gui_access?: string;
  /** MFA method whose code the session waits for; 0: none. */
  mfaid?: string | number;
}

/** What a session of `user.login` waits for. */
export interface Confirmation {
  name: string;
  code_length: string;
  /** Only while the user has no authenticator: its secret, also as a QR code with a text per row. */
  totp_secret?: string;
  uri?: string;
  qr_code?: string[];
}

/** The account is valid, but its user group has no access to user interfaces. */
export class NoInterfaceAccess extends Error {
  constructor() {
    super("This account has no access to the user interface.");
    this.name = "NoInterfaceAccess";
  }
}

/** Where a user gets messages. `sendto` of e-mail is a list; `active` "1" = off; `severity` has a bit for each. */
export interface Media {
  mediaid: string;
  mediatypeid: string;
  sendto: string | string[];
  active: string;
  severity: string;
  period: string;
  /** "1": the user's directory gave it. */
  provisioned: string;
}

export interface User {
  userid: string;
  username: string;
  name: string;
  surname: string;
  roleid: string;
  autologin: string;
  autologout: string;
  attempt_failed: string;
  /** "1": its directory decides on name, role and groups. */
  provisioned: string;
  role: { name: string; type: string } | [];
  usrgrps: { usrgrpid: string; name: string }[];
  medias: Media[];
}

/** `permission`: 0 deny, 2 read, 3 read and write. */
export interface Right {
  id: string;
  permission: string;
}

/** `gui_access`: 0 default, 1 internal, 2 LDAP, 3 none. `users_status` 1: its users are switched off. */
export interface UserGroup {
  usrgrpid: string;
  name: string;
  gui_access: string;
  users_status: string;
  userdirectoryid: string;
  mfa_status: string;
  /** "0": the default method. */
  mfaid: string;
  users: { userid: string; username: string }[];
  hostgroup_rights: Right[];
  templategroup_rights: Right[];
}

export interface RoleElement {
  name: string;
  status: string;
}

/** `type`: 1 user, 2 admin, 3 super admin. */
export interface Role {
  roleid: string;
  name: string;
  type: string;
  readonly: string;
  rules: {
    ui: RoleElement[];
    "ui.default_access": string;
    actions: RoleElement[];
    "actions.default_access": string;
    "api.access": string;
    /** 0: the methods in `api` are refused; 1: only they are allowed. */
    "api.mode": string;
    api: string[];
  };
  users: { userid: string }[];
}

/** An API token; its secret is shown once, when it is generated. `expires_at` 0 = never. */
export interface Token {
  tokenid: string;
  name: string;
  description: string;
  userid: string;
  lastaccess: string;
  status: string;
  expires_at: string;
  created_at: string;
}

/**
 * Checks name and password, and keeps the session. With multi-factor authentication it needs a code first:
 * then the answer is returned, for `confirmSignIn`.
 */
export async function signIn(
  username: string,
  password: string,
  remember: boolean,
): Promise<LoginAnswer | null> {
  const user = await rpc("user.login", { username, password, userData: true });
  if (user.gui_access === "3") {
    await endOther(user.sessionid);
    throw new NoInterfaceAccess();
  }
  if (Number(user.mfaid ?? 0) !== 0) return user;
  await begin(user, remember);
  return null;
}

/** What the session of the answer waits for. */
export function confirmation(user: LoginAnswer): Promise<Confirmation> {
  return rpc("user.confirmation", { sessionid: user.sessionid });
}

/** Confirms the session of the answer with a code, and keeps it. */
export async function confirmSignIn(
  user: LoginAnswer,
  code: string,
  remember: boolean,
): Promise<void> {
  await rpc("user.confirm", { sessionid: user.sessionid, code });
  await begin(user, remember);
}

async function begin(user: LoginAnswer, remember: boolean): Promise<void> {
  const begun: Session = {
    token: user.sessionid,
    userid: user.userid,
    username: user.username,
    displayName: [user.name, user.surname].filter(Boolean).join(" ") || user.username,
    type: Number(user.type),
  };
  beginSession(begun, remember);
  await refreshRights();
}

/**
 * Reads what the role of the signed-in user denies. Without an answer everything that the user's
 * type has is shown: the server refuses what the role denies.
 */
export async function refreshRights(): Promise<void> {
  const userid = session()?.userid;
  if (!userid) return;
  try {
    const users = await rpc("user.get", {
      output: ["roleid"],
      userids: [userid],
    });
    const roleids = users.map((user) => user.roleid);
    const [role] = await rpc("role.get", { roleids, selectRules: ["ui", "actions"] });
    if (role && session()?.userid === userid) setDenied(deniedBy(role.rules));
  } catch {
    // See above.
  }
}

/** `status` of an element or action of a role that its users cannot use. */
export const DENIED = "0";

/** The names of the elements and actions that these rules deny. */
export function deniedBy(rules: Pick<Role["rules"], "ui" | "actions">): string[] {
  return [...rules.ui, ...rules.actions]
    .filter((element) => element.status === DENIED)
    .map((element) => element.name);
}

/** Ends the session here and on the server; also if the server is unavailable. */
export async function signOut(): Promise<void> {
  const farewell = rpc("user.logout", []).catch(() => undefined);
  await farewell;
  endSession("signed-out");
}

export const usersQuery = () =>
  queryOptions({
    queryKey: ["users"],
    queryFn: ({ signal }) =>
      rpc(
        "user.get",
        {
          output: [
            "userid",
            "username",
            "name",
            "surname",
            "roleid",
            "autologin",
            "autologout",
            "attempt_failed",
            "provisioned",
          ],
          selectRole: ["name", "type"],
          selectUsrgrps: ["usrgrpid", "name"],
          selectMedias: [
            "mediaid",
            "mediatypeid",
            "sendto",
            "active",
            "severity",
            "period",
            "provisioned",
          ],
          sortfield: "username",
        },
        signal,
      ),
    meta: { live: "config" },
  });

/** Users by name, for choices and texts. */
export const userNamesQuery = () =>
  queryOptions({
    queryKey: ["users", "names"],
    queryFn: ({ signal }) =>
      rpc(
        "user.get",
        { output: ["userid", "username", "name", "surname"], sortfield: "username" },
        signal,
      ),
    meta: { live: "config" },
  });

/** User groups by name, for choices and texts. */
export const userGroupNamesQuery = () =>
  queryOptions({
    queryKey: ["usergroups", "names"],
    queryFn: ({ signal }) =>
      rpc("usergroup.get", { output: ["usrgrpid", "name"], sortfield: "name" }, signal),
    meta: { live: "config" },
  });

/** First and last name with the user name: "Ann Berg (ann)". */
export function fullName(user: { username: string; name: string; surname: string }): string {
  const words = [user.name, user.surname].filter(Boolean).join(" ");
  return words ? `${words} (${user.username})` : user.username;
}

export const userGroupsQuery = () =>
  queryOptions({
    queryKey: ["usergroups"],
    queryFn: ({ signal }) =>
      rpc(
        "usergroup.get",
        {
          output: [
            "usrgrpid",
            "name",
            "gui_access",
            "users_status",
            "userdirectoryid",
            "mfa_status",
            "mfaid",
          ],
          selectUsers: ["userid", "username"],
          selectHostGroupRights: ["id", "permission"],
          selectTemplateGroupRights: ["id", "permission"],
          sortfield: "name",
        },
        signal,
      ),
    meta: { live: "config" },
  });

export const rolesQuery = () =>
  queryOptions({
    queryKey: ["roles"],
    queryFn: ({ signal }) =>
      rpc(
        "role.get",
        {
          output: ["roleid", "name", "type", "readonly"],
          selectRules: "extend",
          selectUsers: ["userid"],
          sortfield: "name",
        },
        signal,
      ),
    meta: { live: "config" },
  });

export const tokensQuery = () =>
  queryOptions({
    queryKey: ["tokens"],
    queryFn: ({ signal }) => rpc("token.get", { output: "extend", sortfield: "name" }, signal),
    meta: { live: "config" },
  });

export function saveUser(userid: string | null, user: Members<"user">): Promise<unknown> {
  return userid ? rpc("user.update", { userid, ...user }) : rpc("user.create", user);
}

export function deleteUser(userid: string): Promise<unknown> {
  return rpc("user.delete", [userid]);
}

/** Lets somebody sign in again who failed too often. */
export function unblockUser(userid: string): Promise<unknown> {
  return rpc("user.unblock", [userid]);
}

export function saveUserGroup(
  usrgrpid: string | null,
  group: Members<"usergroup">,
): Promise<unknown> {
  return usrgrpid
    ? rpc("usergroup.update", { usrgrpid, ...group })
    : rpc("usergroup.create", group);
}

export function deleteUserGroup(usrgrpid: string): Promise<unknown> {
  return rpc("usergroup.delete", [usrgrpid]);
}

export function saveRole(roleid: string | null, role: Members<"role">): Promise<unknown> {
  return roleid ? rpc("role.update", { roleid, ...role }) : rpc("role.create", role);
}

export function deleteRole(roleid: string): Promise<unknown> {
  return rpc("role.delete", [roleid]);
}

/** A new secret for a token; the old one stops working. */
export async function generateToken(tokenid: string): Promise<string> {
  const answer = await rpc("token.generate", [tokenid]);
  return answer[0]?.token ?? "";
}

/** Creates a token and its secret; the answer is the secret. */
export async function createToken(
  name: string,
  userid: string,
  description: string,
  expiresAt: number,
): Promise<string> {
  const { tokenids } = await rpc("token.create", {
    name,
    userid,
    description,
    expires_at: expiresAt,
  });
  return generateToken(tokenids[0] ?? "");
}

export function setTokenStatus(tokenid: string, status: "0" | "1"): Promise<unknown> {
  return rpc("token.update", { tokenid, status });
}

export function deleteToken(tokenid: string): Promise<unknown> {
  return rpc("token.delete", [tokenid]);
}
