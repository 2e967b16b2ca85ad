import type { Members } from "~/api/methods";
import type { Script } from "~/api/scripts";
import type { Pair } from "~/util/pairs";
import {
  ExecuteOn,
  InputCheck,
  inputChoices,
  inputProblem,
  ScriptKind,
  ScriptScope,
} from "~/util/scripts";
import { periodSeconds } from "~/util/time";

/** A script as the form holds it: what its kind and scope need is used. */
export interface ScriptDraft {
  name: string;
  description: string;
  scope: string;
  menuPath: string;
  type: string;
  executeOn: string;
  command: string;
  port: string;
  byKey: boolean;
  username: string;
  /** Empty: the stored one is kept. */
  password: string;
  publicKey: string;
  privateKey: string;
  timeout: string;
  params: Pair[];
  url: string;
  newWindow: boolean;
  /** "0" = all. */
  userGroup: string;
  hostGroup: string;
  write: boolean;
  asksInput: boolean;
  prompt: string;
  inputType: string;
  validator: string;
  /** Of lists: the values. */
  choices: string;
  defaultInput: string;
  confirms: boolean;
  confirmation: string;
}

const NEW: ScriptDraft = {
  name: "",
  description: "",
  scope: ScriptScope.Host,
  menuPath: "",
  type: ScriptKind.Shell,
  executeOn: ExecuteOn.Agent,
  command: "",
  port: "",
  byKey: false,
  username: "",
  password: "",
  publicKey: "",
  privateKey: "",
  timeout: "30s",
  params: [],
  url: "",
  newWindow: true,
  userGroup: "0",
  hostGroup: "0",
  write: false,
  asksInput: false,
  prompt: "",
  inputType: InputCheck.Pattern,
  validator: "",
  choices: "",
  defaultInput: "",
  confirms: false,
  confirmation: "",
};

export function scriptDraft(row: Script | null): ScriptDraft {
  if (!row) return NEW;
  const list = row.manualinput_validator_type === InputCheck.List;
  return {
    name: row.name,
    description: row.description,
    scope: row.scope,
    menuPath: row.menu_path,
    type: row.type,
    executeOn: row.execute_on,
    command: row.command,
    port: row.port,
    byKey: row.authtype === "1",
    username: row.username,
    password: "",
    publicKey: row.publickey,
    privateKey: row.privatekey,
    timeout: row.timeout,
    params: row.parameters.map(({ name, value }) => ({ name, value })),
    url: row.url,
    newWindow: row.new_window === "1",
    userGroup: row.usrgrpid,
    hostGroup: row.groupid,
    write: row.host_access === "3",
    asksInput: row.manualinput === "1",
    prompt: row.manualinput_prompt,
    inputType: list ? InputCheck.List : InputCheck.Pattern,
    validator: list ? "" : row.manualinput_validator,
    choices: list ? row.manualinput_validator : "",
    defaultInput: row.manualinput_default_value,
    confirms: row.confirmation !== "",
    confirmation: row.confirmation,
  };
}

/** Scripts of menus have a path, users and questions. */
export const isOfMenu = ({ scope }: Pick<ScriptDraft, "scope">) => scope !== ScriptScope.Action;

export const isRemote = ({ type }: Pick<ScriptDraft, "type">) =>
  type === ScriptKind.Ssh || type === ScriptKind.Telnet;

const TIMEOUT_MAX = 60;

/** The rule of the input as the API has it. */
export function inputRule(draft: ScriptDraft) {
  return {
    manualinput_validator_type: draft.inputType,
    manualinput_validator:
      draft.inputType === InputCheck.List ? draft.choices.trim() : draft.validator.trim(),
  };
}

function inputProblems(draft: ScriptDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.prompt.trim()) problems.prompt = "Enter the question for the input.";
  if (draft.inputType === InputCheck.List) {
    const choices = inputChoices(draft.choices);
    if (choices.length < 2 || choices.some((one) => !one))
      problems.choices = "Enter at least two values, separated by commas.";
    else if (new Set(choices).size < choices.length) problems.choices = "Enter each value once.";
  } else if (!draft.validator.trim()) problems.validator = "Enter a regular expression.";
  else if (draft.defaultInput && inputProblem(inputRule(draft), draft.defaultInput))
    problems.defaultInput = "The default input does not match the regular expression.";
  return problems;
}

