// From a server as it is after its first start to a mail about a problem: the mail server, the own address, an action.
// SMTP_PORT is where a mail server listens on this machine.

import { call, dataRows, expect, heading, link, page, stamp, step, until, user } from "../lib.mjs";
import { trouble } from "../prepare.mjs";

const SECONDS_MAX = 120;
const button = (name) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");

async function mailServer() {
  await step("enter the mail server", async () => {
    await link("Media types").click();
    await dataRows("Media types").getByRole("link", { name: "Email", exact: true }).click();
    await heading("Edit Email").waitFor();
    await page.getByLabel("SMTP server", { exact: false }).fill("127.0.0.1");
    await page.getByLabel(/^Port/).fill(process.env.SMTP_PORT);
    await page.getByLabel("Sender's address", { exact: false }).fill("vedette@example.org");
    await page.getByLabel("Enabled", { exact: true }).check();
    await button("Save media type").click();
    await heading(/^Media types/).waitFor();
  });
}

async function address() {
  await step("enter the own address", async () => {
    await link("Users and tokens").click();
    await button(`Edit ${user}`).click();
    await button("Add medium").click();
    const added = dialog()
      .getByRole("group", { name: /^Medium/ })
      .last();
    await added.getByLabel("Media type").selectOption({ label: "Email" });
    await added.getByLabel("E-mail addresses", { exact: false }).fill("me@example.org");
    await button("Save user").click();
    await dialog().waitFor({ state: "detached" });
  });
}

async function action() {
  await step("create an action", async () => {
    await link("Actions").click();
    await link("Create action").first().click();
    await page.getByLabel("Name", { exact: false }).first().fill(`Mail to me ${stamp}`);
    await button("Users").click();
    await page.getByRole("option").filter({ hasText: user }).first().click();
    await page.keyboard.press("Escape");
    await button("Create action").click();
    await dataRows("Trigger actions").getByText("Enabled").waitFor();
  });
}

async function sent(problem) {
  await step("the mail is sent", async () => {
    await link("Action log").click();
    const row = dataRows("Action log").filter({ hasText: problem });
    await until("the row of the mail", async () => (await row.count()) > 0);
    await row.getByText("Sent").first().waitFor();
    await row.getByText("me@example.org").first().waitFor();
  });
}

export default async function flow() {
  const start = Date.now();
  await mailServer();
  await address();
  await action();
  const { problem } = await trouble();
  await sent(problem);
  await step("within two minutes", async () => {
    const seconds = (Date.now() - start) / 1000;
    expect(seconds < SECONDS_MAX, `${seconds} s from the first click to the mail`);
    const alerts = await call("alert.get", { output: ["status"] });
    expect(alerts.length > 0, "there is an alert");
  });
}
