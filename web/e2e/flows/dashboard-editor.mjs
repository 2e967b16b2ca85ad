// The dashboard editor: create a dashboard with widgets, move and resize them with the pointer and the keyboard,
// undo, copy, save and read again; a dashboard that changes meanwhile; a user who may only read it; a template's.

import { accessible } from "../axe.mjs";
import {
  base,
  call,
  expect,
  fits,
  go,
  heading,
  link,
  loaded,
  newPage,
  page,
  stamp,
  step,
  until,
} from "../lib.mjs";
import { plainHost } from "../prepare.mjs";

const BOARD = `E2E board ${stamp}`;
const SECRET = `Secret ${stamp}!`;
const button = (name) => page.getByRole("button", { name, exact: true });
const label = (name) => page.getByLabel(name, { exact: false }).first();
const plane = () => page.getByRole("region", { name: "Widgets of the page" });
const handle = (name) => plane().getByRole("button", { name });
const dialog = () => page.getByRole("dialog").last();

async function stored() {
  const [board] = await call("dashboard.get", {
    filter: { name: BOARD },
    selectPages: "extend",
    selectUsers: "extend",
  });
  return board;
}

const widgetsOf = (board, at = 0) =>
  Object.fromEntries(board.pages[at].widgets.map((widget) => [widget.name, widget]));

async function open() {
  const { dashboardid } = await stored();
  await go(`/dashboards/${dashboardid}`);
  await heading(BOARD).waitFor();
}

async function edit() {
  await link("Edit").click();
  await heading(`Edit ${BOARD}`).waitFor();
}

/** Adds a widget of this type; `fill` completes its settings. */
async function add(type, name, fill) {
  await button("Add widget").first().click();
  await dialog().getByLabel("Type", { exact: true }).selectOption({ label: type });
  await dialog().getByLabel("Name", { exact: true }).fill(name);
  await fill?.();
  await button("Apply").click();
  await handle(new RegExp(`^Move ${name}`)).waitFor();
}

async function pick(label, text, option) {
  const search = `Search ${label.toLowerCase()}`;
  await dialog().getByText(`Choose ${label.toLowerCase()}`).first().click();
  await page.getByPlaceholder(search).fill(text);
  await page.getByRole("option", { name: option }).click();
  await page.keyboard.press("Escape");
}

async function create(host) {
  await step("create a dashboard", async () => {
    await go("/dashboards");
    await link("Create dashboard").first().click();
    await heading("Create dashboard").waitFor();
    await button("Create dashboard").click();
    await page.getByText("Enter a name.").first().waitFor();
    await label("Name").fill(BOARD);
    await page.getByLabel("Change pages automatically").uncheck();
    await accessible("of a page without widgets");
  });

  await step("add widgets", async () => {
    await add("Clock", "Time");
    await add("Problems", "Trouble", async () => {
      await pick("Hosts", host, host);
      await dialog().getByLabel("Lines", { exact: true }).fill("0");
      await button("Apply").click();
      await dialog().getByText("Lines: enter a number from 1 to 1000.").waitFor();
      await dialog().getByLabel("Lines", { exact: true }).fill("7");
      await button("Add tag").click();
      await dialog().getByLabel("Tag name").fill("scope");
      await accessible("of the settings of a widget");
    });
    await add("Item value", "Load", () => pick("Item", `${host} load`, /load/));
    const places = await plane()
      .getByRole("button", { name: /^Move/ })
      .evaluateAll((all) => all.map((one) => one.getAttribute("aria-label")));
    expect(places[0] === "Move Time: column 1, row 1", `the first place, not ${places[0]}`);
    expect(places[1] === "Move Trouble: column 13, row 1", `beside it, not ${places[1]}`);
    expect(places[2] === "Move Load: column 49, row 1", `beside both, not ${places[2]}`);
  });
}

