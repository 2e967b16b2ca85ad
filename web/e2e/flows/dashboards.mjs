// Dashboards: the list, one with widgets, and that of a template on the page of its host.

import { accessible } from "../axe.mjs";
import { call, expect, fits, go, heading, loaded, page, step } from "../lib.mjs";
import { allWidgets, PAGES } from "../widgets.mjs";

/** A host below a template with a dashboard; returns its id. */
async function hostWithDashboard() {
  const of = await call("templategroup.create", { name: "Boards" });
  const template = await call("template.create", {
    host: "Board template",
    groups: [{ groupid: of.groupids[0] }],
  });
  const templateid = template.templateids[0];
  const item = await call("item.create", {
    hostid: templateid,
    name: "Load of the board",
    key_: "board",
    type: 2,
    value_type: 0,
  });
  const fields = [{ type: 4, name: "itemid.0", value: item.itemids[0] }];
  await call("templatedashboard.create", {
    templateid,
    name: "Board of the template",
    pages: [{ widgets: [{ type: "item", name: "Load", width: 24, height: 3, fields }] }],
  });
  const groups = await call("hostgroup.create", { name: "Board hosts" });
  const host = await call("host.create", {
    host: "board host",
    groups: [{ groupid: groups.groupids[0] }],
    templates: [{ templateid }],
  });
  return host.hostids[0];
}

/** Every kind on one page: what it shows, on screens of all sizes, in light and dark. */
async function everyKind() {
  const { dashboardid, all } = await allWidgets();
  await page.setViewportSize({ width: 1280, height: 800 });
  await go(`/dashboards/${dashboardid}`);
  await heading("Every kind").waitFor();
  const turnTo = async (at) => page.getByRole("tab", { name: PAGES[at] }).click();
  for (const { widget, at, shows } of all) {
    await step(`kind ${widget.name}`, async () => {
      await turnTo(at);
      const body = page.getByRole("region", { name: widget.name, exact: true });
      await body.scrollIntoViewIfNeeded();
      await (shows
        ? body.getByText(shows).filter({ visible: true }).first()
        : body.locator("svg, table, p, ul").first()
      ).waitFor();
    });
  }
  await step("a selection reaches the widgets that listen", async () => {
    const of = (type) => all.find(({ widget }) => widget.type === type).widget.name;
    await turnTo(all.find(({ widget }) => widget.type === "hostnavigator").at);
    const hosts = page.getByRole("region", { name: of("hostnavigator"), exact: true });
    await hosts.scrollIntoViewIfNeeded();
    await hosts.getByRole("button", { name: "widget-2" }).click();
    const problems = page.getByRole("region", { name: of("problems"), exact: true });
    await problems.getByText("No problems match").waitFor();
  });
  for (const [theme, width, height, at] of [
    ["light", 1280, 3800, 0],
    ["light", 1280, 3800, 1],
    ["dark", 1280, 3800, 0],
    ["dark", 1280, 3800, 1],
    ["light", 390, 9000, 0],
    ["light", 390, 9000, 1],
  ]) {
    await step(`${PAGES[at]}, ${theme} at ${width}`, async () => {
      await page.evaluate((value) => localStorage.setItem("vedette.theme", value), theme);
      await page.setViewportSize({ width, height });
      await page.reload();
      await heading("Every kind").waitFor();
      await turnTo(at);
      await loaded();
      await fits();
      await accessible(`${theme} at ${width}`);
    });
  }
  await page.evaluate(() => localStorage.removeItem("vedette.theme"));
}

export default async function () {
  const hostid = await hostWithDashboard();
  const url = [{ type: 1, name: "url", value: "https://example.com/board" }];
  await call("dashboard.create", {
    name: "Operations",
    auto_start: 0,
    pages: [
      {
        name: "First",
        widgets: [
          { type: "problems", width: 36, height: 6 },
          { type: "problemsbysv", x: 36, width: 20, height: 6 },
          { type: "clock", name: "Time", x: 56, width: 16, height: 6 },
          { type: "honeycomb", y: 6, width: 36, height: 4 },
          { type: "url", y: 6, x: 36, width: 36, height: 4, fields: url },
        ],
      },
      { name: "Second", widgets: [{ type: "item", width: 24, height: 4 }] },
    ],
  });

  await step("list", async () => {
    await go("/dashboards");
    await heading(/^Dashboards/).waitFor();
    await page.getByRole("link", { name: "Operations" }).click();
    await heading("Operations").waitFor();
  });

  await step("widgets", async () => {
    await page.getByRole("heading", { name: "Problems by severity" }).waitFor();
    await page.getByText("No items are chosen").waitFor();
    const address = page.getByRole("link", { name: /example\.com/ });
    expect((await address.getAttribute("rel")).includes("noopener"), "the address opens apart");
  });

  await step("pages", async () => {
    await page.getByRole("tab", { name: "Second" }).click();
    await page.getByText("No items are chosen").waitFor();
    await page.getByRole("tab", { name: "First" }).click();
  });

  for (const [width, height] of [
    [1280, 800],
    [390, 844],
  ]) {
    await step(`accessible at ${width}`, async () => {
      await page.setViewportSize({ width, height });
      await loaded();
      await fits();
      await accessible(`at ${width}`);
    });
  }

  await step("dashboards of a host", async () => {
    await page.setViewportSize({ width: 1280, height: 800 });
    await go(`/hosts/${hostid}?tab=dashboards`);
    await page.getByRole("heading", { name: "Load", exact: true }).waitFor();
    await page.getByTitle("board host: Load of the board").waitFor();
    await page.getByText("No value", { exact: true }).waitFor();
    await accessible("of a host");
  });

  await everyKind();
}
