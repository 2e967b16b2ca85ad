/** How a script runs. */
export const ScriptKind = {
  Shell: "0",
  Ipmi: "1",
  Ssh: "2",
  Telnet: "3",
  Webhook: "5",
  Url: "6",
} as const;

/** What a script is for. */
export const ScriptScope = { Action: "1", Host: "2", Event: "4" } as const;

/** Where a shell script runs. */
export const ExecuteOn = { Agent: "0", Server: "1", Proxy: "2" } as const;

/** How the input of a user is checked. */
export const InputCheck = { Pattern: "0", List: "1" } as const;

const KIND_NAMES: Record<string, string> = {
  [ScriptKind.Webhook]: "Webhook",
  [ScriptKind.Ssh]: "SSH",
  [ScriptKind.Telnet]: "Telnet",
  [ScriptKind.Ipmi]: "IPMI",
  [ScriptKind.Url]: "URL",
};
const PLACE_NAMES: Record<string, string> = {
  [ExecuteOn.Agent]: "Script on the agent",
  [ExecuteOn.Server]: "Script on the server",
  [ExecuteOn.Proxy]: "Script on the proxy or server",
};
const SCOPE_NAMES: Record<string, string> = {
  [ScriptScope.Action]: "Action operation",
  [ScriptScope.Host]: "Host menu",
  [ScriptScope.Event]: "Problem menu",
};

export const scopeName = (scope: string) => SCOPE_NAMES[scope] ?? `Scope ${scope}`;

/** How a script runs, in words. */
export function kindName({ type, execute_on }: { type: string; execute_on: string }): string {
  if (type === ScriptKind.Shell) return PLACE_NAMES[execute_on] ?? "Script";
  return KIND_NAMES[type] ?? `Kind ${type}`;
}

interface Placed {
  name: string;
  /** Such as "Network/Tests". */
  menu_path: string;
}

/** A menu: its scripts and the menus in it, each by name. */
export interface Menu<S extends Placed> {
  name: string;
  scripts: S[];
  menus: Menu<S>[];
}

const pathOf = ({ menu_path }: Placed) =>
  menu_path
    .split("/")
    .map((part) => part.trim())
    .filter(Boolean);

const byName = (a: { name: string }, b: { name: string }) => a.name.localeCompare(b.name);

/** The menu of scripts: parts of their paths are menus in it. */
export function menuOf<S extends Placed>(scripts: readonly S[]): Menu<S> {
  const root: Menu<S> = { name: "", scripts: [], menus: [] };
  for (const script of scripts.toSorted(byName)) {
    let menu = root;
    for (const name of pathOf(script)) {
      let next = menu.menus.find((one) => one.name === name);
      if (!next) {
        next = { name, scripts: [], menus: [] };
        menu.menus.push(next);
        menu.menus.sort(byName);
      }
      menu = next;
    }
    menu.scripts.push(script);
  }
  return root;
}

/** What a user may enter for a script. */
export interface InputRule {
  manualinput_validator_type: string;
  manualinput_validator: string;
}

/** The values of a list. */
export const inputChoices = (validator: string) => validator.split(",").map((one) => one.trim());

/** Why the server would refuse an input. The browser does not know each pattern of the server: then nothing. */
export function inputProblem(rule: InputRule, value: string): string | undefined {
  if (rule.manualinput_validator_type === InputCheck.List)
    return inputChoices(rule.manualinput_validator).includes(value)
      ? undefined
      : "Choose one of the values.";
  try {
    const pattern = new RegExp(rule.manualinput_validator, "u");
    return pattern.test(value)
      ? undefined
      : `The input does not match ${rule.manualinput_validator}`;
  } catch {
    return undefined;
  }
}

const OPENED = /^(https?|ftp|file|mailto|tel|ssh):/i;
const SCHEME = /^\s*[a-z][a-z\d+.-]*:/i;

/** The address of a script, if a browser may open it: scripts of other schemes could run in this page. */
export function openable(url: string): string | undefined {
  // Browsers ignore control characters in a scheme.
  const plain = [...url].filter((char) => char.charCodeAt(0) > 32).join("");
  if (!plain) return undefined;
  return OPENED.test(plain) || !SCHEME.test(plain) ? url.trim() : undefined;
}
