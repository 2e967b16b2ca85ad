// Walks through the pages in a real Chromium, checks what is on them by role and label, and takes a
// picture of each.
//
//   BASE_URL=http://127.0.0.1:8080 USER=Admin PASSWORD=… OUT=/tmp/pictures node e2e/flows.mjs
//
// CHROMIUM names the browser (default /usr/bin/chromium), THEME is light or dark, HOST the visible
// name of a host with an agent (default: the first one that is not Vedette itself), TROUBLE the name of
// one with an open problem and PROBLEM what that is called (without them nothing is silenced), ONLY
// runs the steps whose name contains it. Creates things named "e2e …" and deletes most of them again.

import { configure, testAgainst } from "./configure.mjs";
import { discovery } from "./discovery.mjs";
import { forms } from "./forms.mjs";
import { leaving } from "./leaving.mjs";
import {
  base,
  dataRows,
  drawn,
  expect,
  finish,
  fits,
  go,
  heading,
  link,
  only,
  page,
  password,
  stamp,
  step,
  user,
} from "./lib.mjs";
import { look } from "./look.mjs";
import { maintenance } from "./maintenance.mjs";
import { roles } from "./roles.mjs";
import { webScenario } from "./web.mjs";

await step("sign in refused", async () => {
  await go("/");
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(`${password}-wrong`);
  await page.getByRole("button", { name: "Sign in" }).click();
  await page.getByRole("alert").waitFor();
});

await step("sign in", async () => {
  if (only) await go("/");
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading("Overview").waitFor();
});

let host = process.env.HOST;

await step("overview", async () => {
  await go("/");
  const tiles = page.getByRole("region", { name: "Open problems by severity" });
  for (const name of ["Disaster", "High", "Average", "Warning", "Information", "Not classified"]) {
    await tiles.getByRole("link", { name: new RegExp(`^${name} [0-9]`) }).waitFor();
  }
  await page.getByRole("heading", { name: "Newest problems" }).waitFor();
  await page.getByRole("group", { name: "Hosts by highest severity" }).waitFor();
  await page.getByRole("heading", { name: "Last changes" }).waitFor();
  await drawn(page.getByRole("figure", { name: "New values per second" }));
});

await step("hosts", async () => {
  await link("Hosts").click();
  await heading(/^Hosts/).waitFor();
  await dataRows("Hosts").first().waitFor();
  const names = await dataRows("Hosts").getByRole("link").allTextContents();
  host ??= names.find((name) => name !== "Vedette" && name.trim() !== "");
  expect(host, "no host besides Vedette");
});

await step("hosts search", async () => {
  await page.getByRole("searchbox", { name: "Search hosts" }).fill(host);
  await page.waitForURL(/text=/);
  await dataRows("Hosts").filter({ hasText: host }).first().waitFor();
});

await step("host page", async () => {
  await dataRows("Hosts").getByRole("link", { name: host, exact: true }).first().click();
  await heading(new RegExp(host)).waitFor();
  await page.getByRole("heading", { name: "Open problems" }).waitFor();
  await drawn(page.getByRole("figure", { name: new RegExp(`of ${host}$`) }));
});

await step("host latest data", async () => {
  await page.getByRole("tab", { name: /Latest data/ }).click();
  await dataRows("Items").nth(3).waitFor();
});

await step("host triggers", async () => {
  await page.getByRole("tab", { name: /Triggers/ }).click();
  await page.getByRole("columnheader", { name: "Expression" }).waitFor();
});

await step("host discovery rules", async () => {
  await page.getByRole("tab", { name: /Discovery rules/ }).click();
  await page
    .getByRole("columnheader", { name: "Item prototypes" })
    .or(page.getByText("No discovery rules"))
    .first()
    .waitFor();
});

if (process.env.HOST) await testAgainst(host);

await step("latest data", async () => {
  await link("Latest data").click();
  await heading(/^Latest data/).waitFor();
  await dataRows("Items").nth(5).waitFor();
});

await step("latest data search", async () => {
  await page.getByRole("searchbox", { name: "Search names and keys" }).fill("cpu");
  await page.waitForURL(/text=cpu/);
  await dataRows("Items").first().filter({ hasText: /cpu/i }).waitFor();
  await dataRows("Items").nth(0).getByRole("checkbox").check();
  await dataRows("Items").nth(1).getByRole("checkbox").check();
  await page.getByText("2 items selected").waitFor();
});

