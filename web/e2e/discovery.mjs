// Network discovery: a rule, what it finds, and the actions that make hosts of it.

import { dataRows, expect, go, hasValue, heading, link, page, stamp, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });

async function select(row) {
  await row.getByRole("checkbox").click();
}

async function actions(group) {
  const name = `E2E found ${stamp}`;
  const row = () => dataRows("Discovery actions").filter({ hasText: name });

  await step("create discovery action", async () => {
    await link("Actions").click();
    await heading(/^Trigger actions/).waitFor();
    await page.getByRole("radio", { name: "Discovery", exact: true }).click();
    await heading(/^Discovery actions/).waitFor();
    await link("Create action").first().click();
    await heading("Create discovery action").waitFor();
    await page.getByLabel("Name", { exact: false }).first().fill(name);
    await button("Add condition").click();
    await page.getByLabel("Condition value").fill("127.0.0.0/8");
    await button("Add condition").click();
    await page
      .getByLabel("Condition", { exact: true })
      .nth(1)
      .selectOption({ label: "Discovery status" });
    await page.getByLabel("Condition value").nth(1).selectOption({ label: "discovered" });
    await button("Add operation").click();
    await button("Create action").click();
    await page.getByText("Choose host groups.").first().waitFor();
    await page.getByRole("button", { name: "Choose host groups" }).click();
    await page.getByLabel("Search host groups").fill(group);
    await page.getByRole("option", { name: group, exact: true }).click();
    await page.keyboard.press("Escape");
    await button("Create action").click();
    await row().getByText("Address is 127.0.0.0/8; Discovery status is discovered").waitFor();
    await row().getByText("Add host, Add to host groups").waitFor();
  });

  await step("disable discovery action", async () => {
    await select(row());
    await button("Disable").click();
    await row().getByText("Disabled").waitFor();
  });

  await step("edit discovery action", async () => {
    await row().getByRole("link", { name }).click();
    await heading(`Edit ${name}`).waitFor();
    await hasValue(page.getByLabel("Condition value").first(), "127.0.0.0/8");
    await page.getByRole("radio", { name: "Formula" }).click();
    await page.getByLabel("Formula", { exact: true }).fill("A and not B");
    await page.getByLabel("Enabled").check();
    await button("Save action").click();
    await row().getByText("Enabled").waitFor();
  });

  await step("autoregistration action", async () => {
    await page.getByRole("radio", { name: "Autoregistration" }).click();
    await heading(/^Autoregistration actions/).waitFor();
    await link("Create action").first().click();
    await heading("Create autoregistration action").waitFor();
    await page.getByLabel("Name", { exact: false }).first().fill(`E2E agents ${stamp}`);
    await button("Add condition").click();
    await page.getByLabel("Condition value").fill("linux");
    await page.getByLabel("Operation", { exact: true }).selectOption({ label: "Add host tags" });
    await page.getByLabel("Tag name").fill("site");
    await button("Create action").click();
    await dataRows("Autoregistration actions")
      .filter({ hasText: `E2E agents ${stamp}` })
      .getByText("Host metadata contains linux")
      .waitFor();
  });

  await step("delete actions", async () => {
    for (const [radio, table, text] of [
      ["Autoregistration", "Autoregistration actions", `E2E agents ${stamp}`],
      ["Discovery", "Discovery actions", name],
    ]) {
      await page.getByRole("radio", { name: radio }).click();
      const gone = dataRows(table).filter({ hasText: text });
      await select(gone);
      await page.getByRole("button", { name: /^Delete 1 selected/ }).click();
      await dialog().getByRole("button", { name: "Delete", exact: true }).click();
      await gone.waitFor({ state: "detached" });
    }
  });
}

async function settings() {
  const key = "0123456789abcdef".repeat(2);
  const save = async () => {
    await button("Save settings").click();
    await page.getByText("The autoregistration settings were saved.").first().waitFor();
  };

  await step("autoregistration settings", async () => {
    await link("Autoregistration").click();
    await heading("Autoregistration").waitFor();
    await page.getByLabel("No encryption").uncheck();
    await button("Save settings").click();
    await page.getByText("Choose at least one connection type.").first().waitFor();
    await page.getByLabel("Pre-shared key").check();
    await page.getByLabel("PSK identity").fill("e2e");
    await page.getByLabel("PSK", { exact: false }).last().fill("0123");
    await button("Save settings").click();
    await page
      .getByText(/^The key must have 32 to 512 hexadecimal digits/)
      .first()
      .waitFor();
    await page.getByLabel("PSK", { exact: false }).last().fill(key);
    await save();
    await page.reload();
    await page.getByText("Leave empty to keep the current value.").first().waitFor();
    expect(await page.getByLabel("Pre-shared key").isChecked(), "the key is not accepted");
    expect(!(await page.getByLabel("No encryption").isChecked()), "no encryption is accepted");
    await page.getByLabel("No encryption").check();
    await page.getByLabel("Pre-shared key").uncheck();
    await save();
  });
}

/** `group` is a host group that exists; `port` one on which the server listens on 127.0.0.1. */
export async function discovery(group, port) {
  const name = `E2E net ${stamp}`;
  const row = () => dataRows("Discovery rules").filter({ hasText: name });
  await actions(group);
  await settings();

  await step("create discovery rule", async () => {
    await link("Discovery rules").click();
    await heading("Discovery rules").waitFor();
    await link("Create discovery rule").first().click();
    await page.getByLabel("Name", { exact: false }).first().fill(name);
    await page.getByLabel("Addresses", { exact: false }).first().fill("127.0.0.1-300");
    await page.getByLabel("Update interval", { exact: false }).fill("1s");
    await page.getByLabel("Check type").selectOption({ label: "TCP" });
    await page.getByLabel("Ports").fill("x");
    await button("Create rule").click();
    await page.getByText("Enter ports such as 22,8000-8080.").first().waitFor();
    await page.getByLabel("Ports").fill(port);
    await button("Create rule").click();
    await page.getByText(/incorrect address starting from/).waitFor();
    await page.getByLabel("Addresses", { exact: false }).first().fill("127.0.0.1");
    await button("Create rule").click();
    await row().getByText(`TCP (${port})`).waitFor();
  });

  await step("discovered hosts", async () => {
    await go("/discovery");
    const found = dataRows("Discovered hosts").filter({ hasText: name });
    await found.getByText("127.0.0.1").first().waitFor();
    await found.getByText(`TCP ${port}`).waitFor();
    await page.getByRole("radio", { name: "Down" }).click();
    await page.waitForURL(/state=down/);
    await found.waitFor({ state: "detached" });
  });

  await step("disable discovery rule", async () => {
    await go("/discovery-rules");
    await select(row());
    await button("Disable").click();
    await row().getByText("Disabled").waitFor();
  });

  await step("delete discovery rule", async () => {
    await row().getByRole("link", { name }).click();
    await heading(`Edit ${name}`).waitFor();
    await button("Delete rule…").click();
    await dialog().getByRole("button", { name: "Delete rule" }).click();
    await page.getByText(`${name} was deleted.`).waitFor();
    await row().waitFor({ state: "detached" });
  });
}
