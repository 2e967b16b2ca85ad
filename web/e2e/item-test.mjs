// The test dialog of an item against a real agent.

import { dataRows, openHost, page, step } from "./lib.mjs";

const dialog = () => page.getByRole("dialog");
const button = (name) => page.getByRole("button", { name, exact: true });
const tab = (name) => page.getByRole("tab", { name });

/** `machine` is the visible name of a host with an agent. */
export async function testAgainst(machine) {
  await step("test against a host", async () => {
    await openHost(machine);
    await tab(/Latest data/).click();
    await page.getByRole("searchbox", { name: "Search names and keys" }).fill("agent.version");
    await page.waitForURL(/text=agent.version/);
    const row = dataRows("Items").filter({ hasText: "agent.version" });
    await row.hover();
    await row.getByRole("link", { name: /^Edit/ }).click();
    await button("Test").click();
    await dialog().getByRole("radio", { name: "Get value from host" }).click();
    await dialog().getByRole("button", { name: "Get value and test" }).click();
    await dialog()
      .getByRole("status", { name: "Result" })
      .getByText(/^\d+\.\d+/)
      .waitFor();
    await page.keyboard.press("Escape");
  });
}
