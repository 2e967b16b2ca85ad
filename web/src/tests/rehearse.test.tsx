// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => mockEstate({ hosts: 3, alerting: true });
const press = (name: string) => fireEvent.click(screen.getByRole("button", { name }));

interface Asked {
  action: Record<string, unknown>;
  time_from: number;
  time_till: number;
}
const askedOf = (api: ReturnType<typeof estate>) => api.callsOf("action.rehearse") as Asked[];

test("an action is rehearsed as it is in the form", async () => {
  const api = estate();
  await openPage(api, "/actions/1/edit");
  const period = await screen.findByLabelText(/^Default step duration/);
  fireEvent.change(period, { target: { value: "5m" } });
  press("Rehearse…");
  const dialog = within(await screen.findByRole("dialog", { name: "Rehearsal" }));
  await dialog.findByText("1 234 problems, of which 56 meet the conditions.");
  dialog.getByText(/Maintenance, trigger dependencies and symptoms of the past are unknown/);
  const users = dialog.getByRole("region", { name: "Users" });
  const ann = within(users).getByRole("row", { name: /^ann/ });
  expect(ann.textContent).toMatch(
    /^ann1123117 from .*09: Outside the active times.*5: Part of a summary.*40$/,
  );
  const messages = within(dialog.getByRole("region", { name: "First messages" }));
  const rows = messages.getAllByRole("row").map((row) => row.textContent);
  expect(rows[1]).toMatch(/Event 1annann@example\.org by E-mailStep 1Sent$/);
  expect(rows[2]).toMatch(/boris.*Step 2The user has no medium/);
  expect(rows[3]).toMatch(/Recovery/);
  expect(rows[4]).toMatch(/Step 4Part of a summary of its group\.$/);
  expect(rows[5]).toMatch(/Summary of 5 messagesSent$/);
  const [asked] = askedOf(api);
  expect(asked?.action).toMatchObject({ eventsource: "0", esc_period: "5m" });
  expect(asked?.action).not.toHaveProperty("actionid");
  expect(asked?.action.name).toMatch(/^Rehearsal /);
  expect((asked?.time_till ?? 0) - (asked?.time_from ?? 0)).toBe(7 * 86_400);
  fireEvent.click(dialog.getByRole("radio", { name: "Last 30 days" }));
  await waitFor(() => expect(askedOf(api)).toHaveLength(2));
  const month = askedOf(api)[1];
  expect((month?.time_till ?? 0) - (month?.time_from ?? 0)).toBe(30 * 86_400);
  expect(api.callsOf("action.update")).toEqual([]);
});

test("a form with mistakes is not rehearsed, a missing name is none", async () => {
  const api = estate();
  await openPage(api, "/actions/new");
  await screen.findByRole("heading", { name: "Create trigger action" });
  press("Rehearse…");
  expect((await screen.findByRole("alert")).textContent).toBe("Choose users or user groups.");
  expect(api.callsOf("action.rehearse")).toEqual([]);
});

test("a refused rehearsal says why", async () => {
  const api = estate();
  api.refuse("action.rehearse", DENIED);
  await openPage(api, "/actions/1/edit");
  await screen.findByLabelText(/^Default step duration/);
  press("Rehearse…");
  const dialog = within(await screen.findByRole("dialog", { name: "Rehearsal" }));
  expect((await dialog.findByRole("alert")).textContent).toContain("No permissions");
});

test("only actions on problems of triggers are rehearsed", async () => {
  await openPage(estate(), "/actions/2/edit");
  await screen.findByRole("button", { name: "Save action" });
  expect(screen.queryByRole("button", { name: "Rehearse…" })).toBeNull();
});
