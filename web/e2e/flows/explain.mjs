// "Why was I (not) notified?" in the details of a problem, and the rehearsal of an action in its form.

import {
  call,
  dataRows,
  expect,
  fits,
  go,
  heading,
  page,
  stamp,
  step,
  until,
  user,
} from "../lib.mjs";
import { trouble } from "../prepare.mjs";

const WHY = "Why was I (not) notified?";
const TOLD = `E2E told ${stamp}`;
const UNFIT = `E2E disasters ${stamp}`;
const button = (name) => page.getByRole("button", { name, exact: true });

/** An action on problems whose steps go to the user, from this severity on. */
async function action(name, severity) {
  const [me] = await call("user.get", { output: ["userid"], filter: { username: user } });
  await call("action.create", {
    name,
    eventsource: 0,
    esc_period: "1h",
    filter: {
      evaltype: 0,
      conditions: [{ conditiontype: 4, operator: 5, value: severity }],
    },
    operations: [1, 2].map((at) => ({
      operationtype: 0,
      esc_step_from: at,
      esc_step_to: at,
      opmessage: { default_msg: 1 },
      opmessage_usr: [{ userid: me.userid }],
    })),
  });
}

async function explained(problem) {
  const drawer = page.getByRole("complementary", { name: "Problem" });
  const why = drawer.getByRole("region", { name: WHY });
  const card = (name) => why.getByRole("group").filter({ hasText: name });

  await step("why was I notified", async () => {
    const asked = { output: ["eventid"], search: { name: problem }, source: 0, value: 1 };
    const [event] = await call("event.get", asked);
    await go(`/problems?event=${event.eventid}`);
    await drawer.getByRole("button", { name: WHY }).focus();
    await page.keyboard.press("Enter");
    await why.getByText("You get no messages.").waitFor();
    await why.getByText("The user has no medium for this message").first().waitFor();
  });

  await step("an action that applies", async () => {
    await card(TOLD).getByText("Conditions: met", { exact: true }).waitFor();
    await card(TOLD).getByText("Trigger severity is at least Warning").waitFor();
    await card(TOLD)
      .getByText(/^Step 2, \d{4}-/)
      .waitFor();
    await card(TOLD).getByText(`You (${user})`).first().waitFor();
  });

  await step("an action that does not apply", async () => {
    const summary = card(UNFIT).locator("summary");
    await summary.focus();
    await page.keyboard.press("Enter");
    await card(UNFIT).getByText("Trigger severity is at least Disaster").waitFor();
    await card(UNFIT).getByText("Not met", { exact: true }).waitFor();
    await summary.scrollIntoViewIfNeeded();
  });

  await step("explanation on a phone in the dark", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: "dark" });
    await card(TOLD).locator("summary").scrollIntoViewIfNeeded();
    await fits();
  });
}

async function rehearsed(problem) {
  const dialog = page.getByRole("dialog", { name: "Rehearsal" });
  const messages = () => dialog.getByRole("region", { name: "First messages" });

  await step("rehearse the form", async () => {
    await page.setViewportSize({ width: 1440, height: 900 });
    await page.emulateMedia({ colorScheme: "light" });
    await go("/actions");
    await dataRows("Trigger actions").getByRole("link", { name: TOLD }).click();
    await heading(`Edit ${TOLD}`).waitFor();
    await button("Rehearse…").click();
    await dialog.getByText(/ problems?, of which [1-9]\d* meets? the conditions/).waitFor();
    await dialog.getByText(/Maintenance, trigger dependencies and symptoms/).waitFor();
    await messages().getByText(problem).first().waitFor();
    await messages().getByText("The user has no medium").first().waitFor();
  });

  await step("another time range", async () => {
    await dialog.getByRole("radio", { name: "Last 30 days" }).click();
    await dialog.getByText(/ problems?, of which /).waitFor();
  });

  await step("rehearsal on a phone in the dark", async () => {
    await page.setViewportSize({ width: 360, height: 740 });
    await page.emulateMedia({ colorScheme: "dark" });
    await messages().waitFor();
    await fits();
  });

  await step("a rehearsal stores nothing", async () => {
    await page.keyboard.press("Escape");
    await dialog.waitFor({ state: "detached" });
    const found = await call("action.get", { output: ["name"], search: { name: "Rehearsal" } });
    expect(found.length === 0, "the rehearsed action is stored");
  });
}

export default async function () {
  await action(TOLD, "2");
  await action(UNFIT, "5");
  const { problem } = await trouble();
  const escalations = async () => {
    const [event] = await call("problem.get", { search: { name: problem }, output: ["eventid"] });
    return (await call("escalation.get", { eventids: [event.eventid] })).length > 0;
  };
  await until("the escalation", escalations);
  await explained(problem);
  await rehearsed(problem);
}
