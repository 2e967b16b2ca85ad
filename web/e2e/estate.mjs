// A large estate: exact counts, first rows, lists by windows, a storm of problems, twenty tabs over
// HTTP/2, a server that goes down. Started by tests/browser/test_estate.py, which fills the server and makes the storm.

import {
  base,
  call,
  dataRows,
  expect,
  finish,
  go,
  heading,
  page,
  password,
  step,
  until,
  user,
} from "./lib.mjs";

const context = page.context();
const problems = Number(process.env.PROBLEMS);
const silent = Number(process.env.SILENT);
const digits = (text) => Number(text.replace(/\D/g, ""));

let largest = 0;
let cancelled = 0;
page.on("response", async (response) => {
  if (!response.url().endsWith("/api_jsonrpc.php")) return;
  const body = await response.body().catch(() => "");
  largest = Math.max(largest, body.length);
});
page.on("requestfailed", (request) => {
  if (request.url().endsWith("/api_jsonrpc.php")) cancelled++;
});

await step("sign in", async () => {
  await go("/");
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading("Overview").waitFor();
});

await step("overview counts exactly", async () => {
  const without = page.getByRole("listitem").filter({ hasText: "without data" });
  await until("hosts without data", async () => digits(await without.textContent()) === silent);
  const tiles = page.getByRole("region", { name: "Open problems by severity" });
  for (const name of ["Disaster", "High", "Average", "Warning"]) {
    const tile = tiles.getByRole("link", { name: new RegExp(`^${name} `) });
    const counted = async () => digits(await tile.textContent()) === problems / 4;
    await until(`${name} problems`, counted);
  }
});

await step("hosts are grey without data and show each severity", async () => {
  await go("/hosts");
  const grid = page.getByRole("grid", { name: "Hosts" });
  const first = dataRows("Hosts").filter({ hasText: "node-00000" });
  await first
    .getByRole("link", { name: /1[23] ?disaster 1[23] ?high 1[23] ?average 1[23] ?warning/ })
    .waitFor();
  await grid.evaluate((element) => element.scrollTo(0, 36 * 10_000));
  const late = dataRows("Hosts").filter({ hasText: "node-10005" });
  await late.getByText("No data").first().waitFor();
});

/** Limits the time from the request of a page to its first row: the best of three, because the machine may be busy. */
async function firstRowWithin(limit, path, grid) {
  const seconds = [];
  for (let n = 0; n < 3; n++) {
    const start = Date.now();
    await go(path);
    await dataRows(grid).first().getByRole("link").first().waitFor();
    seconds.push((Date.now() - start) / 1000);
  }
  console.log(`${grid}: first row after ${seconds.join(", ")} s`);
  expect(Math.min(...seconds) < limit, `${grid}: first row after ${Math.min(...seconds)} s`);
}

await step("first rows of hosts", () => firstRowWithin(2, "/hosts", "Hosts"));

await step("first rows of latest data", () => firstRowWithin(2, "/latest", "Items"));

await step("maintenance is a list by windows", async () => {
  const count = 2_000;
  const [group] = await call("hostgroup.get", { output: ["groupid"], limit: 1 });
  // Expired since 2001, except for the last one.
  const expired = { active_since: 978307200, active_till: 978393600 };
  const ahead = { active_since: 2145830400, active_till: 2145916799 };
  const rows = Array.from({ length: count }, (_, n) => ({
    name: `window ${String(n).padStart(4, "0")}`,
    ...(n === count - 1 ? ahead : expired),
    groups: [{ groupid: group.groupid }],
    timeperiods: [{ timeperiod_type: 2, every: 1, start_time: 0, period: 3600 }],
  }));
  await call("maintenance.create", rows);
  await go("/maintenance");
  await heading(/^Maintenance/)
    .getByText(/2.000/)
    .waitFor();
  // The planned one is above those that are over.
  await dataRows("Maintenance").first().getByText("window 1999").first().waitFor();
  largest = 0;
  await go("/maintenance");
  await dataRows("Maintenance").first().getByText("window 1999").first().waitFor();
  await page.getByRole("grid", { name: "Maintenance" }).evaluate((grid) => grid.scrollTo(0, 2e6));
  await dataRows("Maintenance").filter({ hasText: "window 1998" }).waitFor();
  expect(largest < 200_000, `an answer of ${largest} bytes`);
  await page.getByRole("radio", { name: "Planned" }).click();
  await dataRows("Maintenance").filter({ hasText: "window 1999" }).waitFor();
  await until("one row", async () => (await dataRows("Maintenance").count()) === 1);
  await page.getByRole("radio", { name: "All" }).click();
  await page.getByLabel("Select all rows").click();
  await page.getByRole("button", { name: /^Delete 1.000 selected/ }).waitFor();
});