function kindProblems(draft: ScriptDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (draft.type === ScriptKind.Url) {
    if (!draft.url.trim()) problems.url = "Enter a URL.";
    return problems;
  }
  if (!draft.command.trim())
    problems.command =
      draft.type === ScriptKind.Webhook ? "Enter the JavaScript." : "Enter a command.";
  if (isRemote(draft)) {
    if (!draft.username.trim()) problems.username = "Enter a user name.";
    if (draft.type === ScriptKind.Ssh && draft.byKey) {
      if (!draft.publicKey.trim()) problems.publicKey = "Enter the public key file.";
      if (!draft.privateKey.trim()) problems.privateKey = "Enter the private key file.";
    }
    const port = draft.port.trim();
    if (port && !port.startsWith("{$") && !(/^\d+$/.test(port) && +port >= 1 && +port <= 65_535))
      problems.port = "Enter a port from 1 to 65535.";
  }
  if (draft.type === ScriptKind.Webhook) {
    const seconds = periodSeconds(draft.timeout);
    if (!draft.timeout.startsWith("{$") && !(seconds && seconds <= TIMEOUT_MAX))
      problems.timeout = "Enter a timeout from 1s to 60s.";
    const names = draft.params.map(({ name }) => name.trim()).filter(Boolean);
    if (new Set(names).size < names.length) problems.params = "Enter each parameter name once.";
  }
  return problems;
}

/** What is wrong with a draft, by field; the server has the last word on the rest. */
export function scriptProblems(draft: ScriptDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  Object.assign(problems, kindProblems(draft));
  if (!isOfMenu(draft)) return problems;
  if (draft.asksInput) Object.assign(problems, inputProblems(draft));
  if (draft.confirms && !draft.confirmation.trim())
    problems.confirmation = "Enter the confirmation.";
  return problems;
}

const flag = (on: boolean) => (on ? "1" : "0");

function remoteParams(draft: ScriptDraft, isNew: boolean) {
  const byKey = draft.type === ScriptKind.Ssh && draft.byKey;
  const keys = byKey
    ? { publickey: draft.publicKey.trim(), privatekey: draft.privateKey.trim() }
    : {};
  return {
    port: draft.port.trim(),
    username: draft.username.trim(),
    ...(draft.type === ScriptKind.Ssh ? { authtype: flag(byKey) } : {}),
    ...(draft.password || isNew ? { password: draft.password } : {}),
    ...keys,
  };
}

/** What a kind has of its own: the server refuses the fields of other kinds. */
function kindParams(draft: ScriptDraft, isNew: boolean): Record<string, unknown> {
  switch (draft.type) {
    case ScriptKind.Url:
      return { url: draft.url.trim(), new_window: flag(draft.newWindow) };
    case ScriptKind.Webhook:
      return {
        command: draft.command,
        timeout: draft.timeout.trim(),
        parameters: draft.params
          .filter(({ name }) => name.trim())
          .map(({ name, value }) => ({ name: name.trim(), value })),
      };
    case ScriptKind.Shell:
      return { command: draft.command, execute_on: draft.executeOn };
    case ScriptKind.Ipmi:
      return { command: draft.command };
    default:
      return { command: draft.command, ...remoteParams(draft, isNew) };
  }
}

function menuParams(draft: ScriptDraft): Record<string, unknown> {
  const input = draft.asksInput
    ? {
        manualinput: "1",
        manualinput_prompt: draft.prompt.trim(),
        ...inputRule(draft),
        ...(draft.inputType === InputCheck.List
          ? {}
          : { manualinput_default_value: draft.defaultInput }),
      }
    : { manualinput: "0" };
  return {
    menu_path: draft.menuPath.trim(),
    usrgrpid: draft.userGroup,
    host_access: draft.write ? "3" : "2",
    confirmation: draft.confirms ? draft.confirmation : "",
    ...input,
  };
}

/** A draft without problems, as `script.create` and `script.update` take it. */
export function scriptParams(draft: ScriptDraft, isNew: boolean): Members<"script"> {
  const params = {
    name: draft.name.trim(),
    description: draft.description,
    scope: draft.scope,
    type: draft.type,
    groupid: draft.hostGroup,
    ...kindParams(draft, isNew),
    ...(isOfMenu(draft) ? menuParams(draft) : {}),
  };
  return params as Members<"script">;
}
