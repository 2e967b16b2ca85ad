// The list of problems, its filters, the details of a problem, updates of one and of many.

import { accessible } from "../axe.mjs";
import { dataRows, fits, heading, page, stamp, step } from "../lib.mjs";
import { trouble } from "../prepare.mjs";

export default async function () {
  const { problem } = await trouble();

  await step("problems", async () => {
    await page
      .getByRole("navigation")
      .getByRole("link", { name: /^Problems/ })
      .click();
    await heading(/^Problems/).waitFor();
    await page.getByRole("grid", { name: "Problems" }).waitFor();
  });

  await step("problems history", async () => {
    await page.getByRole("radio", { name: "History" }).click();
    await page.waitForURL(/show=history/);
    await page.getByRole("button", { name: "Time range" }).waitFor();
  });

  await step("problems filter", async () => {
    await page.getByRole("radio", { name: "Recent" }).click();
    await page.getByRole("button", { name: "Severity" }).first().click();
    await page.getByRole("option", { name: "Warning" }).click();
    await page.waitForURL(/severity=2/);
    await page.keyboard.press("Escape");
    await page.getByRole("button", { name: "Clear filters" }).first().click();
    await page.waitForURL((url) => !url.search.includes("severity"));
  });

  await step("problem groups", async () => {
    const by = page.getByLabel("Group by");
    await by.selectOption({ label: "By host" });
    await page.waitForURL(/by=host/);
    const groups = dataRows("Grouped problems");
    await groups.first().waitFor();
    await fits();
    await accessible("of grouped problems");
    await by.selectOption({ label: "By problem name" });
    await groups.filter({ hasText: problem }).first().getByRole("gridcell").first().click();
    await page.waitForURL((url) => !url.search.includes("by=") && url.search.includes("text="));
    await dataRows("Problems").filter({ hasText: problem }).first().waitFor();
    await page.getByRole("button", { name: "Clear filters" }).first().click();
  });

  const problemRows = dataRows("Problems");
  await step("problem drawer", async () => {
    await problemRows.filter({ hasText: problem }).first().getByRole("gridcell").nth(1).click();
    await page.waitForURL(/event=\d+/);
    await page
      .getByRole("complementary", { name: "Problem" })
      .getByText("Messages and actions")
      .waitFor();
  });

  await step("problem message", async () => {
    const drawer = page.getByRole("complementary", { name: "Problem" });
    await drawer.getByLabel("Message").fill(`e2e looked at it ${stamp}`);
    await drawer.getByRole("button", { name: "Send message" }).click();
    await drawer.getByText(`e2e looked at it ${stamp}`).waitFor();
  });

  await step("problem acknowledge", async () => {
    const drawer = page.getByRole("complementary", { name: "Problem" });
    const acknowledge = drawer.getByRole("button", { name: "Acknowledge", exact: true });
    const back = drawer.getByRole("button", { name: "Unacknowledge" });
    await acknowledge.or(back).waitFor();
    if (await acknowledge.isVisible()) await acknowledge.click();
    await back.waitFor();
    await page.keyboard.press("Escape");
    await drawer.waitFor({ state: "detached" });
  });

  await step("problems bulk", async () => {
    await page.getByRole("checkbox", { name: "Select all rows" }).check();
    await page.getByRole("button", { name: "Update…" }).click();
    await page.getByRole("dialog").getByLabel("Severity").waitFor();
  });
}
