// A host, its items, triggers, discovery rules, macros and value maps, configured manually.

import { configure } from "../configure.mjs";
import { dataRows, go, hasValue, heading, link, page, stamp, step } from "../lib.mjs";
import { baseTemplate } from "../prepare.mjs";

export default async function () {
  await baseTemplate();
  const newHost = `e2e-${stamp}`;

  await step("create host", async () => {
    await go("/hosts/new");
    await page.getByLabel("Host name").fill(newHost);
    await page.getByRole("button", { name: /^Host groups/ }).click();
    await page.getByRole("listbox", { name: "Host groups" }).getByRole("option").first().click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: /^Templates/ }).click();
    await page.getByLabel("Search templates").fill("E2E template");
    await page.getByRole("option", { name: "E2E template" }).click();
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Add tag" }).click();
    await page.getByLabel("Tag name").fill("e2e");
    await page.getByRole("button", { name: "Add macro" }).click();
    await page.getByLabel("Macro", { exact: true }).fill("{$E2E}");
  });

  await step("host created", async () => {
    await page.getByRole("button", { name: "Create host" }).click();
    await heading(new RegExp(newHost)).waitFor();
  });

  await step("create item", async () => {
    await link("Create item").click();
    await page.getByLabel("Name", { exact: false }).first().fill("Temperature");
    await page.getByLabel("Type", { exact: true }).selectOption({ label: "Trapper" });
    await page.getByRole("textbox", { name: /^Key( \*)?$/ }).fill("room.temperature");
    await page.getByLabel("Value type").selectOption({ label: "Number (float)" });
    await page.getByRole("button", { name: "Add step" }).click();
    await page.getByLabel("Step 1").selectOption({ label: "JSONPath" });
    await page.getByLabel("Path").fill("$.celsius");
    await page.getByRole("button", { name: "Add step" }).click();
    await page.getByLabel("Step 2").selectOption({ label: "Custom multiplier" });
    await page.getByLabel("Factor").fill("0.1");
  });

  await step("item created", async () => {
    await page.getByRole("button", { name: "Create item" }).click();
    await dataRows("Items").filter({ hasText: "Temperature" }).waitFor();
  });

  await step("edit item", async () => {
    const row = dataRows("Items").filter({ hasText: "Temperature" });
    await row.hover();
    await row.getByRole("link", { name: "Edit Temperature" }).click();
    await hasValue(page.getByLabel("Path"), "$.celsius");
    await page.getByLabel("Units").fill("°C");
    await page.getByRole("button", { name: "Save item" }).click();
    await dataRows("Items").filter({ hasText: "Temperature" }).waitFor();
  });

  await step("edit host", async () => {
    await link("Edit host").click();
    await page.getByLabel("Visible name").fill(`E2E host ${stamp}`);
    await page.getByRole("button", { name: "Save host" }).click();
    await heading(new RegExp(`E2E host ${stamp}`)).waitFor();
  });

  await configure(`E2E host ${stamp}`, newHost);

  await step("delete host", async () => {
    await page.getByRole("button", { name: "More actions" }).click();
    await page.getByRole("button", { name: "Delete host…" }).click();
    await page.getByRole("dialog").getByRole("button", { name: "Delete host" }).click();
    await heading(/^Hosts/).waitFor();
  });
}
