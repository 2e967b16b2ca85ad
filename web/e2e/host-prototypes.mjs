// Host prototypes of a discovery rule: made by keyboard, on a phone too, changed, deleted.

import { fits, hasValue, heading, link, page, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const tab = (name) => page.getByRole("tab", { name });
const NAME = "Machine {#ROOM}";

/** Opens a picker with Enter, types, takes the first that is found with Enter, closes with Escape. */
async function pickByKeyboard(field, list, text) {
  await page.getByRole("button", { name: field }).focus();
  await page.keyboard.press("Enter");
  await page.getByRole("textbox", { name: `Search ${list}` }).fill(text);
  await page.getByRole("option").first().getByText(text).waitFor();
  await page.keyboard.press("Enter");
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: `Remove ${text}` }).waitFor();
}

async function create(template) {
  await step("create host prototype", async () => {
    await tab("Host prototypes").click();
    await page.getByText("No host prototypes").waitFor();
    await link("Create host prototype").click();
    await heading(/Create host prototype/).waitFor();
    await button("Create host prototype").click();
    await page.getByRole("alert").filter({ hasText: "Enter a host name." }).waitFor();
    await page.getByLabel("Host name").fill("machine");
    await page
      .getByText(/must contain a discovery macro/)
      .first()
      .waitFor();
    await page.getByLabel("Host name").fill("machine-{#ROOM}");
    await page.getByLabel("Visible name").fill(NAME);
    await page.getByText("Choose at least one group.").first().waitFor();
    await page.getByRole("button", { name: /^Host groups/ }).click();
    await page.getByRole("listbox", { name: "Host groups" }).getByRole("option").first().click();
    await page.keyboard.press("Escape");
    await page.getByLabel("Group prototypes").fill("Everything");
    await page
      .getByText(/"Everything" contains no discovery macro/)
      .first()
      .waitFor();
    await page.getByLabel("Group prototypes").fill("Rooms/{#ROOM}\nFloors {#ROOM}");
    await pickByKeyboard(/^Templates/, "templates", template);
    await page.getByLabel("Inventory").selectOption({ label: "automatic" });
  });

  await step("interfaces of a host prototype", async () => {
    await page.getByText(/get the interfaces of the host/).waitFor();
    await page.getByRole("radio", { name: "Custom", exact: true }).focus();
    await page.keyboard.press("Enter");
    await page.getByLabel("Connect to").selectOption({ label: "Use DNS" });
    await page.getByLabel("DNS name").fill("{#ROOM}");
    await button("SNMP").click();
    await page.getByLabel("Community").fill("{#ROOM}");
    await button("Add tag").click();
    await page.getByLabel("Tag name").fill("room");
    await page.getByLabel("Tag value").fill("{#ROOM}");
    await button("Add macro").click();
    await page.getByLabel("Macro", { exact: true }).fill("{$ROOM}");
    await page.getByLabel("Value", { exact: true }).fill("{#ROOM}");
  });

  await step("host prototype on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await fits();
    await page.getByLabel("Community").scrollIntoViewIfNeeded();
  });

  await step("host prototype created", async () => {
    await button("Create host prototype").click();
    await page.getByRole("cell", { name: NAME }).waitFor();
    await fits();
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.getByRole("cell", { name: /Rooms\/\{#ROOM\}, Floors \{#ROOM\}/ }).waitFor();
    await page.getByRole("cell", { name: template }).waitFor();
  });
}

async function change(template) {
  await step("edit host prototype", async () => {
    await link(NAME).click();
    await heading(/Edit Machine/).waitFor();
    const values = [
      ["Host name", "machine-{#ROOM}"],
      ["Group prototypes", "Rooms/{#ROOM}\nFloors {#ROOM}"],
      ["Community", "{#ROOM}"],
      ["Tag value", "{#ROOM}"],
      ["Inventory", "1"],
    ];
    for (const [label, value] of values) await hasValue(page.getByLabel(label).first(), value);
    await page.getByRole("button", { name: `Remove ${template}` }).waitFor();
    await page.getByRole("radio", { name: "Inherit" }).click();
    await page.getByLabel("Create enabled").uncheck();
    await button("Save host prototype").click();
    await page.getByRole("cell", { name: "Created disabled" }).waitFor();
  });

  await step("delete host prototype", async () => {
    await link(NAME).click();
    await page.getByText(/get the interfaces of the host/).waitFor();
    await button("Delete host prototype…").click();
    await dialog()
      .getByText(/hosts and groups discovered with it/)
      .waitFor();
    await dialog().getByRole("button", { name: "Delete host prototype" }).click();
    await page.getByText(`${NAME} was deleted.`).first().waitFor();
    await page.getByText("No host prototypes").waitFor();
  });
}

/** On the page of a rule; `template` is the name of one. */
export async function hostPrototypes(template) {
  await create(template);
  await change(template);
}
