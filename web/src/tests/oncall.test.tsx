// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import type { ShiftRow } from "~/api/oncall";
import { openPage } from "./app";

const HOUR_S = 3_600;
const now = Math.floor(Date.now() / 1000);

const shift = (userid: string, from: number, to: number, more: Partial<ShiftRow> = {}) => ({
  scheduleid: "1",
  userid,
  from: String(now + from * HOUR_S),
  to: String(now + to * HOUR_S),
  layer: userid === "0" ? "-1" : "0",
  overrideid: "0",
  gap: userid === "0" ? "1" : "0",
  ...more,
});

/** One schedule: Ann is on call, then nobody, then the user, then Boris by an override. */
function estate(rows = [shift("2", -5, 2), shift("0", 2, 3), shift("1", 3, 9), shift("3", 9, 20)]) {
  const api = mockEstate({ hosts: 3, alerting: true });
  api.tables["oncall.get"] = api.tables["oncall.get"]?.slice(0, 1);
  api.answers["oncall.shifts"] = ({ userids }) =>
    rows.filter((row) => !userids || userids.includes(row.userid));
  return api;
}
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const choose = (label: string, value: string) =>
  fireEvent.change(screen.getByLabelText(label, { exact: false }), { target: { value } });
const onCallNow = () => within(screen.getByRole("region", { name: "On call now" }));

test("the page says who is on call, until when, and that a gap follows", async () => {
  await openPage(estate(), "/oncall");
  const card = await screen.findByRole("link", { name: /Databases/ });
  expect(card.textContent).toMatch(/^DatabasesAnn Berguntil .* for (2h|1h 59m)/);
  onCallNow().getByText("Then nobody");
});

test("a gap is shown as one", async () => {
  await openPage(estate([shift("0", -1, 2), shift("2", 2, 9)]), "/oncall");
  await screen.findByRole("region", { name: "On call now" });
  onCallNow().getByText("Nobody is on call");
  onCallNow().getByText("Then Ann Berg");
  await screen.findByText("Nobody is on call once in these days. Messages of that time fail.");
});

test("without a response nobody is said to be on call", async () => {
  const api = estate();
  api.refuse("oncall.shifts", DENIED);
  await openPage(api, "/oncall");
  expect((await screen.findAllByRole("alert")).length).toBeGreaterThan(0);
  expect(screen.queryByText("Ann Berg")).toBeNull();
  expect(screen.queryByText(/Nobody is on call/)).toBeNull();
});

test("a shift that the answer does not cover is unknown", async () => {
  await openPage(estate([]), "/oncall");
  await screen.findByRole("region", { name: "On call now" });
  onCallNow().getByText("Unknown");
});

test("an own shift is given away", async () => {
  const api = estate();
  await openPage(api, "/oncall", { type: 1 });
  const mine = within(await screen.findByRole("list", { name: "My next shifts" }));
  expect(mine.getAllByRole("listitem")).toHaveLength(1);
  fireEvent.click(mine.getByRole("button", { name: "Give away…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Shift" }));
  dialog.getByText("Choose a user.");
  const users = within(dialog.getByLabelText(/^Who takes over/)).getAllByRole("option");
  expect(users.map((one) => one.textContent)).toEqual(["Choose…", "Ann Berg", "Boris Kalns"]);
  choose("Who takes over", "3");
  press("Save override");
  await waitFor(() => expect(api.callsOf("oncall.override")).toHaveLength(1));
  const [sent] = api.callsOf("oncall.override") as object[];
  expect(sent).toMatchObject({ scheduleid: "1", userid: "3" });
  expect(sent).toMatchObject({ from: now + 3 * HOUR_S, to: now + 9 * HOUR_S });
  expect(sent).not.toHaveProperty("swap");
});

test("shifts are swapped", async () => {
  const api = estate();
  await openPage(api, "/oncall", { type: 1 });
  fireEvent.click(await screen.findByRole("button", { name: "Swap…" }));
  const dialog = within(await screen.findByRole("dialog", { name: "Shift" }));
  const box = await dialog.findByLabelText(/^In exchange for/);
  // The shift of Ann has begun, and gaps belong to nobody.
  const shifts = within(box).getAllByRole("option").slice(1);
  expect(shifts.map((one) => one.textContent)).toEqual([expect.stringMatching(/^Boris Kalns: /)]);
  fireEvent.change(box, { target: { value: (shifts[0] as HTMLOptionElement).value } });
  dialog.getByText(/^Boris Kalns is on call in the time above, Admin \(you\) in exchange/);
  press("Save override");
  await waitFor(() => expect(api.callsOf("oncall.override")).toHaveLength(1));
  expect(api.callsOf("oncall.override")[0]).toMatchObject({
    userid: "3",
    swap: { from: now + 9 * HOUR_S, to: now + 20 * HOUR_S },
  });
});

