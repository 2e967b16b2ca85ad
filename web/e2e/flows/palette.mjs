// The palette and keys that work on every page.

import { go, heading, page, stamp, step } from "../lib.mjs";
import { baseTemplate, machine } from "../prepare.mjs";

export default async function () {
  const host = await machine();
  await baseTemplate();
  await go("/users");
  // Keys work from when the page is there.
  await heading(/^Users/).waitFor();

  await step("palette", async () => {
    await page.keyboard.press("Control+k");
    await page.getByRole("combobox", { name: "Find hosts, items, pages" }).fill(host);
    await page
      .getByRole("listbox", { name: "Results" })
      .getByRole("option", { name: host })
      .first()
      .waitFor();
  });

  await step("palette combines words", async () => {
    const text = page.getByRole("combobox", { name: "Find hosts, items, pages" });
    const options = page.getByRole("listbox", { name: "Results" }).getByRole("option");
    await text.fill(`cpu ${host}`);
    await options.filter({ hasText: host }).filter({ hasText: /cpu/i }).first().waitFor();
    // An item of a template has no values.
    await text.fill(`Requests ${stamp}`);
    await page.getByText("No matches.").waitFor();
    await text.fill(host);
  });

  await step("palette opens a host", async () => {
    await page.getByRole("option", { name: host, exact: true }).first().click();
    await heading(new RegExp(host)).waitFor();
  });

  await step("shortcuts", async () => {
    await page.keyboard.press("?");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor();
  });

  await step("go by keyboard", async () => {
    await page.keyboard.press("Escape");
    await page.getByRole("dialog", { name: "Keyboard shortcuts" }).waitFor({ state: "detached" });
    // Both at once: the second key counts for a second only.
    await Promise.all([page.keyboard.press("g"), page.keyboard.press("p")]);
    await heading(/^Problems/).waitFor();
  });
}
