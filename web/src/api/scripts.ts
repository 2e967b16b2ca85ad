import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import type * as schema from "./schema";

type Text<T> = { [K in keyof T]: T[K] extends object ? T[K] : string };

/** A script with its texts as the table has them. The UI never reads `password`. */
export type ScriptRow = Omit<Text<schema.Script>, "parameters"> & {
  parameters: { name: string; value: string }[];
};

const FIELDS = [
  "scriptid",
  "name",
  "command",
  "host_access",
  "usrgrpid",
  "groupid",
  "description",
  "confirmation",
  "type",
  "execute_on",
  "timeout",
  "parameters",
  "scope",
  "port",
  "authtype",
  "username",
  "publickey",
  "privatekey",
  "menu_path",
  "url",
  "new_window",
  "manualinput",
  "manualinput_prompt",
  "manualinput_validator",
  "manualinput_validator_type",
  "manualinput_default_value",
] as const;

const LISTED = [
  "scriptid",
  "name",
  "command",
  "type",
  "execute_on",
  "scope",
  "menu_path",
  "url",
  "usrgrpid",
  "groupid",
  "description",
] as const;

export type ScriptSummary = Pick<ScriptRow, (typeof LISTED)[number]>;
export type Script = Omit<ScriptRow, "password">;

export const scriptsQuery = () =>
  queryOptions({
    queryKey: ["scripts"],
    queryFn: ({ signal }): Promise<ScriptSummary[]> =>
      rpc("script.get", { output: LISTED, sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** Scripts that operations of actions run. */
export const actionScriptsQuery = () =>
  queryOptions({
    queryKey: ["scripts", "of actions"],
    queryFn: ({ signal }) =>
      rpc(
        "script.get",
        { output: ["scriptid", "name"], filter: { scope: "1" }, sortfield: "name" },
        signal,
      ),
    meta: { live: "config" },
  });

export const scriptQuery = (scriptid: string) =>
  queryOptions({
    queryKey: ["scripts", "one", scriptid],
    queryFn: async ({ signal }): Promise<Script | null> =>
      (await rpc("script.get", { output: FIELDS, scriptids: scriptid }, signal))[0] ?? null,
    meta: { live: "config" },
  });

/** Creates a script, or changes the one given. */
export function saveScript(scriptid: string | null, members: Members<"script">): Promise<unknown> {
  if (!scriptid) return rpc("script.create", members);
  return rpc("script.update", { scriptid, ...members });
}

export function deleteScripts(scriptids: string[]): Promise<unknown> {
  return rpc("script.delete", scriptids);
}

/** What scripts of menus run on. */
export type ScriptTarget = { hostid: string } | { eventid: string };

/** A script in a menu: its confirmation, address and prompt are expanded for its target. */
export type MenuScript = Pick<
  ScriptRow,
  | "scriptid"
  | "name"
  | "type"
  | "execute_on"
  | "scope"
  | "description"
  | "menu_path"
  | "confirmation"
  | "url"
  | "new_window"
  | "manualinput"
  | "manualinput_prompt"
  | "manualinput_validator"
  | "manualinput_validator_type"
  | "manualinput_default_value"
>;

/** The input of a user, for the texts of one script. */
interface Given {
  scriptid: string;
  manualinput: string;
}

async function menuScripts(
  target: ScriptTarget,
  given?: Given,
  signal?: AbortSignal,
): Promise<MenuScript[]> {
  const ofHost = "hostid" in target;
  const rows = ofHost
    ? await rpc("script.getscriptsbyhosts", { ...target, ...given }, signal)
    : await rpc("script.getscriptsbyevents", { ...target, ...given }, signal);
  const scope = ofHost ? "2" : "4";
  return Object.values(rows)
    .flat()
    .filter((script) => script.scope === scope);
}

/** The scripts that the user may run on a host or a problem. */
export const menuScriptsQuery = (target: ScriptTarget) =>
  queryOptions({
    queryKey: ["scripts", "menu", target],
    queryFn: ({ signal }) => menuScripts(target, undefined, signal),
    // Permissions and scripts can change without a notice.
    staleTime: 0,
    meta: { live: "config" },
  });

/** The texts of one script with the input of the user. */
export async function scriptWithInput(
  target: ScriptTarget,
  scriptid: string,
  manualinput: string,
): Promise<MenuScript> {
  const rows = await menuScripts(target, { scriptid, manualinput });
  const script = rows.find((one) => one.scriptid === scriptid);
  if (!script) throw new Error("This script does not exist, or you may not run it here.");
  return script;
}

/** What a script returned. `debug` is of webhooks. */
export interface Execution {
  response: string;
  value: string;
  debug?: { logs: { level: number | string; ms: number | string; message: string }[]; ms: string };
}

export function executeScript(
  target: ScriptTarget,
  scriptid: string,
  manualinput: string | undefined,
): Promise<Execution> {
  return rpc("script.execute", { scriptid, ...target, manualinput });
}