await step("graph of selected", async () => {
  await link("Show graph").click();
  await page.waitForURL(/\/graph\?items=\d+,\d+/);
  await drawn(page.getByRole("figure"));
  await page.getByRole("columnheader", { name: "Avg" }).first().waitFor();
});

await step("graph range", async () => {
  await page.getByRole("button", { name: "Time range" }).click();
  await page.getByLabel("From").fill("now-3h");
  await page.getByRole("button", { name: "Apply" }).click();
  await page.waitForURL(/from=now-3h/);
  await page.getByRole("button", { name: "Time range" }).getByText("Last 3 hours").waitFor();
  await page.getByRole("button", { name: "Time range" }).click();
});

await step("graph zoom", async () => {
  await page.keyboard.press("Escape");
  const chart = page.getByRole("figure").first();
  const box = await chart.boundingBox();
  await page.mouse.move(box.x + box.width * 0.6, box.y + 60);
  await page.mouse.down();
  await page.mouse.move(box.x + box.width * 0.9, box.y + 80, { steps: 6 });
  await page.mouse.up();
  await page.waitForURL(/from=\d{10}&to=\d{10}/);
  await page.mouse.move(box.x + box.width * 0.5, box.y + 80);
});

await step("graph tooltip only where lines are drawn", async () => {
  const items = new URL(page.url()).searchParams.get("items");
  await go(`/graph?items=${items}&from=now-3h&to=now`);
  const figure = page.getByRole("figure").first();
  await drawn(figure);
  await page.waitForTimeout(500);
  const box = await figure.locator(".u-over").boundingBox();
  await page.mouse.move(box.x + box.width - 4, box.y + 60);
  await figure.getByRole("tooltip").waitFor();
  await page.mouse.move(box.x + box.width * 0.3, box.y + 60);
  await figure.getByRole("tooltip").waitFor({ state: "hidden" });
});

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

const problemRows = dataRows("Problems");
const someProblems = async () => {
  await page.waitForTimeout(800);
  return (await problemRows.count()) > 0;
};

await step("problem drawer", async () => {
  if (!(await someProblems())) return;
  await problemRows.first().getByRole("gridcell").nth(1).click();
  await page.waitForURL(/event=\d+/);
  await page
    .getByRole("complementary", { name: "Problem" })
    .getByText("Messages and actions")
    .waitFor();
});

await step("problem message", async () => {
  if (!(await someProblems())) return;
  const drawer = page.getByRole("complementary", { name: "Problem" });
  await drawer.getByLabel("Message").fill(`e2e looked at it ${stamp}`);
  await drawer.getByRole("button", { name: "Send message" }).click();
  await drawer.getByText(`e2e looked at it ${stamp}`).waitFor();
});

await step("problem acknowledge", async () => {
  if (!(await someProblems())) return;
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
  if (!(await someProblems())) return;
  await page.getByRole("checkbox", { name: "Select all rows" }).check();
  await page.getByRole("button", { name: "Update…" }).click();
  await page.getByRole("dialog").getByLabel("Severity").waitFor();
});

await step("templates", async () => {
  await page.keyboard.press("Escape");
  await link("Templates").click();
  await heading(/^Templates/).waitFor();
  await dataRows("Templates").first().waitFor();
});

