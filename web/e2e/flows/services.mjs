// Services as a tree, SLAs with a schedule, the report, and event correlation.

import { call, dataRows, go, hasValue, heading, link, page, stamp, step } from "../lib.mjs";
import { trouble } from "../prepare.mjs";

const SHOP = `E2E shop ${stamp}`;
const WEB = `E2E web ${stamp}`;
const SLA = `E2E gold ${stamp}`;
const RULE = `E2E up again ${stamp}`;
const button = (name) => page.getByRole("button", { name, exact: true });
const label = (name) => page.getByLabel(name, { exact: false }).first();
const row = (grid, name) => dataRows(grid).filter({ hasText: name }).first();

async function services() {
  await step("create service", async () => {
    await link("Services").click();
    await heading(/^Services/).waitFor();
    await link("Create service").first().click();
    await heading("Create service").waitFor();
    await button("Create service").click();
    await page.getByText("Enter a name.").first().waitFor();
    await label("Name").fill(SHOP);
    const tags = page.getByRole("region", { name: /page$/ });
    await tags.getByRole("button", { name: "Add tag" }).last().click();
    await page.getByLabel("Tag name").last().fill("e2e");
    await page.getByLabel("Tag value").last().fill(stamp);
    await button("Create service").click();
    await row("Services", SHOP).getByText("OK").first().waitFor();
  });

  await step("create service below it", async () => {
    await dataRows("Services").getByRole("link", { name: SHOP }).click();
    await heading(`Edit ${SHOP}`).waitFor();
    await link(`Create service below ${SHOP}`).click();
    await heading("Create service").waitFor();
    await label("Name").fill(WEB);
    await button("Add tag").first().click();
    await page.getByLabel("Tag name").first().fill("scope");
    await page.getByLabel("Tag value").first().fill("load");
    await label("Propagation").selectOption({ label: "Fixed status" });
    await button("Create service").click();
    await heading(/^Services/).waitFor();
  });

  await step("the tree shows the status and its cause", async () => {
    await button(`Expand ${SHOP}`).click();
    await row("Services", WEB).getByText("High").waitFor();
    await row("Services", SHOP).getByText("Disaster").waitFor();
    await row("Services", WEB)
      .getByRole("link", { name: /Coolant is low/ })
      .waitFor();
    await page.reload();
    await row("Services", WEB).getByText("High").waitFor();
  });

  await step("search services", async () => {
    await page.getByRole("searchbox", { name: "Search services" }).fill(WEB);
    await row("Services", WEB).waitFor();
    await row("Services", SHOP).waitFor({ state: "detached" });
    await button("Clear filters").first().click();
  });
}

async function agreements() {
  await step("create SLA", async () => {
    await link("SLA").click();
    await heading(/^SLA/).waitFor();
    await link("Create SLA").first().click();
    await heading("Create SLA").waitFor();
    await label("Name").fill(SLA);
    await label("SLO (%)").fill("99.95");
    await label("Reporting period").selectOption({ label: "Daily" });
    await page.getByLabel("Tag name").fill("e2e");
    await page.getByLabel("Tag value").fill(stamp);
    await page.getByRole("radio", { name: "Custom" }).click();
    await page.getByLabel("Saturday").fill("00:00-24:00");
    await page.getByLabel("Sunday").fill("0:00");
    await button("Create SLA").click();
    await page
      .getByText(/^Enter the times of Sunday/)
      .first()
      .waitFor();
    for (const day of ["Sunday", "Monday", "Tuesday", "Wednesday", "Thursday", "Friday"])
      await page.getByLabel(day).fill("00:00-24:00");
    await button("Create SLA").click();
    await row("SLA", SLA).getByText("99.95 %").waitFor();
    await row("SLA", SLA).getByText("24×7").waitFor();
  });

  await step("edit SLA", async () => {
    await dataRows("SLA").getByRole("link", { name: SLA }).click();
    await heading(`Edit ${SLA}`).waitFor();
    await hasValue(label("SLO (%)"), "99.95");
    await button("Add downtime").click();
    await page.getByLabel("Downtime name").fill("Move");
    await page.getByLabel("From", { exact: true }).fill("2026-11-02T10:00");
    await page.getByLabel("To", { exact: true }).fill("2026-11-02T12:00");
    await button("Save SLA").click();
    await heading(/^SLA/).waitFor();
  });

  await step("SLA report", async () => {
    await row("SLA", SLA).getByRole("link", { name: "SLA report" }).click();
    await heading(/^SLA report/).waitFor();
    await row("SLA report", SHOP).waitFor();
    await row("SLA report", SHOP).click();
    await dataRows(`Periods of ${SHOP}`).first().waitFor();
    await page.goBack();
    await row("SLA report", SHOP).waitFor();
  });
}

async function correlation() {
  await step("create correlation", async () => {
    await link("Event correlation").click();
    await link("Create correlation").first().click();
    await heading("Create correlation").waitFor();
    await label("Name").fill(RULE);
    await page.getByLabel("Old tag name").fill("application");
    await page.getByLabel("New tag name").fill("application");
    await button("Create correlation").click();
    await row("Event correlation", RULE)
      .getByText("Old tag application equals new tag application")
      .waitFor();
  });
}

async function remove() {
  await step("delete them", async () => {
    for (const [path, grid, name] of [
      ["/correlation", "Event correlation", RULE],
      ["/sla", "SLA", SLA],
    ]) {
      await go(path);
      await row(grid, name).getByRole("checkbox").click();
      await page.getByRole("button", { name: /^Delete 1 selected/ }).click();
      await page
        .getByRole("dialog")
        .last()
        .getByRole("button", { name: "Delete", exact: true })
        .click();
      await row(grid, name).waitFor({ state: "detached" });
    }
    const found = await call("service.get", {
      output: ["serviceid"],
      filter: { name: [SHOP, WEB] },
    });
    await call(
      "service.delete",
      found.map(({ serviceid }) => serviceid),
    );
  });
}

export default async function () {
  await go("/");
  await trouble();
  await services();
  await agreements();
  await correlation();
  await remove();
}
