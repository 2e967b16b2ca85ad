// Manual configuration of a host: tests of preprocessing, triggers, discovery, macros, value maps.

import { hostPrototypes } from "./host-prototypes.mjs";
import { dataRows, hasValue, heading, link, openHost, page, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const tab = (name) => page.getByRole("tab", { name });

/** Waits for a toast, which says that the server agreed. */
const told = (text) => page.getByText(text).first().waitFor();

async function testDialog() {
  await step("test preprocessing", async () => {
    await tab(/Latest data/).click();
    const row = dataRows("Items").filter({ hasText: "Temperature" });
    await row.hover();
    await row.getByRole("link", { name: "Edit Temperature" }).click();
    await button("Test").click();
    await dialog().getByLabel("Value", { exact: true }).fill('{"celsius": 215}');
    await dialog().getByRole("button", { name: "Test", exact: true }).click();
    const result = dialog().getByRole("status", { name: "Result" });
    await result.getByText("21.5").waitFor();
    await dialog()
      .getByRole("listitem", { name: "Step 1 passed" })
      .getByText("215")
      .last()
      .waitFor();
  });

  await step("test preprocessing failure", async () => {
    await dialog().getByLabel("Value", { exact: true }).fill("no JSON");
    await dialog().getByRole("button", { name: "Test", exact: true }).click();
    await dialog().getByRole("listitem", { name: "Step 1 failed" }).waitFor();
    await dialog().getByRole("listitem", { name: "Step 2 not run" }).waitFor();
  });

  await step("test with macro and previous value", async () => {
    await dialog().getByRole("button", { name: "Close", exact: true }).last().click();
    await page.getByLabel("Factor").fill("{$E2E}");
    await button("Add step").click();
    await page.getByLabel("Step 3").selectOption({ label: "Simple change" });
    await button("Test").click();
    await dialog().getByLabel("Value of {$E2E}").fill("2");
    await dialog().getByLabel("Value", { exact: true }).fill('{"celsius": 20}');
    await dialog().getByLabel("Previous value").fill('{"celsius": 5}');
    await dialog().getByRole("button", { name: "Test", exact: true }).click();
    await dialog().getByRole("status", { name: "Result" }).getByText("30").waitFor();
    await page.keyboard.press("Escape");
    await button("Cancel").click();
  });
}

async function triggers(name, host) {
  await step("create trigger", async () => {
    await openHost(name);
    await tab(/Triggers/).click();
    await link("Create trigger").click();
    await heading(/Create trigger/).waitFor();
    await page.getByLabel("Name").first().fill("It is too warm");
    await page.getByLabel("Expression").fill(`last(/${host}/room.temperatur)>`);
    await page.getByText("A value is missing here.").waitFor();
    await page.getByText(/There is no item/).waitFor();
    await page.getByLabel("Expression").fill(`last(/${host}/room.temperature)>30`);
    await page.getByText("no value yet").waitFor();
    await page.getByRole("radio", { name: "High" }).click();
    await page.getByLabel("OK event generation").selectOption({ label: "Recovery expression" });
    await page.getByLabel("Recovery expression").last().fill(`last(/${host}/room.temperature)<25`);
    await page.getByLabel("Allow manual close").check();
    await page.getByLabel("Event name").fill("Warm: {ITEM.LASTVALUE1}");
    await page.getByLabel("Operational data").fill("{ITEM.LASTVALUE1}");
    await button("Add tag").click();
    await page.getByLabel("Tag name").fill("scope");
  });

  await step("add a condition", async () => {
    await button("Add condition").first().click();
    await button("Item").click();
    await page.getByRole("option", { name: "Temperature" }).click();
    await page.keyboard.press("Escape");
    await page.getByLabel("Function").selectOption({ label: "No data for" });
    await page.getByLabel("Compared with").fill("0");
    await page.getByLabel("Period").fill("10m");
    await page.getByRole("button", { name: "Add", exact: true }).first().click();
    const wanted = `last(/${host}/room.temperature)>30 and nodata(/${host}/room.temperature,10m)=0`;
    await hasValue(page.getByLabel("Expression").first(), wanted);
  });

  await step("trigger created", async () => {
    await button("Create trigger").click();
    await page.getByRole("cell", { name: "It is too warm", exact: true }).waitFor();
  });

  await step("edit trigger", async () => {
    await link("It is too warm").click();
    await page.getByLabel("Event name").waitFor();
    await hasValue(page.getByLabel("Tag name"), "scope");
    await page.getByRole("radio", { name: "Disaster" }).click();
    await button("Save trigger").click();
    await page.getByRole("row", { name: /Disaster.*It is too warm/ }).waitFor();
  });

  await step("switch a trigger off", async () => {
    await page.getByRole("button", { name: "Disable It is too warm" }).click();
    await page.getByRole("button", { name: "Enable It is too warm" }).waitFor();
  });

  await step("delete trigger", async () => {
    await link("It is too warm").click();
    await button("Delete trigger…").click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await button("Delete trigger…").click();
    await dialog().getByRole("button", { name: "Delete trigger" }).click();
    await told("It is too warm was deleted.");
  });
}

async function discovery() {
  await step("create discovery rule", async () => {
    await tab(/Discovery rules/).click();
    await link("Create discovery rule").click();
    await page.getByLabel("Name").first().fill("Rooms");
    await page.getByLabel("Type", { exact: true }).selectOption({ label: "Trapper" });
    await page.getByRole("textbox", { name: /^Key( \*)?$/ }).fill("rooms");
    await button("Add macro").click();
    await page.getByLabel("Discovery macro").fill("{#ROOM}");
    await page.getByLabel("JSONPath").fill("$.name");
    await button("Add condition").click();
    await page.getByLabel("Macro", { exact: true }).fill("{#ROOM}");
    await page.getByLabel("Regular expression").fill("^kitchen");
    await button("Create discovery rule").click();
    await link("Create item prototype").waitFor();
  });

  await step("create item prototype", async () => {
    await link("Create item prototype").click();
    await page.getByLabel("Name").first().fill("Light in {#ROOM}");
    await page.getByLabel("Type", { exact: true }).selectOption({ label: "Trapper" });
    await page.getByRole("textbox", { name: /^Key( \*)?$/ }).fill("light[{#ROOM}]");
    await button("Create item prototype").click();
    await page.getByRole("cell", { name: "Light in {#ROOM}" }).waitFor();
  });

  await step("create trigger prototype", async () => {
    await tab("Trigger prototypes").click();
    await link("Create trigger prototype").click();
    await page.getByLabel("Name").first().fill("Dark in {#ROOM}");
    await button("Add condition").click();
    await button("Item").click();
    await page.getByRole("option", { name: "Light in {#ROOM}" }).click();
    await page.keyboard.press("Escape");
    await page.getByLabel("Compared with").fill("10");
    await page.getByLabel("Operator").selectOption("<");
    await page.getByRole("button", { name: "Add", exact: true }).first().click();
    await button("Create trigger prototype").click();
    await page.getByRole("cell", { name: "Dark in {#ROOM}" }).waitFor();
  });

  await hostPrototypes("E2E template");

  await step("add an override", async () => {
    await tab("Rule").click();
    await button("Add override").click();
    await page.getByLabel("Name of the override").fill("No cellars");
    await button("Add condition").nth(1).click();
    await page.getByLabel("Macro", { exact: true }).nth(1).fill("{#ROOM}");
    await page.getByLabel("Regular expression").nth(1).fill("cellar");
    await button("Add operation").click();
    await page.getByLabel("Name", { exact: true }).last().fill("^Light");
    await page.getByLabel("Interval", { exact: true }).check();
    await page.getByRole("textbox", { name: "Interval", exact: true }).last().fill("5m");
    await button("Save discovery rule").click();
    await told("Rooms was saved.");
  });

  await step("edit discovery rule", async () => {
    await link("Rooms").click();
    await hasValue(page.getByLabel("Regular expression").first(), "^kitchen");
    await page.getByText("No cellars").click();
    await hasValue(page.getByRole("textbox", { name: "Interval", exact: true }).last(), "5m");
    await button("Delete discovery rule…").click();
    await dialog().getByRole("button", { name: "Delete discovery rule" }).click();
    await told("Rooms was deleted.");
  });
}

async function words() {
  await step("macros", async () => {
    await tab("Macros").click();
    await button("Edit macros").click();
    await dialog().getByRole("button", { name: "Add macro" }).click();
    await dialog().getByLabel("Macro", { exact: true }).last().fill("{$E2E:lower");
    await dialog()
      .getByText(/Enter a macro as/)
      .waitFor();
    await dialog().getByLabel("Macro", { exact: true }).last().fill('{$E2E:"cellar"}');
    await dialog().getByLabel("Value", { exact: true }).last().fill("7");
    await dialog().getByRole("button", { name: "Save macros" }).click();
    await page.getByRole("cell", { name: '{$E2E:"cellar"}' }).waitFor();
  });

  await step("value map", async () => {
    await tab("Value maps").click();
    await button("Create value map").click();
    await dialog().getByLabel("Name").fill("Door");
    await dialog().getByLabel("Value", { exact: true }).fill("1");
    await dialog().getByLabel("Mapped to").fill("open");
    await dialog().getByRole("button", { name: "Save value map" }).click();
    await page.getByRole("cell", { name: "1 → open" }).waitFor();
  });

  await step("unlink template", async () => {
    await link("Edit host").click();
    await page.getByRole("button", { name: "Remove E2E template" }).click();
    await button("Save host").click();
    await dialog().getByText("Unlink templates?").waitFor();
    await dialog().getByRole("button", { name: "Unlink", exact: true }).click();
    await tab(/Latest data/).click();
    await dataRows("Items").filter({ hasText: "Requests" }).waitFor();
  });
}

/** All of it, on a host with the item "Temperature"; leaves the browser on the host's page. */
export async function configure(name, host) {
  await testDialog();
  await triggers(name, host);
  await discovery();
  await words();
  await step("back to the host", async () => {
    await openHost(name);
  });
}
