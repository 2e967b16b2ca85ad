// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => mockEstate({ hosts: 12, alerting: true });
/** The problem that messages were sent about, and one without any. */
function eventsOf(api: ReturnType<typeof estate>) {
  const told = api.tables["alert.get"]?.[0]?.eventid ?? "";
  const ids = new Set(api.tables["alert.get"]?.map((alert) => alert.eventid));
  const untold = api.tables["problem.get"]?.find((problem) => !ids.has(problem.eventid));
  return { told, untold: untold?.eventid ?? "" };
}
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const drawer = async () => within(await screen.findByRole("complementary", { name: "Problem" }));

test("the problem says who was notified and why a message failed", async () => {
  const api = estate();
  const { told } = eventsOf(api);
  await openPage(api, `/problems?event=${told}`);
  const details = await drawer();
  await details.findByText("3 notifications: 1 failed, 1 in progress, 1 sent.");
  await details.findByText(/boris by Pager/);
  const rows = within(details.getByRole("list", { name: "Notifications" }))
    .getAllByRole("listitem")
    .map((row) => row.textContent ?? "");
  expect(rows[0]).toMatch(/^In \d+m( \d+s)?boris by Pager.*Step 4 · Production/);
  expect(rows[1]).toMatch(/Boris Kalns.*by Chat.*Retrying after 1 failed.*Step 3.*HTTP status 503/);
  expect(rows[2]).toMatch(/Ann Berg.*by E-mail.*Failed.*550 no such user/);
  expect(rows[3]).toMatch(/Ann Berg.*by Chat.*Sent/);
  await waitFor(() => expect(rows[3]).not.toContain("undefined"));
  const link = details.getByRole("link", { name: "Show in the action log" });
  expect(link.getAttribute("href")).toContain(`event=${told}`);
});

test("without its response what happens next is unknown", async () => {
  const api = estate();
  api.refuse("escalation.get", DENIED);
  const { told } = eventsOf(api);
  await openPage(api, `/problems?event=${told}`);
  const details = await drawer();
  await details.findByText(/^What happens next is unknown\. No permissions/);
  const list = within(details.getByRole("list", { name: "Notifications" }));
  expect(list.getAllByRole("listitem")).toHaveLength(3);
});

test("a paused escalation says why", async () => {
  const api = estate();
  const answer = api.answers["escalation.get"];
  api.answers["escalation.get"] = async (params) =>
    ((await answer?.(params)) ?? []).map((one) => ({
      ...one,
      waits_for: "pause",
      pauses: ["symptom"],
      until: "0",
    }));
  const { told } = eventsOf(api);
  await openPage(api, `/problems?event=${told}`);
  await (await drawer()).findByText("Paused while the problem is a symptom");
});

test("a problem that nobody heard of says so", async () => {
  const api = estate();
  await openPage(api, `/problems?event=${eventsOf(api).untold}`);
  await (await drawer()).findByText("Nobody was notified.");
});

test("a user is told that others' notifications are hidden", async () => {
  const api = estate();
  await openPage(api, `/problems?event=${eventsOf(api).untold}`, { type: 1 });
  const details = await drawer();
  await details.findByText("Nobody was notified.");
  details.getByText("Notifications of users that you cannot view are not shown.");
  expect(api.callsOf("action.get")).toEqual([]);
});

test("without a response nobody is said to be unnotified", async () => {
  const api = estate();
  api.refuse("alert.get", DENIED);
  await openPage(api, `/problems?event=${eventsOf(api).untold}`);
  const details = await drawer();
  await details.findByRole("alert");
  expect(details.queryByText("Nobody was notified.")).toBeNull();
});

test("a recovery of another problem is not among the notifications", async () => {
  const api = estate();
  const { told } = eventsOf(api);
  for (const event of api.tables["event.get"] ?? [])
    if (event.eventid === told) event.r_eventid = "99";
  const [first] = api.tables["alert.get"] ?? [];
  api.tables["alert.get"] = [
    { ...first, alertid: "1", eventid: "99", p_eventid: told, subject: "Ours" },
    { ...first, alertid: "2", eventid: "99", p_eventid: "77", subject: "Another's" },
  ];
  await openPage(api, `/problems?event=${told}`);
  const details = await drawer();
  await details.findByText("1 notification: 1 sent.");
  details.getByText("Ours");
  details.getByText(/Recovery/);
});