await step("problems are selected without all ids", async () => {
  await go("/problems");
  await dataRows("Problems").first().getByRole("link").first().waitFor();
  largest = 0;
  await page.getByLabel("Select all rows").click();
  await page.getByText(/^first 1.000 of/).waitFor();
  await page.getByRole("grid", { name: "Problems" }).evaluate((grid) => grid.scrollTo(0, 2e6));
  await dataRows("Problems").nth(5).getByRole("link").first().waitFor();
  expect(largest < 500_000, `an answer of ${largest} bytes`);
  await page.getByRole("button", { name: "Deselect" }).click();
});

// The host of the server may have problems, too.
await step("problems are grouped by host", async () => {
  largest = 0;
  await go("/problems?by=host");
  const first = dataRows("Grouped problems").first();
  await first.getByText(/^node-/).waitFor();
  await page.getByText(/^The 1.000 worst of 2.00[01] groups/).waitFor();
  await first.getByText("50", { exact: true }).first().waitFor();
  expect(largest < 500_000, `an answer of ${largest} bytes`);
});

await step("a storm of problems is followed", async () => {
  await go("/problems");
  await dataRows("Problems").first().getByRole("link").first().waitFor();
  await page.waitForTimeout(1500);
  cancelled = 0;
  console.log("STORM");
  const last = dataRows("Problems")
    .filter({ hasText: process.env.LAST })
    .filter({ hasText: process.env.LAST_PROBLEM });
  const tops = new Set();
  const delays = [];
  // As long as the storm, and as its last problem may take on a busy machine.
  const rounds = (Number(process.env.STORM_S) + 45) * 10;
  for (let n = 0; n < rounds && (await last.count()) === 0; n++) {
    const seen = await page.evaluate(() => {
      const row = document.querySelector("[role=grid] [role=row][aria-rowindex='2']");
      const time = row?.querySelector("time")?.dateTime ?? "";
      return { text: row?.textContent ?? "", time, now: Date.now() };
    });
    if (seen.text.includes("Overload")) {
      if (!tops.has(seen.text)) delays.push(seen.now / 1000 - Date.parse(seen.time) / 1000);
      tops.add(seen.text);
    }
    await page.waitForTimeout(100);
  }
  await last.first().waitFor();
  delays.sort((a, b) => a - b);
  const p95 = delays[Math.floor(delays.length * 0.95)];
  console.log(`newest row changed ${tops.size} times, p95 of its age ${p95?.toFixed(1)} s`);
  expect(cancelled === 0, `${cancelled} requests cancelled`);
  expect(tops.size > 4, `the newest row changed ${tops.size} times`);
  expect(p95 < Number(process.env.NEWEST_ROW_S), `p95 of the newest row's age is ${p95} s`);
});

await step("twenty tabs", async () => {
  const seen = "Seen by twenty tabs";
  await call("trigger.create", {
    description: seen,
    expression: `last(/${process.env.LAST}/value.0)>0`,
  });
  const tabs = [];
  for (let n = 0; n < 20; n++) tabs.push(await context.newPage());
  await Promise.all(
    tabs.map((tab) => tab.goto(`${base}/problems`, { waitUntil: "commit", timeout: 120_000 })),
  );
  const rows = (tab) => tab.getByRole("grid", { name: "Problems" }).getByRole("row");
  for (const tab of tabs)
    await rows(tab).nth(1).getByRole("link").first().waitFor({ timeout: 120_000 });
  // A problem that opens now appears in all of them by itself.
  await call("history.push", [{ host: process.env.LAST, key: "value.0", value: "1" }]);
  for (const tab of tabs)
    await rows(tab).filter({ hasText: seen }).first().waitFor({ timeout: 60_000 });
  const protocols = await page.evaluate(() =>
    performance
      .getEntries()
      .filter((entry) => entry.nextHopProtocol)
      .map((entry) => entry.nextHopProtocol),
  );
  expect(protocols.length > 2 && protocols.every((name) => name === "h2"), `${protocols}`);
  for (const tab of tabs) await tab.close();
});

await step("a server that is down", async () => {
  await go("/hosts");
  await dataRows("Hosts").first().getByRole("link").first().waitFor();
  process.kill(Number(process.env.SERVER_PID));
  await page.getByText("The server does not respond.").waitFor({ timeout: 60_000 });
  // The rows stay, and so does the application when code cannot be loaded.
  await dataRows("Hosts").first().getByRole("link").first().waitFor();
  await page.getByRole("link", { name: "Templates", exact: true }).click();
  await page.getByText("This part of the application could not be loaded.").waitFor();
  await page.getByRole("link", { name: "Hosts", exact: true }).click();
  await heading(/^Hosts/).waitFor();
});

await finish();