test("a user can only take over what others have", async () => {
  const api = estate();
  await openPage(api, "/oncall", { type: 1 });
  const [block] = await screen.findAllByRole("button", { name: /^Ann Berg, / });
  fireEvent.click(block as HTMLElement);
  const dialog = within(await screen.findByRole("dialog", { name: "Shift" }));
  dialog.getByText("You take over this time.");
  expect(dialog.queryByLabelText(/^Who takes over/)).toBeNull();
  expect(dialog.queryByRole("radio")).toBeNull();
  press("Save override");
  await waitFor(() =>
    expect(api.callsOf("oncall.override")).toMatchObject([{ scheduleid: "1", userid: "1" }]),
  );
});

test("users outside of the schedule change nothing", async () => {
  const api = estate();
  for (const schedule of api.tables["oncall.get"] ?? [])
    schedule.users = schedule.users?.filter((one) => one.userid !== "1");
  await openPage(api, "/oncall", { type: 1 });
  const [block] = await screen.findAllByRole("button", { name: /^Ann Berg, / });
  fireEvent.click(block as HTMLElement);
  await screen.findByText("Only members of the schedule can change shifts.");
  expect(screen.queryByRole("button", { name: "Save override" })).toBeNull();
  expect(screen.queryByRole("link", { name: "Create schedule" })).toBeNull();
});

test("an override says so and is revoked", async () => {
  const api = estate([shift("2", -5, 2), shift("1", 2, 40, { overrideid: "5", layer: "-1" })]);
  await openPage(api, "/oncall");
  const [block] = await screen.findAllByRole("button", { name: /^Admin \(you\), / });
  fireEvent.click(block as HTMLElement);
  const dialog = within(await screen.findByRole("dialog", { name: "Shift" }));
  await dialog.findByText("Override");
  press("Revoke override…");
  fireEvent.click(await screen.findByRole("button", { name: "Revoke override" }));
  await waitFor(() => expect(api.callsOf("oncall.revoke")).toEqual([["5"]]));
});

test("a calendar link is shown once", async () => {
  const api = estate();
  await openPage(api, "/oncall");
  fireEvent.click(await screen.findByRole("button", { name: "Calendar…" }));
  press("Create link");
  await screen.findByText(/\/oncall\/t0k3n\.ics$/);
  expect(api.callsOf("oncall.ical")).toEqual([{ scheduleid: "0", mine: 1 }]);
  fireEvent.change(screen.getByLabelText("Shifts"), { target: { value: "1 0" } });
  expect(screen.queryByText(/t0k3n/)).toBeNull();
  press("Revoke link");
  await waitFor(() =>
    expect(api.callsOf("oncall.ical")[1]).toEqual({ scheduleid: "1", mine: 0, revoke: 1 }),
  );
});

test("a schedule is created with a layer", async () => {
  const api = estate();
  await openPage(api, "/oncall/new");
  await screen.findByRole("heading", { name: "Create schedule" });
  press("Create schedule");
  expect((await screen.findByRole("alert")).textContent).toBe("Enter a name.");
  fireEvent.change(screen.getByLabelText(/^Name/), { target: { value: "Network" } });
  await screen.findByRole("option", { name: "Ann Berg (ann)" });
  fireEvent.change(screen.getByLabelText("User"), { target: { value: "2" } });
  press("Add user");
  const [, second] = screen.getAllByLabelText("User");
  fireEvent.change(second as HTMLElement, { target: { value: "3" } });
  fireEvent.click(screen.getAllByRole("button", { name: "Move up" })[2] as HTMLElement);
  press("Add time");
  fireEvent.click(screen.getByRole("button", { name: "Sun" }));
  press("Create schedule");
  await waitFor(() => expect(api.callsOf("oncall.create")).toHaveLength(1));
  expect(api.callsOf("oncall.create")[0]).toMatchObject({
    name: "Network",
    layers: [
      {
        name: "Primary",
        users: [{ userid: "3" }, { userid: "2" }],
        period: "1w",
        restrictions: [{ weekdays: "63", from: "18:00", to: "08:00" }],
      },
    ],
  });
});

test("a server without schedules says what they are for", async () => {
  const api = estate();
  api.tables["oncall.get"] = [];
  await openPage(api, "/oncall");
  await screen.findByText("No on-call schedules");
  expect(screen.getAllByRole("link", { name: "Create schedule" }).length).toBeGreaterThan(0);
});
