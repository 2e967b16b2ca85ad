import { expect, test } from "vitest";
import { ExecuteOn, InputCheck, ScriptKind, ScriptScope } from "~/util/scripts";
import { type ScriptDraft, scriptDraft, scriptParams, scriptProblems } from "./draft";

const draft = (next: Partial<ScriptDraft>): ScriptDraft => ({
  ...scriptDraft(null),
  name: "Ping",
  command: "ping -c 3 {HOST.CONN}",
  ...next,
});

test("a script on the agent is sent with the fields of its kind only", () => {
  const one = draft({ menuPath: "Tests", executeOn: ExecuteOn.Agent, url: "https://left.over" });
  expect(scriptProblems(one)).toEqual({});
  expect(scriptParams(one, true)).toEqual({
    name: "Ping",
    description: "",
    scope: "2",
    type: "0",
    groupid: "0",
    command: "ping -c 3 {HOST.CONN}",
    execute_on: "0",
    menu_path: "Tests",
    usrgrpid: "0",
    host_access: "2",
    confirmation: "",
    manualinput: "0",
  });
});

test("a script of actions has neither menu nor questions", () => {
  const one = draft({ scope: ScriptScope.Action, asksInput: true, confirms: true });
  expect(scriptProblems(one)).toEqual({});
  const params = scriptParams(one, true);
  expect(params).not.toHaveProperty("menu_path");
  expect(params).not.toHaveProperty("manualinput");
});

test("the stored password is kept if none is entered", () => {
  const one = draft({ type: ScriptKind.Ssh, username: "ops" });
  expect(scriptParams(one, true)).toMatchObject({ password: "", authtype: "0" });
  expect(scriptParams(one, false)).not.toHaveProperty("password");
  expect(scriptParams({ ...one, password: "x" }, false)).toMatchObject({ password: "x" });
  expect(scriptParams({ ...one, type: ScriptKind.Telnet }, true)).not.toHaveProperty("authtype");
});

test("lists need two different values, patterns one that fits the default", () => {
  const asks = { asksInput: true, prompt: "Which?" };
  const list = draft({ ...asks, inputType: InputCheck.List, choices: "a" });
  expect(scriptProblems(list)).toHaveProperty("choices");
  expect(scriptProblems({ ...list, choices: "a,a" })).toHaveProperty("choices");
  expect(scriptProblems({ ...list, choices: "a,b" })).toEqual({});
  const pattern = draft({ ...asks, validator: "^[0-9]+$", defaultInput: "x" });
  expect(scriptProblems(pattern)).toHaveProperty("defaultInput");
  expect(scriptParams({ ...pattern, defaultInput: "7" }, true)).toMatchObject({
    manualinput: "1",
    manualinput_validator: "^[0-9]+$",
    manualinput_validator_type: "0",
    manualinput_default_value: "7",
  });
});

test("a webhook needs its code and different parameter names", () => {
  const params = [
    { name: "a", value: "1" },
    { name: "a", value: "2" },
  ];
  const one = draft({ type: ScriptKind.Webhook, command: "", timeout: "2m", params });
  expect(Object.keys(scriptProblems(one)).sort()).toEqual(["command", "params", "timeout"]);
});
