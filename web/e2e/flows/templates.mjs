// Templates: imported in the order of their dependencies, created, deleted.

import { dataRows, expect, go, hasValue, heading, link, page, stamp, step } from "../lib.mjs";

const BASE_TEMPLATE = `zabbix_export:
  version: '7.0'
  template_groups:
    - uuid: 7df96b18c230490a9a0a9e2307226338
      name: Templates
  templates:
    - uuid: ${"e2e0000000004000a000000000000001".slice(0, 32)}
      template: 'E2E template'
      name: 'E2E template'
      groups:
        - name: Templates
      items:
        - uuid: e2e0000000004000a000000000000002
          name: 'Requests ${stamp}'
          type: TRAP
          key: e2e.requests
          delay: '0'
`;
/** Needs the template above. */
const TOP_TEMPLATE = `zabbix_export:
  version: '7.0'
  template_groups:
    - uuid: 7df96b18c230490a9a0a9e2307226338
      name: Templates
  templates:
    - uuid: e2e0000000004000a000000000000003
      template: 'E2E top template'
      name: 'E2E top template'
      templates:
        - name: 'E2E template'
      groups:
        - name: Templates
`;

const button = (name) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");

async function createTemplate() {
  const name = `e2e template ${stamp}`;
  await step("create template", async () => {
    await go("/templates");
    await button("Create template").click();
    await dialog().getByLabel("Template name").fill(name);
    await dialog()
      .getByRole("button", { name: /^Template groups/ })
      .click();
    await page
      .getByRole("listbox", { name: "Template groups" })
      .getByRole("option")
      .first()
      .click();
    await page.keyboard.press("Escape");
    await dialog().getByRole("button", { name: "Save template" }).click();
    await heading(new RegExp(name)).waitFor();
  });

  await step("create item of a template", async () => {
    await link("Create item").click();
    await page.getByLabel("Name").first().fill("Answer time");
    await page.getByLabel("Type", { exact: true }).selectOption({ label: "HTTP agent" });
    await page.getByRole("textbox", { name: /^Key( \*)?$/ }).fill("answer.time");
    await page.getByRole("textbox", { name: /^URL/ }).fill("http://{HOST.CONN}/health");
    await page.getByLabel("Headers").fill("Accept: application/json");
    await button("Create item").click();
    await link("Answer time").click();
    await hasValue(page.getByLabel("Headers"), "Accept: application/json");
    await button("Cancel").click();
  });

  await step("delete template", async () => {
    await button("Delete template").click();
    await dialog().getByRole("button", { name: "Delete", exact: true }).click();
    await heading(/^Templates/).waitFor();
  });
}

export default async function () {
  await step("templates", async () => {
    await link("Templates").click();
    await heading(/^Templates/).waitFor();
    await dataRows("Templates").first().waitFor();
  });

  await step("template import preview", async () => {
    await page.getByRole("button", { name: "Import", exact: true }).click();
    const file = (name, text) => ({
      name,
      mimeType: "application/yaml",
      buffer: Buffer.from(text),
    });
    await page
      .getByLabel("Files to import")
      .setInputFiles([
        file("a-top.yaml", TOP_TEMPLATE),
        file("b-broken.yaml", "zabbix_export: ["),
        file("c-base.yaml", BASE_TEMPLATE),
      ]);
    await page.getByRole("list", { name: "Changes" }).getByText("E2E template").first().waitFor();
  });

  await step("template import", async () => {
    await page.getByRole("button", { name: /^Import \d+ change/ }).click();
    const report = page.getByRole("status").filter({ hasText: "files imported" });
    await report.getByText("2 of 3 files imported.").waitFor();
    await report.getByText(/^b-broken.yaml: /).waitFor();
    expect((await report.getByText(/^a-top.yaml: /).count()) === 0, "the order of the files");
    await page.getByRole("button", { name: "Done" }).click();
  });

  await step("template page", async () => {
    await page.getByRole("searchbox", { name: "Search templates" }).fill("E2E template");
    await dataRows("Templates").getByRole("link", { name: "E2E template" }).click();
    await heading(/E2E template/).waitFor();
    await page.getByText("e2e.requests").waitFor();
  });

  await createTemplate();
}
