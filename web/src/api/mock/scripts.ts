import type { ScriptRow } from "../scripts";
import type { Answers } from "./api";

const SCRIPT: Omit<ScriptRow, "scriptid" | "name"> = {
  command: "",
  host_access: "2",
  usrgrpid: "0",
  groupid: "0",
  description: "",
  confirmation: "",
  type: "0",
  execute_on: "0",
  timeout: "30s",
  parameters: [],
  scope: "2",
  port: "",
  authtype: "0",
  username: "",
  password: "",
  publickey: "",
  privatekey: "",
  menu_path: "",
  url: "",
  new_window: "1",
  manualinput: "0",
  manualinput_prompt: "",
  manualinput_validator: "",
  manualinput_validator_type: "0",
  manualinput_default_value: "",
};

export const SCRIPTS: ScriptRow[] = [
  {
    ...SCRIPT,
    scriptid: "1",
    name: "Ping",
    command: "ping -c 3 {HOST.CONN}",
    menu_path: "Network",
  },
  {
    ...SCRIPT,
    scriptid: "2",
    name: "Traceroute",
    command: "traceroute {HOST.CONN}",
    execute_on: "1",
    menu_path: "Network/Routes",
  },
  {
    ...SCRIPT,
    scriptid: "3",
    name: "Restart a service",
    command: "systemctl restart {MANUALINPUT}",
    type: "2",
    username: "ops",
    host_access: "3",
    usrgrpid: "7",
    confirmation: "Restart {MANUALINPUT} on this host?",
    manualinput: "1",
    manualinput_prompt: "Which service?",
    manualinput_validator: "^[a-z]+$",
    manualinput_default_value: "nginx",
  },
  {
    ...SCRIPT,
    scriptid: "4",
    name: "Open a ticket",
    command: "return 'OPS-7';",
    type: "5",
    scope: "4",
    parameters: [{ name: "event", value: "{EVENT.ID}" }],
  },
  {
    ...SCRIPT,
    scriptid: "5",
    name: "Runbook",
    type: "6",
    scope: "4",
    url: "https://wiki.example.org/runbooks",
  },
  { ...SCRIPT, scriptid: "6", name: "Clean the disk", command: "clean-disk", scope: "1" },
];

/** The scripts of a target, with their texts expanded as far as the mock does. */
function menu(id: string, scope: string, scriptid?: string, input?: string) {
  const rows = SCRIPTS.filter(
    (one) => one.scope === scope && (!scriptid || one.scriptid === scriptid),
  ).map((one) => ({
    ...one,
    confirmation: input ? one.confirmation.replace("{MANUALINPUT}", input) : one.confirmation,
  }));
  return { [id]: rows };
}

export const scriptAnswers: Answers = {
  "script.getscriptsbyhosts": ({ hostid, scriptid, manualinput }) =>
    menu(hostid, "2", scriptid, manualinput),
  "script.getscriptsbyevents": ({ eventid, scriptid, manualinput }) =>
    menu(eventid, "4", scriptid, manualinput),
  "script.execute": ({ scriptid, manualinput }) => {
    const script = SCRIPTS.find((one) => one.scriptid === scriptid);
    const value = `${script?.command.replace("{MANUALINPUT}", manualinput ?? "")}\ndone`;
    const logs = [{ level: 3, ms: 4, message: "ticket made" }];
    return { response: "success", value, debug: { logs, ms: "12" } };
  },
  "mediatype.test": ({ sendto, parameters }) => ({
    result: parameters ? '{"ok":true}' : `250 accepted for ${sendto}`,
    duration: "87",
    log: parameters ? [] : ["connected", "250 accepted"],
    script_log: parameters ? [{ level: 4, ms: 3, message: "sending" }] : [],
  }),
  "correlation.create": () => ({ correlationids: ["9"] }),
  "correlation.update": () => ({ correlationids: ["9"] }),
  "correlation.delete": (correlationids) => ({ correlationids }),
  "script.create": () => ({ scriptids: ["9"] }),
  "script.update": () => ({ scriptids: ["9"] }),
  "script.delete": (scriptids) => ({ scriptids }),
};