async function arrange() {
  await step("move a widget with the pointer", async () => {
    await handle(/^Move Load/).scrollIntoViewIfNeeded();
    const box = await handle(/^Move Load/).boundingBox();
    await page.mouse.move(box.x + 20, box.y + 10);
    await page.mouse.down();
    await page.mouse.move(box.x + 20, box.y + 10 + 70 * 5, { steps: 5 });
    await page.mouse.up();
    await handle("Move Load: column 49, row 6").waitFor();
    await button("Undo").click();
    await handle("Move Load: column 49, row 1").waitFor();
    await button("Redo").click();
    await handle("Move Load: column 49, row 6").waitFor();
  });

  await step("move and resize with the keyboard", async () => {
    await handle(/^Move Load/).press("ArrowLeft");
    await handle("Move Load: column 48, row 6").press("Shift+ArrowLeft");
    await handle("Move Load: column 42, row 6").waitFor();
    await handle(/^Resize Time/).press("Shift+ArrowRight");
    await handle("Resize Time: 18 columns, 3 rows").press("ArrowDown");
    await handle("Resize Time: 18 columns, 4 rows").waitFor();
    // The widget that it covers moves down, and pushes the next one.
    await handle("Move Trouble: column 13, row 5").waitFor();
    await handle("Move Load: column 42, row 10").waitFor();
    await accessible("of the editor");
  });

  await step("copy and paste a widget", async () => {
    await button("More for Load").click();
    await button("Copy").click();
    await button("Paste widget").click();
    await until("two widgets", async () => (await handle(/^Move Load/).count()) === 2);
    await handle(/^Move Load/)
      .last()
      .press("Delete");
    await until("one widget", async () => (await handle(/^Move Load/).count()) === 1);
  });

  await step("add a page", async () => {
    await button("Add page").click();
    await page.getByText("This page has no widgets").waitFor();
    await label("Name of the page").fill("Second");
    await page.getByRole("tab", { name: "Second" }).waitFor();
    await page.getByRole("tab", { name: "Page 1" }).click();
    await handle(/^Move Time/).waitFor();
  });

  await step("save", async () => {
    await button("Create dashboard").click();
    await heading(BOARD).waitFor();
    const board = await stored();
    expect(board.auto_start === "0" && board.private === "1", "no slide show, private");
    const { Time, Trouble, Load } = widgetsOf(board);
    expect(Time.width === "18" && Time.height === "4", "the size of the clock");
    expect(Trouble.y === "4" && Load.x === "41" && Load.y === "9", "the places of the others");
    const fields = Object.fromEntries(Trouble.fields.map(({ name, value }) => [name, value]));
    expect(fields.show_lines === "7" && fields["tags.0.tag"] === "scope", JSON.stringify(fields));
    expect(fields["hostids.0"] !== undefined && fields.reference !== undefined, "host, reference");
    expect(
      Load.fields.some(({ type }) => type === "4"),
      "an item",
    );
    expect(board.pages[1].name === "Second", "the second page");
  });
}

async function change() {
  await step("read again", async () => {
    await open();
    await page.getByRole("heading", { name: "Trouble" }).waitFor();
    await button("Start slide show").click();
    await button("Pause slide show").click();
    await button("Start slide show").waitFor();
    await accessible("of the dashboard");
    await edit();
    await handle("Resize Time: 18 columns, 4 rows").waitFor();
    await handle("Move Load: column 42, row 10").waitFor();
  });

  await step("settings of an existing widget, and a source", async () => {
    await add("Host navigator", "Hosts");
    await button("Settings of Trouble").click();
    await dialog().getByLabel("Override host").selectOption({ label: "Hosts" });
    await dialog().getByLabel("Column", { exact: true }).fill("20");
    await button("Apply").click();
    await handle("Move Trouble: column 20, row 5").waitFor();
    await button("Save dashboard").click();
    await heading(BOARD).waitFor();
    const { Hosts, Trouble } = widgetsOf(await stored());
    const reference = Hosts.fields.find(({ name }) => name === "reference")?.value;
    const override = Trouble.fields.find(({ name }) => name === "override_hostid._reference");
    expect(override?.value === `${reference}._hostid`, `a reference to ${reference}`);
  });

  await step("a dashboard that changed meanwhile", async () => {
    await edit();
    await label("Name").fill(`${BOARD} renamed`);
    const { dashboardid } = await stored();
    await call("dashboard.update", { dashboardid, display_period: 60 });
    await button("Save dashboard").click();
    await dialog().getByText("display_period").waitFor();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await label("Name").fill(BOARD);
    await button("Save dashboard").click();
    await dialog().getByRole("button", { name: "Overwrite" }).click();
    await heading(BOARD).waitFor();
    expect((await stored()).display_period === "30", "the draft's period");
  });

  await step("leaving with unsaved changes", async () => {
    await edit();
    await handle(/^Move Time/).press("Delete");
    await link("Dashboards").first().click();
    await dialog().getByRole("button", { name: "Cancel" }).click();
    await heading(`Edit ${BOARD}`).waitFor();
    await link("Dashboards").first().click();
    await dialog().getByRole("button", { name: "Discard changes" }).click();
    await heading(/^Dashboards/).waitFor();
    expect(widgetsOf(await stored()).Time !== undefined, "the clock is stored");
  });
}

