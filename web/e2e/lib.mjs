// What the flows share: the browser, steps with their pictures, and words for parts of pages.

import { mkdirSync } from "node:fs";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const base = process.env.BASE_URL ?? "http://127.0.0.1:8080";
export const user = process.env.USER ?? "Admin";
export const password = process.env.PASSWORD ?? "zabbix";
export const out = process.env.OUT ?? "e2e-pictures";
export const only = process.env.ONLY;
export const stamp = Date.now().toString(36);
mkdirSync(out, { recursive: true });

/** How long anything may take. */
const TIMEOUT_MS = Number(process.env.TIMEOUT_MS ?? 60_000);
const PAUSE_MS = 100;

const browser = await chromium.launch({
  executablePath: process.env.CHROMIUM ?? "/usr/bin/chromium",
  timeout: TIMEOUT_MS,
  args: [
    "--no-sandbox",
    "--disable-gpu",
    "--disable-quic",
    "--no-first-run",
    "--disable-background-networking",
    "--disable-component-update",
    "--disable-sync",
    "--disable-dev-shm-usage",
    // Trusts the certificate with this key: for pages, and also for workers.
    ...(process.env.TLS_KEY_HASH
      ? [`--ignore-certificate-errors-spki-list=${process.env.TLS_KEY_HASH}`]
      : []),
  ],
});

/** A page of a user who is not signed in yet. */
export async function newPage() {
  const context = await browser.newContext({
    viewport: { width: 1440, height: 900 },
    colorScheme: process.env.THEME === "dark" ? "dark" : "light",
    // Pictures and axe must not see colours and places on their way.
    reducedMotion: "reduce",
  });
  context.setDefaultTimeout(TIMEOUT_MS);
  return context.newPage();
}

export const page = await newPage();
const pageErrors = [];
page.on("pageerror", (error) => pageErrors.push(error.message));
// What the content security policy refuses is only told to the console.
page.on("console", (message) => {
  if (/Content Security Policy/.test(message.text())) pageErrors.push(message.text());
});

let passed = 0;
let failed = 0;
/** Says how many steps passed, and ends. */
export async function finish() {
  await browser.close();
  console.log(`${passed} passed, ${failed} failed`);
  process.exit(failed ? 1 : 0);
}
let number = 0;

export function expect(condition, what) {
  if (!condition) throw new Error(what);
}

/** Repeats `check` until it returns something true, and returns that. */
export async function until(what, check, timeout = TIMEOUT_MS) {
  const end = Date.now() + timeout;
  let last;
  while (Date.now() < end) {
    last = await check().catch((error) => error);
    if (last && !(last instanceof Error)) return last;
    await page.waitForTimeout(PAUSE_MS);
  }
  throw new Error(`waited ${timeout / 1000} s for ${what}; last: ${last}`);
}

/** Waits until a field has this value. */
export async function hasValue(field, value) {
  let last;
  const has = async () => {
    last = await field.inputValue();
    return last === value;
  };
  await until("a value", has).catch(() => expect(false, `the value is ${last}, not ${value}`));
}

/** Waits until nothing on the page says that it is loading. */
export const loaded = () =>
  page.waitForFunction(() => !document.querySelector("[role=status][aria-label=Loading]"));

/** Waits until a field has the focus, and types there. */
export async function typeInFocus(field, text) {
  await until("the focus", () => field.evaluate((one) => one === document.activeElement));
  await page.keyboard.type(text);
}

export async function step(name, run) {
  if (only && !name.includes(only) && !["sign in", "prepare"].includes(name)) return;
  number++;
  const picture = join(out, `${String(number).padStart(2, "0")}-${name.replaceAll(" ", "-")}.png`);
  pageErrors.length = 0;
  try {
    await run();
    await page.waitForTimeout(500);
    expect(pageErrors.length === 0, `error in the page: ${pageErrors[0]}`);
    expect((await page.getByText("Error on this page").count()) === 0, "the page broke");
    passed++;
    console.log(`ok      ${name}`);
  } catch (error) {
    failed++;
    console.log(`FAILED  ${name}: ${error.message.split("\n").slice(0, 3).join(" | ")}`);
  }
  await page.screenshot({ path: picture }).catch(() => {});
}

/** Signs in on the first page. */
export async function signIn() {
  await go("/");
  await page.getByLabel("User name").fill(user);
  await page.getByLabel("Password").fill(password);
  await page.getByRole("button", { name: "Sign in" }).click();
  await heading("Overview").waitFor();
}

export const go = (path) => page.goto(base + path);
export const heading = (name) => page.getByRole("heading", { level: 1, name });
export const link = (name) => page.getByRole("link", { name, exact: true });
export const dataRows = (grid) =>
  page
    .getByRole("grid", { name: grid })
    .getByRole("row")
    .filter({ has: page.getByRole("gridcell") });

export async function drawn(locator) {
  await locator.first().waitFor();
  await locator.first().locator("canvas").waitFor();
}

/**
 * No page is wider than its window, and no "+n" behind tags is cut. Lists of tags learn their room
 * when they are on the page, so that this may be true only some frames after they appeared.
 */
export async function fits() {
  let wider;
  let cut;
  const end = Date.now() + TIMEOUT_MS;
  for (let look = 0; look === 0 || Date.now() < end; look += 1) {
    if (look > 0) await page.waitForTimeout(PAUSE_MS);
    [wider, cut] = await page.evaluate(() => [
      document.documentElement.scrollWidth - innerWidth,
      [...document.querySelectorAll("[data-tags]")]
        .filter((list) => list.clientWidth > 0 && list.scrollWidth > list.clientWidth)
        .map((list) => list.textContent),
    ]);
    if (wider <= 0 && cut.length === 0) return;
  }
  expect(wider <= 0, `the page is ${wider} px wider than the window`);
  expect(cut.length === 0, `tags are cut: ${cut[0]}`);
}

/** Opens the page of a host by its visible name. */
export async function openHost(name) {
  await go(`/hosts?text=${encodeURIComponent(name)}`);
  await dataRows("Hosts").getByRole("link", { name, exact: true }).first().click();
  await heading(new RegExp(name)).waitFor();
}

/** Calls the API with the session of the page. */
export const call = (method, params) =>
  page.evaluate(
    async ([method, params]) => {
      const stored = sessionStorage["vedette.session"] ?? localStorage["vedette.session"];
      const headers = {
        "Content-Type": "application/json-rpc",
        Authorization: `Bearer ${JSON.parse(stored).token}`,
      };
      const body = JSON.stringify({ jsonrpc: "2.0", method, params, id: 1 });
      const reply = await (
        await fetch("/api_jsonrpc.php", { method: "POST", headers, body })
      ).json();
      if (reply.error) throw new Error(`${method}: ${reply.error.data}`);
      return reply.result;
    },
    [method, params],
  );
