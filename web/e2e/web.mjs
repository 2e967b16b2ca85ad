// Web scenarios: made, tested, put in another order, saved, deleted.

import { base, hasValue, heading, link, openHost, page, stamp, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const nth = (number) => page.getByRole("group", { name: `Step ${number}`, exact: true });

/** Asks this interface's own pages. */
export async function webScenario(host) {
  const name = `E2E front ${stamp}`;

  await step("create web scenario", async () => {
    await openHost(host);
    await page.getByRole("tab", { name: "Web scenarios" }).click();
    await link("Create web scenario").click();
    await heading(/Create web scenario/).waitFor();
    await button("Create web scenario").click();
    await page.getByText("Enter a name.").first().waitFor();
    await page.getByRole("textbox", { name: "Name *", exact: true }).fill(name);
    await nth(1).getByLabel("Step name").fill("front");
    await nth(1).getByLabel("URL").fill(`${base}/`);
    await nth(1).getByText("Fields, headers, variables and more").click();
    await nth(1).getByLabel("Variables").fill("{kind}: regex:<!doctype (\\w+)");
    await button("Add step").click();
    await nth(2).getByLabel("Step name").fill("missing");
    await nth(2).getByLabel("URL").fill(`${base}/no/such.{kind}`);
    await nth(2).getByLabel("Required status codes").fill("299");
  });

  await step("test web scenario", async () => {
    await button("Test").click();
    await dialog().getByRole("button", { name: "Test", exact: true }).click();
    await dialog().getByRole("listitem", { name: "1. front passed" }).waitFor();
    await dialog().getByText("{kind} = html").waitFor();
    await dialog().getByRole("listitem", { name: "2. missing failed" }).waitFor();
    await dialog()
      .getByText(/did not match any of the required status codes/)
      .first()
      .waitFor();
    await page.keyboard.press("Escape");
  });

  await step("order of web steps", async () => {
    await button("Move step 2 up").click();
    await hasValue(nth(1).getByLabel("Step name"), "missing");
    await button("Remove step 1").click();
    await page.getByLabel("Authentication").selectOption({ label: "Basic" });
    await page.getByLabel("User name").fill("somebody");
    await button("Create web scenario").click();
    await link(name).waitFor();
    await page.getByRole("cell", { name: "front", exact: true }).waitFor();
  });

  await step("edit web scenario", async () => {
    await link(name).click();
    await heading(new RegExp(`Edit ${name}`)).waitFor();
    await hasValue(page.getByLabel("User name"), "somebody");
    await page.getByLabel("Update interval").fill("5m");
    await button("Save web scenario").click();
    await page.getByRole("row", { name: new RegExp(`${name}.*5m`) }).waitFor();
    await page.getByRole("button", { name: `Disable ${name}` }).click();
    await page.getByRole("button", { name: `Enable ${name}` }).waitFor();
  });

  await step("delete web scenario", async () => {
    await link(name).click();
    await button("Delete web scenario…").click();
    await dialog().getByRole("button", { name: "Delete web scenario" }).click();
    await page.getByText(`${name} was deleted.`).waitFor();
    await page.getByText("No web scenarios").waitFor();
  });
}