async function read() {
  await step("host in the address, kiosk mode", async () => {
    const { dashboardid, pages } = await stored();
    const fields = [{ type: 1, name: "hostids._reference", value: "DASHBOARD._hostid" }];
    const second = { widgets: [{ type: "problems", width: 36, height: 5, fields }] };
    const [{ dashboard_pageid }, { dashboard_pageid: other }] = pages;
    await call("dashboard.update", {
      dashboardid,
      pages: [{ dashboard_pageid }, { dashboard_pageid: other, ...second }],
    });
    await go(`/dashboards/${dashboardid}?page=${other}&kiosk=1`);
    await heading(BOARD).waitFor();
    await page.getByRole("tab", { name: "Second", selected: true }).waitFor();
    expect((await page.getByRole("navigation", { name: "Main" }).count()) === 0, "no menu");
    await page.getByRole("button", { name: "Hosts", exact: true }).click();
    await page.getByPlaceholder("Search hosts").fill("e2e-board");
    await page.getByRole("option", { name: /e2e-board/ }).click();
    await page.waitForURL(/host=\d+/);
    await page.keyboard.press("Escape");
    await page.keyboard.press("Escape");
    await page.getByRole("navigation", { name: "Main" }).waitFor();
    expect(!page.url().includes("kiosk"), "the address without kiosk mode");
  });

  await step("a user who may only read it", async () => {
    const { dashboardid } = await stored();
    const who = `e2e-reader-${stamp}`;
    const { usrgrpids } = await call("usergroup.create", { name: who });
    const { userids } = await call("user.create", {
      username: who,
      passwd: SECRET,
      roleid: "1",
      usrgrps: [{ usrgrpid: usrgrpids[0] }],
    });
    await call("dashboard.update", {
      dashboardid,
      users: [{ userid: userids[0], permission: 2 }],
    });
    const other = await newPage();
    await other.goto(`${base}/dashboards/${dashboardid}`);
    await other.getByLabel("User name").fill(who);
    await other.getByLabel("Password").fill(SECRET);
    await other.getByRole("button", { name: "Sign in" }).click();
    await other.getByRole("heading", { level: 1, name: BOARD }).waitFor();
    await other.getByRole("link", { name: "Clone", exact: true }).waitFor();
    const links = other.getByRole("link", { name: "Edit", exact: true });
    expect((await links.count()) === 0, "no way to the editor");
    await other.goto(`${base}/dashboards/${dashboardid}/edit`);
    await other.getByText("You can read this dashboard, but not change it").waitFor();
    await other.context().close();
  });

  await step("clone", async () => {
    await open();
    await link("Clone").click();
    await heading("Create dashboard").waitFor();
    await handle(/^Move Trouble/).waitFor();
    await label("Name").fill(`${BOARD} clone`);
    await button("Create dashboard").click();
    await heading(`${BOARD} clone`).waitFor();
  });
}

async function ofTemplate() {
  await step("dashboard of a template", async () => {
    const of = await call("templategroup.create", { name: `E2E boards ${stamp}` });
    const { templateids } = await call("template.create", {
      host: `E2E board template ${stamp}`,
      groups: [{ groupid: of.groupids[0] }],
    });
    const [templateid] = templateids;
    const item = { hostid: templateid, key_: "pressure", type: 2, value_type: 0 };
    await call("item.create", { ...item, name: "Pressure" });
    await go(`/templates/${templateid}?tab=dashboards`);
    await link("Create dashboard").click();
    await label("Name").fill("Boiler");
    await add("Gauge", "Steam", () => pick("Item", "press", /Pressure/));
    await button("Create dashboard").click();
    await link("Boiler").click();
    await heading("Edit Boiler").waitFor();
    await handle(/^Move Steam/).press("ArrowRight");
    await button("Save dashboard").click();
    await link("Boiler").waitFor();
    const [{ pages }] = await call("templatedashboard.get", {
      templateids,
      selectPages: "extend",
    });
    expect(pages[0].widgets[0].x === "1", "the gauge was moved");
    await link("Boiler").click();
    await button("Delete dashboard…").click();
    await dialog()
      .getByRole("button", { name: /^Delete/ })
      .click();
    await page.getByText("This template has no dashboards").waitFor();
  });
}

async function look() {
  const { dashboardid } = await stored();
  for (const [width, height, tone] of [
    [1280, 900, "dark"],
    [390, 844, "light"],
  ]) {
    for (const path of [`/dashboards/${dashboardid}`, `/dashboards/${dashboardid}/edit`]) {
      await step(
        `${path.endsWith("edit") ? "editor" : "dashboard"} ${tone} at ${width}`,
        async () => {
          await page.setViewportSize({ width, height });
          await page.evaluate((chosen) => {
            localStorage["vedette.theme"] = chosen;
          }, tone);
          await go(path);
          await page.getByText("Trouble").first().waitFor();
          await loaded();
          await fits();
          await accessible(`${tone} at ${width}`);
        },
      );
    }
  }
}

export default async function () {
  await go("/");
  const { host, hostid } = await plainHost("e2e-board");
  await call("item.create", { hostid, name: "load", key_: "load", type: 2, value_type: 0 });
  await create(host);
  await arrange();
  await change();
  await read();
  await ofTemplate();
  await look();
}