const TEMPLATE = `zabbix_export:
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
      file("c-base.yaml", TEMPLATE),
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

if (process.env.TROUBLE) await maintenance(process.env.TROUBLE, process.env.PROBLEM);

await discovery("Vedette", new URL(base).port);

const newHost = `e2e-${stamp}`;

await step("create host", async () => {
  await go("/hosts/new");
  await page.getByLabel("Host name").fill(newHost);
  await page.getByRole("button", { name: /^Host groups/ }).click();
  await page.getByRole("listbox", { name: "Host groups" }).getByRole("option").first().click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: /^Templates/ }).click();
  await page.getByLabel("Search templates").fill("E2E template");
  await page.getByRole("option", { name: "E2E template" }).click();
  await page.keyboard.press("Escape");
  await page.getByRole("button", { name: "Add tag" }).click();
  await page.getByLabel("Tag name").fill("e2e");
  await page.getByRole("button", { name: "Add macro" }).click();
  await page.getByLabel("Macro", { exact: true }).fill("{$E2E}");
});

await step("host created", async () => {
  await page.getByRole("button", { name: "Create host" }).click();
  await heading(new RegExp(newHost)).waitFor();
});

await step("create item", async () => {
  await link("Create item").click();
  await page.getByLabel("Name", { exact: false }).first().fill("Temperature");
  await page.getByLabel("Type", { exact: true }).selectOption({ label: "Trapper" });
  await page.getByRole("textbox", { name: /^Key( \*)?$/ }).fill("room.temperature");
  await page.getByLabel("Value type").selectOption({ label: "Number (float)" });
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByLabel("Step 1").selectOption({ label: "JSONPath" });
  await page.getByLabel("Path").fill("$.celsius");
  await page.getByRole("button", { name: "Add step" }).click();
  await page.getByLabel("Step 2").selectOption({ label: "Custom multiplier" });
  await page.getByLabel("Factor").fill("0.1");
});

await step("item created", async () => {
  await page.getByRole("button", { name: "Create item" }).click();
  await dataRows("Items").filter({ hasText: "Temperature" }).waitFor();
});

await step("edit item", async () => {
  const row = dataRows("Items").filter({ hasText: "Temperature" });
  await row.hover();
  await row.getByRole("link", { name: "Edit Temperature" }).click();
  await page.getByLabel("Path").waitFor();
  expect(
    (await page.getByLabel("Path").inputValue()) === "$.celsius",
    "the step came back otherwise",
  );
  await page.getByLabel("Units").fill("°C");
  await page.getByRole("button", { name: "Save item" }).click();
  await dataRows("Items").filter({ hasText: "Temperature" }).waitFor();
});

await step("edit host", async () => {
  await link("Edit host").click();
  await page.getByLabel("Visible name").fill(`E2E host ${stamp}`);
  await page.getByRole("button", { name: "Save host" }).click();
  await heading(new RegExp(`E2E host ${stamp}`)).waitFor();
});

await configure(`E2E host ${stamp}`, newHost);
await webScenario(`E2E host ${stamp}`);

await step("delete host", async () => {
  await page.getByRole("button", { name: "More actions" }).click();
  await page.getByRole("button", { name: "Delete host…" }).click();
  await page.getByRole("dialog").getByRole("button", { name: "Delete host" }).click();
  await heading(/^Hosts/).waitFor();
});

await step("queue", async () => {
  await link("Queue").click();
  await heading(/^Queue/).waitFor();
  await page.getByText("Over 10 min").waitFor();
  await page.getByRole("grid", { name: "Delayed items" }).waitFor();
});

await step("health", async () => {
  await link("Vedette's health").click();
  await heading("Vedette's health").waitFor();
  await page.getByRole("heading", { name: "Process utilisation" }).waitFor();
  await drawn(page.getByRole("figure", { name: "Values per second" }));
});

await step("capacity", async () => {
  await link("Capacity").click();
  await heading("Capacity").waitFor();
  await page.getByRole("cell", { name: /^Memory/ }).waitFor();
  await page.getByText("vedette bench capacity").first().waitFor();
});

await step("users and tokens", async () => {
  await link("Users and tokens").click();
  await page.getByRole("cell", { name: user }).first().waitFor();
});

await step("queue by type", async () => {
  await go("/queue?by=types");
  await page
    .getByRole("columnheader", { name: "Total" })
    .or(page.getByText("Nothing is overdue"))
    .first()
    .waitFor();
  await go("/users");
});

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
  await page.keyboard.press("g");
  await page.keyboard.press("p");
  await heading(/^Problems/).waitFor();
});

await step("dark", async () => {
  await page.getByRole("button", { name: "Theme" }).click();
  await page.getByRole("button", { name: "Dark" }).click();
  expect((await page.locator("html").getAttribute("data-theme")) === "dark", "not dark");
  await go("/");
  await heading("Overview").waitFor();
  await drawn(page.getByRole("figure", { name: "New values per second" }));
});

await step("bookmark of another interface", async () => {
  await go("/zabbix/zabbix.php?action=problem.view&severities[4]=4&name=load");
  await heading(/^Problems/).waitFor();
  await page.waitForURL(/\/problems\?severity=4&text=load$/);
});

await step("no such page", async () => {
  await go("/no/such/page");
  await page.getByText("Page not found").waitFor();
});

await step("narrow window", async () => {
  await page.setViewportSize({ width: 1280, height: 800 });
  await go("/problems");
  await page.getByRole("grid", { name: "Problems" }).waitFor();
  await fits();
});

await leaving();
if (process.env.PROBLEM) await roles(process.env.PROBLEM);

await look(host);
await forms(user);

await step("sign out", async () => {
  await page.getByRole("button", { name: /Signed in as/ }).click();
  await page.getByRole("button", { name: "Sign out" }).click();
  await page.getByRole("heading", { name: "Sign in to Vedette" }).waitFor();
});

await finish();
