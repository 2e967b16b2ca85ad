// Scripts: of each kind in the editor, with an input that is tested, in the menu of a host, and in an action.

import {
  dataRows,
  expect,
  go,
  hasValue,
  heading,
  link,
  loaded,
  page,
  stamp,
  step,
} from "../lib.mjs";
import { plainHost } from "../prepare.mjs";

const ECHO = `E2E echo ${stamp}`;
const LIST = `E2E restart ${stamp}`;
const CLEAN = `E2E clean ${stamp}`;
const button = (name) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog").last();
const label = (name) => page.getByLabel(name, { exact: false }).first();

/** Saves the form, and waits for the list. */
async function create() {
  await button("Create script").click();
  await heading(/^Scripts/).waitFor();
}

async function createScripts() {
  await step("create webhook script", async () => {
    await link("Scripts").click();
    await heading(/^Scripts/).waitFor();
    await link("Create script").first().click();
    await heading("Create script").waitFor();
    await button("Create script").click();
    await page.getByText("Enter a name.").first().waitFor();
    await label("Name").fill(ECHO);
    await label("Menu path").fill("E2E/Tests");
    await page.getByRole("radio", { name: "Webhook" }).click();
    await label("JavaScript").fill("return 'echo of ' + JSON.parse(value).host;");
    await button("Add parameter").click();
    await page.getByLabel("Parameter name").fill("host");
    await page.getByLabel("Parameter value").fill("{HOST.HOST}");
    await create();
    const row = dataRows("Scripts").filter({ hasText: ECHO });
    await row.getByText("E2E/Tests").waitFor();
    await row.getByText("all users on all hosts").waitFor();
  });

  await step("create script with an input", async () => {
    await link("Create script").first().click();
    await label("Name").fill(LIST);
    await page.getByRole("radio", { name: "SSH" }).click();
    await label("User name").fill("ops");
    await label("Commands").fill("systemctl restart {MANUALINPUT}");
    await page.getByLabel("Ask for an input").check();
    await label("Question").fill("Which service?");
    await page.getByRole("radio", { name: "List" }).click();
    await label("Values").fill("nginx, redis");
    await page.getByLabel("Ask for a confirmation").check();
    await page.getByLabel(/^Confirmation/).fill("Restart {MANUALINPUT} on {HOST.NAME}?");
    await button("Test the input").click();
    await dialog().getByLabel("Which service?").selectOption("redis");
    await dialog().getByRole("button", { name: "Check" }).click();
    await dialog().getByText("The server would accept this input.").waitFor();
    await dialog().getByText("Restart redis on {HOST.NAME}?").waitFor();
    await page.keyboard.press("Escape");
    await create();
    await dataRows("Scripts").filter({ hasText: LIST }).getByText("SSH").waitFor();
  });

  await step("create script of actions", async () => {
    await link("Create script").first().click();
    await label("Name").fill(CLEAN);
    await page.getByRole("radio", { name: "Action operation" }).click();
    expect((await page.getByRole("radio", { name: "URL" }).count()) === 0, "actions open no URL");
    await page.getByRole("radio", { name: "Server", exact: true }).click();
    await label("Commands").fill("clean-disk");
    await create();
    await page.getByRole("radio", { name: "Action operation" }).click();
    await page.waitForURL(/scope=action/);
    await dataRows("Scripts").filter({ hasText: CLEAN }).first().waitFor();
    expect(
      (await dataRows("Scripts").filter({ hasText: ECHO }).count()) === 0,
      "the filter narrows the list",
    );
    await button("Clear filters").first().click();
  });

  await step("edit script", async () => {
    await dataRows("Scripts").getByRole("link", { name: LIST }).click();
    await heading(`Edit ${LIST}`).waitFor();
    await hasValue(label("Values"), "nginx, redis");
    await hasValue(label("Password"), "");
    await label("Values").fill("nginx, redis, mysql");
    await button("Save script").click();
    await heading(/^Scripts/).waitFor();
  });
}

async function menus(host) {
  await step("menu of a host", async () => {
    await go(`/hosts/${host.hostid}`);
    await button("Run script…").click();
    await dialog().getByText("E2E", { exact: true }).waitFor();
    await dialog().getByRole("button", { name: ECHO }).click();
    await dialog().getByText(`echo of ${host.host}`).waitFor();
    await dialog()
      .getByText(/^Succeeded in/)
      .waitFor();
    await dialog().getByRole("button", { name: "All scripts" }).click();
    await dialog().getByRole("button", { name: LIST }).click();
    await dialog().getByLabel("Which service?").selectOption("mysql");
    await dialog().getByRole("button", { name: "Continue" }).click();
    await dialog().getByText(`Restart mysql on ${host.host}?`).waitFor();
    await page.keyboard.press("Escape");
    await page.getByRole("dialog").waitFor({ state: "detached" });
  });

  await step("menu of a row by keyboard", async () => {
    await go(`/hosts?text=${host.host}`);
    await dataRows("Hosts").getByRole("link", { name: host.host }).first().waitFor();
    await page.keyboard.press("j");
    await page.keyboard.press("r");
    await page.getByRole("dialog", { name: `Run script on ${host.host}` }).waitFor();
    await loaded();
    await page.keyboard.press("Escape");
  });
}

async function action() {
  await step("an action runs a script", async () => {
    await go("/actions/new");
    await label("Name").fill(`E2E run ${stamp}`);
    await page
      .getByLabel("Operation", { exact: true })
      .first()
      .selectOption({ label: "Run script" });
    await page.getByLabel(/^Script/).selectOption({ label: CLEAN });
    const line = page.getByRole("list", { name: "Escalation" }).getByRole("listitem").first();
    await line.getByText(`Run ${CLEAN} on the host`).waitFor();
    await button("Create action").click();
    await dataRows("Trigger actions")
      .filter({ hasText: `E2E run ${stamp}` })
      .first()
      .waitFor();
  });

  await step("a script that an action uses is not deleted", async () => {
    await go("/scripts");
    await dataRows("Scripts").filter({ hasText: CLEAN }).getByRole("checkbox").click();
    await page.getByRole("button", { name: /^Delete 1 selected/ }).click();
    await dialog().getByRole("button", { name: "Delete", exact: true }).click();
    await page
      .getByText(/Cannot delete scripts/)
      .first()
      .waitFor();
    await dataRows("Scripts").filter({ hasText: CLEAN }).first().waitFor();
  });
}

async function remove() {
  await step("delete script", async () => {
    await go("/scripts");
    const gone = dataRows("Scripts").filter({ hasText: ECHO });
    await gone.getByRole("checkbox").click();
    await page.getByRole("button", { name: /^Delete 1 selected/ }).click();
    await dialog().getByRole("button", { name: "Delete", exact: true }).click();
    await gone.waitFor({ state: "detached" });
  });
}

export default async function () {
  await go("/");
  const host = await plainHost("e2e-scripts");
  await createScripts();
  await menus(host);
  await action();
  await remove();
}
