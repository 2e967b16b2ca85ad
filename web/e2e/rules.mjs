// Rules of a virtual service: made with the keyboard, moved, refused at their fields, edited as JSON, saved, read.

import { accessible } from "./axe.mjs";
import {
  base,
  call,
  expect,
  fits,
  go,
  heading,
  newPage,
  page,
  stamp,
  step,
  typeInFocus,
} from "./lib.mjs";

const [WEB, API, GONE] = ["web", "api", "gone"].map((name) => `E2E ${name} ${stamp}`);
const READER = `e2e-reader-${stamp}`;
const SECRET = `Secret ${stamp}!`;

const button = (name) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog");
const rule = (at) => page.getByRole("listitem", { name: `Rule ${at}`, exact: true });
const sentence = (at, text) => rule(at).getByText(text, { exact: true }).waitFor();

async function pool(name) {
  const server = { name: "server1", address: "10.0.0.11", port: 80 };
  return (await call("pool.create", { name, servers: [server] })).poolids[0];
}

/** A service without rules; the ids of it and of its pools. */
async function prepared() {
  const [web, api, gone] = [await pool(WEB), await pool(API), await pool(GONE)];
  const { vipids } = await call("vip.create", { name: WEB, ipv4: "192.0.2.40" });
  const { enginegroupids } = await call("enginegroup.create", { name: WEB });
  const { virtualserviceids } = await call("virtualservice.create", {
    name: WEB,
    vipid: vipids[0],
    enginegroupid: enginegroupids[0],
    poolid: web,
    port: 80,
  });
  return { id: virtualserviceids[0], api, gone };
}

/** An admin, who may read the load balancer, signed in on a page of its own. */
async function reader() {
  const { roleids } = await call("role.create", { name: READER, type: 2 });
  const { usrgrpids } = await call("usergroup.create", { name: READER });
  const usrgrps = [{ usrgrpid: usrgrpids[0] }];
  await call("user.create", { username: READER, passwd: SECRET, roleid: roleids[0], usrgrps });
  const other = await newPage();
  await other.goto(base);
  await other.getByLabel("User name").fill(READER);
  await other.getByLabel("Password").fill(SECRET);
  await other.getByRole("button", { name: "Sign in" }).click();
  await other.getByRole("heading", { level: 1, name: "Overview" }).waitFor();
  return other;
}

async function save() {
  await button("Save virtual service").click();
  await dialog().getByText("The change affects 1 virtual service. Nothing is saved yet.").waitFor();
  await dialog().getByRole("button", { name: "Save virtual service" }).click();
  await dialog().getByText("Its engine group has no engines yet.").waitFor();
  await page.keyboard.press("Escape");
  await heading(/^Virtual services/).waitFor();
}

export async function rules() {
  const { id, api, gone } = await prepared();
  const path = `/balancing/services/${id}/edit`;
  const stored = async () => (await call("virtualservice.get", { virtualserviceids: id }))[0].rules;

  await step("make a rule with the keyboard", async () => {
    await go(path);
    await page.getByText(/^No rules: all requests/).waitFor();
    await button("Add rule").focus();
    await page.keyboard.press("Enter");
    // The value of the first condition has the focus.
    await typeInFocus(rule(1).getByLabel("Value", { exact: true }), "/api/");
    await rule(1).getByLabel("Pool *").selectOption({ label: API });
    await rule(1).getByRole("button", { name: "Add condition" }).click();
    await rule(1)
      .getByLabel("Condition", { exact: true })
      .nth(1)
      .selectOption({ label: "Method is" });
    await rule(1).getByLabel("Value", { exact: true }).nth(1).fill("POST");
    await sentence(1, `If path starts with /api/ and method is POST → use pool ${API}`);
  });

  await step("move and duplicate a rule", async () => {
    await button("Duplicate rule 1").click();
    await rule(2)
      .getByLabel("Action", { exact: true })
      .selectOption({ label: "Respond with a status" });
    await sentence(2, "If path starts with /api/ and method is POST → respond with status 403");
    await button("Move rule 2 up").focus();
    await page.keyboard.press("Enter");
    await sentence(1, "If path starts with /api/ and method is POST → respond with status 403");
    await page.getByText("The rule is now number 1 of 2.").waitFor({ state: "attached" });
    await button("Remove rule 1").click();
    await sentence(1, `If path starts with /api/ and method is POST → use pool ${API}`);
  });

  await step("errors of a rule are at their fields", async () => {
    await rule(1).getByLabel("Value", { exact: true }).nth(1).fill("post");
    await button("Save virtual service").click();
    await rule(1).getByText("Enter POST: methods are case-sensitive.").waitFor();
    await rule(1).getByLabel("Value", { exact: true }).nth(1).fill("POST");
    await rule(1).getByLabel("Pool *").selectOption({ label: GONE });
    await call("pool.delete", [gone]);
    await button("Save virtual service").click();
    await rule(1)
      .getByText(/^Object does not exist/)
      .waitFor();
    await rule(1).getByLabel("Pool *").selectOption({ label: API });
  });

  await step("save rules after seeing what they touch", async () => {
    await save();
    const [saved] = await stored();
    expect(saved.if.method === "POST" && saved.if.path_prefix === "/api/", "the conditions differ");
    expect(saved.then.poolid === api, `the rule is ${JSON.stringify(saved)}`);
  });

  await step("edit rules as JSON", async () => {
    await go(path);
    await page.getByLabel("Edit as JSON").check();
    const json = page.getByRole("textbox", { name: "Rules (JSON)" });
    await json.fill('[{"if": {"path": "/admin"}, "then": {"deny": 403}}');
    await page.getByLabel("Edit as JSON").click();
    await page.getByText(/This is not valid JSON/).waitFor();
    await json.fill('[{"if": {"path": "/admin"}, "then": {"deny": 403}}]');
    await page.getByLabel("Edit as JSON").click();
    await sentence(1, "If path is /admin → respond with status 403");
    await save();
  });

  await step("rules on a phone in the dark", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await page.evaluate(() => localStorage.setItem("vedette.theme", "dark"));
    await go(path);
    await page.getByRole("button", { name: /^Edit rule 1/ }).click();
    await rule(1).getByRole("button", { name: "Add change" }).click();
    await fits();
    await accessible();
    await page.evaluate(() => localStorage.setItem("vedette.theme", "light"));
    await page.setViewportSize({ width: 1440, height: 900 });
    await go(path);
    await page.getByRole("button", { name: /^Edit rule 1/ }).click();
    await fits();
    await accessible();
  });

  await step("admins read rules without buttons", async () => {
    const other = await reader();
    await other.goto(base + path);
    await other.getByText("If path is /admin → respond with status 403").waitFor();
    const main = other.getByRole("main");
    for (const name of [/^Save/, /^Delete/, /^Add/, /^Move/, /^Remove rule/]) {
      expect((await main.getByRole("button", { name }).count()) === 0, `a reader sees ${name}`);
    }
    await other.goto(`${base}/balancing/engines`);
    await other
      .getByText(/^This group has no engines/)
      .first()
      .waitFor();
    expect((await main.getByRole("button", { name: /^Add/ }).count()) === 0, "a reader adds");
    await other.goto(`${base}/balancing/services/balance`);
    await other.getByText("You do not have permission to open this page").waitFor();
    await other.context().close();
  });
}
