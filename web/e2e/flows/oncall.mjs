// On-call schedules: create one, take over a shift, a calendar link, an action that uses the schedule, and
// what makes actions and media types quieter.

import {
  call,
  dataRows,
  expect,
  fits,
  go,
  hasValue,
  heading,
  link,
  page,
  stamp,
  step,
  until,
} from "../lib.mjs";

const SCHEDULE = `E2E on-call ${stamp}`;
const ACTION = `E2E quiet ${stamp}`;
const TYPE = `E2E limited ${stamp}`;
const SECOND = `e2e-second-${stamp}`;
const HOUR_S = 3600;
const button = (name) => page.getByRole("button", { name, exact: true });
const dialog = () => page.getByRole("dialog").last();
const now = () => page.getByRole("region", { name: "On call now" });
/** The shifts of the final schedule in the shown week. */
const blocks = () => page.getByRole("group", { name: "On call", exact: true }).getByRole("button");
const label = (name) => page.getByLabel(name, { exact: false }).first();

/** A second user, for shifts of somebody else. */
async function secondUser() {
  const [role] = await call("role.get", { filter: { type: 3 }, output: ["roleid"], limit: 1 });
  const [group] = await call("usergroup.get", { output: ["usrgrpid"], limit: 1 });
  await call("user.create", {
    username: SECOND,
    passwd: `Quiet-${stamp}-duty`,
    roleid: role.roleid,
    usrgrps: [{ usrgrpid: group.usrgrpid }],
  });
}

async function schedule() {
  await step("create schedule", async () => {
    await link("On-call").click();
    await heading(/^On-call/).waitFor();
    await link("Create schedule").first().click();
    await heading("Create schedule").waitFor();
    await button("Create schedule").click();
    await page.getByRole("alert").getByText("Enter a name.").waitFor();
    await label("Name").fill(SCHEDULE);
    await page.getByLabel("User", { exact: true }).selectOption({ label: SECOND });
    await page.getByLabel("First shift begins").fill("2026-01-05T09:00");
    await button("Create schedule").click();
    await now().getByText(SCHEDULE).waitFor();
    await now().getByText(SECOND).waitFor();
  });

  await step("edit schedule", async () => {
    await link("Edit schedule").click();
    await heading(`Edit ${SCHEDULE}`).waitFor();
    await hasValue(page.getByLabel("First shift begins"), "2026-01-05T09:00");
    await button("Add user").click();
    const users = page.getByLabel("User", { exact: true });
    await users.last().selectOption({ index: 1 });
    await button("Add holiday").click();
    await page.getByLabel("Date", { exact: true }).fill("2026-12-25");
    await page.getByLabel("Holiday name").fill("Christmas");
    await button("Save schedule").click();
    await heading(/^On-call/).waitFor();
    await page.getByText("Layer Primary").waitFor();
  });
}

async function overrides() {
  const shifts = async () => {
    const [row] = await call("oncall.get", {
      filter: { name: SCHEDULE },
      selectOverrides: "extend",
    });
    return row.overrides;
  };

  await step("take over a shift", async () => {
    // The first one can be over.
    await blocks().last().click();
    await dialog().getByLabel("Who takes over").selectOption({ index: 1 });
    await button("Save override").click();
    await page.getByText("The override was saved.").waitFor();
    await until("the override", async () => (await shifts()).length === 1);
  });

  await step("revoke the override", async () => {
    await blocks().last().click();
    await button("Revoke override…").click();
    await button("Revoke override").click();
    await page.getByText("The override was revoked.").waitFor();
    await until("no override", async () => (await shifts()).length === 0);
  });

  await step("calendar link", async () => {
    await button("Calendar…").click();
    await dialog()
      .getByLabel("Shifts")
      .selectOption({ label: `Of all users of ${SCHEDULE}` });
    await button("Create link").click();
    const address = await dialog().locator("code").textContent();
    const text = await page.evaluate(async (url) => (await fetch(url)).text(), address);
    expect(text.startsWith("BEGIN:VCALENDAR"), "the link leads to a calendar");
    await button("Revoke link").click();
    await page.getByText("Links of this kind no longer work.").waitFor();
    const status = await page.evaluate(async (url) => (await fetch(url)).status, address);
    expect(status === 404, "a revoked link leads nowhere");
    await dialog().getByRole("button", { name: "Close" }).first().click();
  });

  await step("on a phone", async () => {
    await page.setViewportSize({ width: 390, height: 844 });
    await now().getByText(SCHEDULE).waitFor();
    await page
      .getByRole("list", { name: "On call", exact: true })
      .getByText(/^00:00/)
      .first()
      .waitFor();
    await fits();
    await page.setViewportSize({ width: 1440, height: 900 });
  });

  await step("a gap is shown", async () => {
    const [row] = await call("oncall.get", { filter: { name: SCHEDULE }, selectLayers: "extend" });
    const start = Math.floor(Date.now() / 1000) + 48 * HOUR_S;
    const [layer] = row.layers;
    const layers = [{ ...layer, start: String(start), calendar_error: undefined }];
    await call("oncall.update", { scheduleid: row.scheduleid, layers });
    await page.reload();
    await now().getByText("Nobody is on call").waitFor();
    await page.getByText(/^Nobody is on call once in these days/).waitFor();
  });
}

