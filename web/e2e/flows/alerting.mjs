// Media types, the media of a user, an action with an escalation, and the action log.

import { dataRows, expect, go, hasValue, heading, link, page, stamp, step, user } from "../lib.mjs";

const TYPE = `E2E script ${stamp}`;
const ACTION = `E2E problems ${stamp}`;
const button = (name) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");

async function mediaType() {
  await step("create media type", async () => {
    await link("Media types").click();
    await heading(/^Media types/).waitFor();
    await link("Create media type").first().click();
    await heading("Create media type").waitFor();
    await page.getByLabel("Name", { exact: false }).first().fill(TYPE);
    await page.getByRole("radio", { name: "Script" }).click();
    await button("Create media type").click();
    await page.getByText("Enter the name of a script.").first().waitFor();
    await page.getByLabel("Script name", { exact: false }).fill("notify.sh");
    await button("Create media type").click();
    const row = dataRows("Media types").filter({ hasText: TYPE });
    await row.getByText("notify.sh").first().waitFor();
    await row.getByText("No action").waitFor();
  });

  await step("edit media type", async () => {
    await dataRows("Media types").getByRole("link", { name: TYPE }).click();
    await heading(`Edit ${TYPE}`).waitFor();
    await hasValue(page.getByLabel("Argument", { exact: true }).first(), "{ALERT.SENDTO}");
    await page.getByText("Trigger: recovery").waitFor();
    await page.getByLabel("Add message").selectOption({ label: "Internal: problem" });
    await page.getByLabel("Attempts", { exact: true }).fill("2");
    await button("Save media type").click();
    await heading(/^Media types/).waitFor();
  });
}

async function medium() {
  await step("medium of a user", async () => {
    await link("Users and tokens").click();
    await button(`Edit ${user}`).click();
    await dialog().getByRole("button", { name: "Add medium" }).click();
    const added = dialog()
      .getByRole("group", { name: /^Medium/ })
      .last();
    await added.getByLabel("Media type").selectOption({ label: TYPE });
    await added.getByLabel("Send to", { exact: false }).fill("desk 5");
    await added.getByLabel("Not classified").uncheck();
    await dialog().getByRole("button", { name: "Save user" }).click();
    await dialog().waitFor({ state: "detached" });
    await button(`Edit ${user}`).click();
    const kept = dialog()
      .getByRole("group", { name: /^Medium/ })
      .last();
    await hasValue(kept.getByLabel("Send to", { exact: false }), "desk 5");
    expect(!(await kept.getByLabel("Not classified").isChecked()), "the severity is unchecked");
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await dialog().waitFor({ state: "detached" });
  });
}

async function action() {
  const lines = () => page.getByRole("list", { name: "Escalation" }).getByRole("listitem");

  await step("create trigger action", async () => {
    await link("Actions").click();
    await heading(/^Trigger actions/).waitFor();
    await link("Create action").first().click();
    await heading("Create trigger action").waitFor();
    await page.getByLabel("Name", { exact: false }).first().fill(ACTION);
    await button("Add condition").click();
    await lines().first().getByText("Nobody yet").waitFor();
    await page.getByRole("button", { name: "Users", exact: true }).click();
    await page.getByRole("option").filter({ hasText: user }).first().click();
    await page.keyboard.press("Escape");
    await page.getByLabel("Send by").selectOption({ label: TYPE });
    await page.getByLabel("To step").fill("0");
    await page.getByLabel("Default step duration", { exact: false }).fill("30m");
    await lines().first().getByText("every 30m, until the problem ends").waitFor();
    await button("Create action").click();
    await dataRows("Trigger actions").filter({ hasText: ACTION }).getByText("Enabled").waitFor();
  });

  await step("the escalation is read back", async () => {
    await dataRows("Trigger actions").getByRole("link", { name: ACTION }).click();
    await heading(`Edit ${ACTION}`).waitFor();
    await lines().first().getByText(`by ${TYPE}`).waitFor();
    await lines().last().getByText("All involved").waitFor();
    await button("Cancel").click();
  });

  await step("the media type names its action", async () => {
    await link("Media types").click();
    await dataRows("Media types").filter({ hasText: TYPE }).getByText(ACTION).waitFor();
  });
}

async function log() {
  await step("action log", async () => {
    await link("Action log").click();
    await heading(/^Action log/).waitFor();
    await page.getByLabel("Status").selectOption({ label: "Failed" });
    await page.waitForURL(/status=failed/);
    await button("Clear filters").first().click();
    await page.waitForURL((url) => !url.search.includes("status"));
  });
}

async function remove() {
  await step("delete them", async () => {
    for (const [page_, table, name] of [
      ["Actions", "Trigger actions", ACTION],
      ["Media types", "Media types", TYPE],
    ]) {
      await link(page_).click();
      const gone = dataRows(table).filter({ hasText: name });
      await gone.getByRole("checkbox").click();
      await page.getByRole("button", { name: /^Delete 1 selected/ }).click();
      await dialog().getByRole("button", { name: "Delete", exact: true }).click();
      await gone.waitFor({ state: "detached" });
    }
  });
}

export default async function () {
  await go("/");
  await mediaType();
  await medium();
  await action();
  await log();
  await remove();
}
