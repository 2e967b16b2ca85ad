// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => {
  const api = mockEstate({ hosts: 3, alerting: true });
  api.answers["action.update"] = () => ({ actionids: ["1"] });
  api.answers["action.create"] = () => ({ actionids: ["9"] });
  return api;
};
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const lines = async () =>
  within(await screen.findByRole("list", { name: "Escalation" }))
    .getAllByRole("listitem")
    .map((line) => line.textContent);

test("the list says in words whom an action notifies when", async () => {
  await openPage(estate(), "/actions");
  const table = await screen.findByRole("grid", { name: "Trigger actions" });
  const row = await within(table).findByRole("row", { name: /Production problems/ });
  await waitFor(() =>
    expect(row.textContent).toContain(
      "At once: On call by Chat → After 10m: Ann Berg (ann) → After 30m: Boris Kalns (boris) by Pager",
    ),
  );
  expect(row.textContent).toContain("Host group is Shop/Web; Trigger severity is at least Average");
});

test("the escalation of an action is drawn as a line of time", async () => {
  await openPage(estate(), "/actions/1/edit");
  await screen.findByRole("button", { name: "Remove On call" });
  await waitFor(async () =>
    expect(await lines()).toEqual([
      "At onceStep 1On callby Chat",
      "After 10mSteps 2–3every 10m, 2 timesAnn Berg (ann)by all their mediaonly while unacknowledged",
      "After 30mSteps from 4every 1h, until the problem endsBoris Kalns (boris)by PagerThe media type is disabled: messages fail.",
      "At each change by a userAll involvedby the same media",
      "When the problem endsAll involvedby the same media",
    ]),
  );
  screen.getByText("Steps wait while the problem is suppressed or a symptom.");
  fireEvent.change(screen.getByLabelText(/^Default step duration/), { target: { value: "5m" } });
  expect((await lines())[1]).toContain("After 5m");
});

test("an action is saved as it was read", async () => {
  const api = estate();
  const [stored] = api.tables["action.get"] ?? [];
  await openPage(api, "/actions/1/edit");
  fireEvent.change(await screen.findByLabelText(/^Name/), { target: { value: "Production" } });
  press("Save action");
  await waitFor(() => expect(api.callsOf("action.update")).toHaveLength(1));
  const [sent] = api.callsOf("action.update") as Record<string, unknown>[];
  // Default texts have neither subject nor message.
  const operations = stored?.operations?.map(({ opmessage, ...rest }) => ({
    ...rest,
    opmessage: { default_msg: opmessage?.default_msg, mediatypeid: opmessage?.mediatypeid },
  }));
  expect(sent).toMatchObject({ name: "Production", operations });
  expect(sent).not.toHaveProperty("eventsource");
});

test("an action without recipients is not saved", async () => {
  const api = estate();
  await openPage(api, "/actions/new");
  await screen.findByRole("heading", { name: "Create trigger action" });
  fireEvent.change(screen.getByLabelText(/^Name/), { target: { value: "A" } });
  expect((await lines())[0]).toContain("Nobody yet");
  press("Create action");
  expect((await screen.findByRole("alert")).textContent).toBe("Choose users or user groups.");
  expect(api.callsOf("action.create")).toEqual([]);
});

test("a role sees the actions of the sources that it allows", async () => {
  const denied = ["trigger", "service", "internal"].map((one) => `configuration.${one}_actions`);
  await openPage(estate(), "/actions", { type: 2, denied });
  await screen.findByRole("heading", { name: "Discovery actions" });
  const sources = screen.getAllByRole("radio").map((radio) => radio.textContent);
  expect(sources).toEqual(["Discovery", "Autoregistration"]);
});

test("grouping, inhibition and calm are saved, and switched off again", async () => {
  const api = estate();
  await openPage(api, "/actions/1/edit");
  const check = (label: string | RegExp) => fireEvent.click(screen.getByLabelText(label));
  await screen.findByLabelText(/^Default step duration/);
  check(/^Send messages of problems that belong together/);
  check(/^Wait while a related, more severe problem/);
  check(/^Wait if problems of the trigger/);
  press("Save action");
  expect((await screen.findByRole("alert")).textContent).toContain("Choose at least one tag");
  press("Tags");
  const search = screen.getByLabelText("Search tags");
  fireEvent.change(search, { target: { value: "no such tag" } });
  fireEvent.keyDown(search, { key: "Enter" });
  await screen.findByRole("button", { name: "Remove no such tag" });
  press("Save action");
  await waitFor(() => expect(api.callsOf("action.update")).toHaveLength(1));
  expect(api.callsOf("action.update")[0]).toMatchObject({
    grouping: { by: ["{HOST.HOST}"], wait: "30s", interval: "5m", repeat: "0" },
    inhibition: { tags: ["no such tag"] },
    calming: { transients: 1, flapping: 0, max_hold: "10m" },
  });
});

test("what makes an action quiet is read by name, and shown below the escalation", async () => {
  const api = estate();
  Object.assign(api.tables["action.get"]?.[0] ?? {}, {
    grouping: { by: ["service"], wait: "1m", interval: "10m", repeat: "4h" },
    inhibition: { tags: ["service", "site"] },
    calming: { transients: 0, flapping: 1, max_hold: "10m" },
  });
  await openPage(api, "/actions/1/edit");
  await screen.findAllByText(
    "Messages to an address about problems with the same tag service become one, 1m after the first. Additions follow at most every 10m. What is still open is repeated after 4h.",
  );
  screen.getByText(
    "Steps wait while a more severe problem with the same tags service and site is open.",
  );
  const [call] = api.callsOf("action.get") as { output: string[] }[];
  expect(call?.output).toEqual(expect.arrayContaining(["grouping", "inhibition", "calming"]));
  fireEvent.click(screen.getByLabelText(/^Send messages of problems that belong together/));
  press("Save action");
  await waitFor(() => expect(api.callsOf("action.update")).toHaveLength(1));
  expect(api.callsOf("action.update")[0]).toMatchObject({
    grouping: null,
    inhibition: { tags: ["service", "site"] },
    calming: { transients: 0, flapping: 1, max_hold: "10m" },
  });
});

test("messages go to the user who is on call", async () => {
  const api = estate();
  await openPage(api, "/actions/new");
  await screen.findByRole("heading", { name: "Create trigger action" });
  fireEvent.change(screen.getByLabelText(/^Name/), { target: { value: "On call" } });
  fireEvent.click(await screen.findByRole("button", { name: "Add on-call schedule" }));
  expect((await lines())[0]).toContain("On call in Databases");
  fireEvent.change(screen.getByLabelText("Who of the schedule"), { target: { value: "1" } });
  expect((await lines())[0]).toContain("Next in turn of Databases");
  press("Create action");
  await waitFor(() => expect(api.callsOf("action.create")).toHaveLength(1));
  expect(api.callsOf("action.create")[0]).toMatchObject({
    operations: [{ opmessage_oncall: [{ scheduleid: "1", who: "1" }], opmessage_usr: [] }],
  });
});
