import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import { beginSession, endSession, type Session } from "./session-store";

interface LoginAnswer {
  sessionid: string;
  userid: string;
  username: string;
  name: string;
  surname: string;
  type: number;
}

export interface User {
  userid: string;
  username: string;
  name: string;
  surname: string;
  roleid: string;
  attempt_clock: string;
  attempt_ip: string;
  autologout: string;
  role: { name: string; type: string } | [];
  usrgrps: { usrgrpid: string; name: string }[];
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

/** Signs in and keeps the session. */
export async function signIn(
  username: string,
  password: string,
  remember: boolean,
): Promise<Session> {
  const user = await rpc<LoginAnswer>("user.login", { username, password, userData: true });
  const session: Session = {
    token: user.sessionid,
    userid: user.userid,
    username: user.username,
    displayName: [user.name, user.surname].filter(Boolean).join(" ") || user.username,
    type: Number(user.type),
  };
  beginSession(session, remember);
  return session;
}

/** Ends the session here and on the server; a server that is away does not keep anybody signed in. */
export async function signOut(): Promise<void> {
  const farewell = rpc("user.logout", []).catch(() => undefined);
  await farewell;
  endSession("signed-out");
}

export const usersQuery = () =>
  queryOptions({
    queryKey: ["users"],
    queryFn: ({ signal }) =>
      rpc<User[]>(
        "user.get",
        {
          output: [
            "userid",
            "username",
            "name",
            "surname",
            "roleid",
            "attempt_clock",
            "attempt_ip",
            "autologout",
          ],
          selectRole: ["name", "type"],
          selectUsrgrps: ["usrgrpid", "name"],
          sortfield: "username",
        },
        signal,
      ),
    meta: { live: "config" },
  });

export const tokensQuery = () =>
  queryOptions({
    queryKey: ["tokens"],
    queryFn: ({ signal }) =>
      rpc<Token[]>("token.get", { output: "extend", sortfield: "name" }, signal),
    meta: { live: "config" },
  });

/** Creates a token and its secret; the answer is the secret. */
export async function createToken(
  name: string,
  userid: string,
  expiresAt: number,
): Promise<string> {
  const { tokenids } = await rpc<{ tokenids: string[] }>("token.create", {
    name,
    userid,
    expires_at: expiresAt,
  });
  const answer = await rpc<{ tokenid: string; token: string }[]>("token.generate", tokenids);
  return answer[0]?.token ?? "";
}

export function deleteToken(tokenid: string): Promise<unknown> {
  return rpc("token.delete", [tokenid]);
}