async function quiet() {
  await step("media type with a limit", async () => {
    await go("/media-types/new");
    await heading("Create media type").waitFor();
    await label("Name").fill(TYPE);
    await page.getByRole("radio", { name: "Webhook" }).click();
    await page.getByLabel("JavaScript").fill("return '{}';");
    await page.getByLabel("Messages of a problem can be edited in place").check();
    await page.getByLabel("Limit messages to an address").check();
    await page.getByRole("textbox", { name: "Messages", exact: true }).fill("30");
    await page.getByLabel("If a message fails for good").selectOption({ index: 1 });
    await button("Create media type").click();
    await dataRows("Media types").getByRole("link", { name: TYPE }).click();
    await heading(`Edit ${TYPE}`).waitFor();
    await hasValue(page.getByRole("textbox", { name: "Messages", exact: true }), "30");
    expect(
      await page.getByLabel("Messages of a problem can be edited in place").isChecked(),
      "messages can be edited in place",
    );
    expect(
      (await page.getByLabel("If a message fails for good").inputValue()) !== "0",
      "a fallback",
    );
  });

  await step("quiet action for the user who is on call", async () => {
    await go("/actions/new");
    await heading("Create trigger action").waitFor();
    await label("Name").fill(ACTION);
    await button("Add on-call schedule").click();
    await page.getByLabel("On-call schedule", { exact: true }).selectOption({ label: SCHEDULE });
    await page.getByLabel("Who of the schedule").selectOption({ label: "Next in turn" });
    await page.getByLabel("Send messages of problems that belong together as one").check();
    await page.getByLabel("Wait for more").fill("1m");
    await page.getByLabel("Wait while a related, more severe problem is open").check();
    await page.getByRole("button", { name: "Tags", exact: true }).click();
    await page.getByLabel("Search tags").fill("e2e-service");
    await page.getByLabel("Search tags").press("Enter");
    await page.keyboard.press("Escape");
    await page.getByLabel("Wait if problems of the trigger usually end soon").check();
    await page.getByLabel("Send one message about a flapping trigger").check();
    await button("Create action").click();
    await dataRows("Trigger actions").getByRole("link", { name: ACTION }).click();
    await heading(`Edit ${ACTION}`).waitFor();
    await hasValue(page.getByLabel("Wait for more"), "1m");
    await button("Remove e2e-service").waitFor();
    await page.getByText(`Next in turn of ${SCHEDULE}`).first().waitFor();
    for (const name of [/^Wait if problems/, /^Send one message about a flapping/])
      expect(await page.getByLabel(name).isChecked(), String(name));
  });

  await step("heartbeat", async () => {
    await link("Heartbeat").click();
    await heading(/^Heartbeat/).waitFor();
    await page.getByLabel("Send a heartbeat").check();
    await label("Address").fill("http://127.0.0.1:9/ping");
    await label("Interval").fill("5m");
    await button("Save heartbeat").click();
    await page.getByText("The heartbeat was saved.").waitFor();
    await page.reload();
    await hasValue(label("Address"), "http://127.0.0.1:9/ping");
    await page.getByLabel("Send a heartbeat").uncheck();
    await button("Save heartbeat").click();
    await page.getByText("The heartbeat is off.", { exact: false }).waitFor();
  });

  await step("withheld messages in the action log", async () => {
    await link("Action log").click();
    await heading(/^Action log/).waitFor();
    await page.getByLabel("Status").selectOption({ label: "Withheld" });
    await page.waitForURL(/status=withheld/);
    await page.getByRole("button", { name: "Withheld", exact: true }).click();
    await page.getByRole("option", { name: "Grouped" }).click();
    await page.waitForURL(/withheld=1/);
  });
}

async function remove() {
  await step("delete them", async () => {
    const ids = async (method, key, name) =>
      (await call(method, { output: [key], filter: name })).map((row) => row[key]);
    await call("action.delete", await ids("action.get", "actionid", { name: ACTION }));
    await call("mediatype.delete", await ids("mediatype.get", "mediatypeid", { name: TYPE }));
    await call("oncall.delete", await ids("oncall.get", "scheduleid", { name: SCHEDULE }));
    await call("user.delete", await ids("user.get", "userid", { username: SECOND }));
  });
}

export default async function () {
  await go("/");
  await secondUser();
  await schedule();
  await overrides();
  await quiet();
  await remove();
}