test("the log shows the newest rows and reads more on demand", async () => {
  const api = estate();
  const now = Math.floor(Date.now() / 1000);
  const [first] = api.tables["alert.get"] ?? [];
  api.tables["alert.get"] = Array.from({ length: 450 }, (_, n) => ({
    ...first,
    alertid: String(n + 1),
    clock: String(now - 600 + n),
  }));
  await openPage(api, "/alerts");
  await screen.findByText("newest 200 of 450");
  const calls = () => api.callsOf("alert.get") as Record<string, unknown>[];
  expect(calls().find((call) => call.limit)).toMatchObject({
    eventsource: 0,
    sortfield: ["clock", "alertid"],
    sortorder: "DESC",
    limit: 200,
  });
  press("Show 200 more");
  await screen.findByText("newest 400 of 450");
  press("Show 200 more");
  await screen.findByText("450");
  expect(screen.queryByRole("button", { name: /more/ })).toBeNull();
});

test("the log filters by status and leads to the problem", async () => {
  const api = estate();
  const now = Math.floor(Date.now() / 1000);
  for (const alert of api.tables["alert.get"] ?? []) alert.clock = String(now - 60);
  await openPage(api, "/alerts");
  const table = () => within(screen.getByRole("grid", { name: "Action log" }));
  await waitFor(() => expect(table().getAllByText("Sent").length).toBeGreaterThan(0));
  fireEvent.change(screen.getByLabelText("Status"), { target: { value: "failed" } });
  await waitFor(() => expect(table().queryAllByText("Sent")).toEqual([]));
  const [row] = table().getAllByText("Failed");
  fireEvent.click(row as HTMLElement);
  const details = within(await screen.findByRole("complementary", { name: "Alert" }));
  details.getByText(/550 no such user/);
  const link = details.getByRole("link", { name: "Open the problem" });
  expect(link.getAttribute("href")).toMatch(/\/problems\?show=history&event=\d+/);
});

test("the action log is not for other users", async () => {
  await openPage(estate(), "/alerts", { type: 2 });
  await screen.findByText(/You do not have/);
});

/** Two messages that were withheld, of which another one tells of the first. */
function withheld() {
  const api = estate();
  const clock = String(Math.floor(Date.now() / 1000) - 60);
  const [first] = api.tables["alert.get"] ?? [];
  const row = { ...first, clock, subject: "", message: "Text" };
  api.tables["alert.get"] = [
    { ...row, alertid: "1", status: "4", withheld: "1", carrierid: "3" },
    { ...row, alertid: "2", status: "4", withheld: "2" },
    { ...row, alertid: "3", status: "1", subject: "[2 new]" },
  ];
  return api;
}

test("the log shows withheld messages with their reason and what tells of them", async () => {
  const api = withheld();
  await openPage(api, "/alerts?status=withheld");
  const table = () => within(screen.getByRole("grid", { name: "Action log" }));
  await waitFor(() => expect(table().getAllByText(/^Withheld: /)).toHaveLength(2));
  press("Withheld");
  fireEvent.click(await screen.findByRole("option", { name: "Grouped" }));
  await waitFor(() => expect(table().getAllByText(/^Withheld: /)).toHaveLength(1));
  expect(api.callsOf("alert.get").at(-1)).toMatchObject({
    filter: { status: ["4"], withheld: ["1"] },
  });
  fireEvent.click(table().getByText("Withheld: grouped"));
  const details = () => within(screen.getByRole("complementary", { name: "Alert" }));
  await waitFor(() => details().getByText("Grouped with messages about related problems"));
  // It is not in the list, which is narrowed to withheld ones.
  fireEvent.click(await details().findByRole("link", { name: /^Message of / }));
  await waitFor(() => details().getByRole("heading", { name: "[2 new]" }));
});

test("the problem tells which messages were withheld", async () => {
  const api = withheld();
  const { told } = eventsOf(api);
  await openPage(api, `/problems?event=${told}`);
  const details = await drawer();
  await details.findByText("3 notifications: 1 sent, 2 withheld.");
  details.getByText(
    /^Grouped with messages about related problems\. A message of .* tells of it\.$/,
  );
  details.getByText(/^A related, more severe problem was open\./);
});

test("the problem shows what was learnt about its trigger", async () => {
  const api = estate();
  const { told } = eventsOf(api);
  await openPage(api, `/problems?event=${told}`);
  const details = await drawer();
  await details.findByText("92 % of its problems end within 3m, of 12 ended problems.");
  details.getByText(/^7 changes in the last 30 minutes; until .* if nothing changes$/);
});

test("without a response the usual behaviour is unknown", async () => {
  const api = estate();
  api.refuse("trigger.learnt", DENIED);
  await openPage(api, `/problems?event=${eventsOf(api).told}`);
  await (await drawer()).findByText(/^The usual behaviour is unknown\. No permissions/);
});
