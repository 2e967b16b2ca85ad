// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const table = () => screen.findByRole("grid", { name: "Problems" });
const rowsOf = async () =>
  within(await table())
    .getAllByRole("row")
    .slice(1);

test("open problems are listed, the newest first, with their number beside the title", async () => {
  const api = mockEstate({ hosts: 4 });
  await openPage(api, "/problems");
  const total = api.tables["problem.get"]?.length ?? 0;
  expect(total).toBeGreaterThan(0);
  expect(await screen.findByText(String(total), { selector: "h1 *" })).toBeTruthy();
  await waitFor(async () => expect((await rowsOf()).length).toBe(total));
  const newest = api.tables["problem.get"]?.toSorted(
    (a, b) => Number(b.eventid) - Number(a.eventid),
  );
  await waitFor(async () => expect((await rowsOf())[0]?.textContent).toContain(newest?.[0]?.name));
});

test("rows that are loading are announced, and no number is shown", async () => {
  const api = mockEstate({ hosts: 4 });
  api.hold();
  await openPage(api, "/problems");
  expect(await screen.findByRole("status", { name: "Loading" })).toBeTruthy();
  expect(screen.queryByRole("grid")).toBeNull();
  api.goOn();
  expect(await table()).toBeTruthy();
});

test("a server without problems says so", async () => {
  await openPage(mockEstate({ hosts: 0 }), "/problems");
  expect(await screen.findByText("No problems")).toBeTruthy();
  expect(screen.getByText("Past problems are in History.")).toBeTruthy();
});

test("filters that no problem matches can be cleared", async () => {
  await openPage(mockEstate({ hosts: 4 }), "/problems?text=nothing-like-this");
  expect(await screen.findByText("No problem matches these filters")).toBeTruthy();
  const [clear] = screen.getAllByRole("button", { name: "Clear filters" });
  if (clear) fireEvent.click(clear);
  await waitFor(async () => expect((await rowsOf()).length).toBeGreaterThan(1));
});

test("an error replaces rows that never arrived, and a retry brings them", async () => {
  const api = mockEstate({ hosts: 4 });
  const failure = { code: -32500, message: "Application error.", data: "The disk is full." };
  api.refuse("problem.get", failure);
  await openPage(api, "/problems");
  expect(await screen.findByText("The disk is full.")).toBeTruthy();
  expect(screen.queryByRole("grid")).toBeNull();
  api.allow("problem.get");
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await table()).toBeTruthy();
});

test("old rows stay while the server does not respond, and their age is shown", async () => {
  const api = mockEstate({ hosts: 4 });
  const client = await openPage(api, "/problems");
  await waitFor(async () => expect((await rowsOf()).length).toBeGreaterThan(1));
  api.down = true;
  void client.refetchQueries();
  expect(await screen.findByText("The server does not respond.")).toBeTruthy();
  expect((await rowsOf()).length).toBeGreaterThan(1);
});

test("a role without permission to update sees problems, but no boxes to select them", async () => {
  const actions = [
    "acknowledge_problems",
    "add_problem_comments",
    "change_severity",
    "close_problems",
    "suppress_problems",
  ];
  await openPage(mockEstate({ hosts: 4 }), "/problems", { type: 1, denied: actions });
  await waitFor(async () => expect((await rowsOf()).length).toBeGreaterThan(1));
  expect(within(await table()).queryAllByRole("checkbox")).toEqual([]);
});

test("a page that the role denies is not opened", async () => {
  const api = mockEstate({ hosts: 4 });
  await openPage(api, "/problems", { type: 1, denied: ["monitoring.problems"] });
  expect(await screen.findByText("You do not have permission to open this page")).toBeTruthy();
  expect(api.callsOf("problem.get")).toEqual([]);
});

test("a refusal of the server names the permission and who can give it", async () => {
  const api = mockEstate({ hosts: 4 });
  api.refuse("problem.get", DENIED);
  await openPage(api, "/problems");
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("do not have permission to view it. Ask an administrator.");
});

test("selected problems are acknowledged together", async () => {
  const api = mockEstate({ hosts: 4 });
  await openPage(api, "/problems");
  await waitFor(async () => expect((await rowsOf()).length).toBeGreaterThan(1));
  const boxes = within(await table()).getAllByRole("checkbox");
  for (const box of boxes.slice(1, 3)) fireEvent.click(box);
  expect(await screen.findByText("2 problems selected")).toBeTruthy();
  fireEvent.click(screen.getByRole("button", { name: "Acknowledge" }));
  await waitFor(() => expect(api.callsOf("event.acknowledge")).toHaveLength(1));
  expect(api.callsOf("event.acknowledge")[0]).toMatchObject({ action: 2 });
});
