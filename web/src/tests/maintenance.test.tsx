// @vitest-environment happy-dom
import { screen, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import type { Stored } from "~/api/mock/tables";
import { openPage } from "./app";

const now = Math.floor(Date.now() / 60_000) * 60;

/** A maintenance with one period that starts then and lasts an hour. */
const maintenance = (
  id: number,
  name: string,
  state: string,
  start: number,
): Stored<"maintenance.get"> => ({
  maintenanceid: String(id),
  name,
  state,
  maintenance_type: "0",
  active_since: String(start),
  active_till: String(start + 7_200),
  tags_evaltype: "0",
  tags: [],
  hosts: [],
  hostgroups: [{ groupid: "1", name: "Linux servers" }],
  timeperiods: [{ timeperiod_type: "0", start_date: String(start), period: "3600" }],
});

function estate() {
  const api = mockEstate({ hosts: 4 });
  api.tables["maintenance.get"] = [
    maintenance(1, "backup", "active", now - 600),
    maintenance(2, "upgrade", "upcoming", now + 86_400),
    maintenance(3, "move", "ended", now - 86_400),
  ];
  return api;
}

test("the server selects maintenances by state", async () => {
  const api = estate();
  await openPage(api, "/maintenance?state=planned");
  const table = await screen.findByRole("grid", { name: "Maintenance" });
  expect(await within(table).findByText("upgrade")).toBeTruthy();
  expect(within(table).queryByText("backup")).toBeNull();
  const calls = api.callsOf("maintenance.get") as { states?: string[]; limit?: number }[];
  expect(calls.length).toBeGreaterThan(1);
  for (const call of calls) expect(call.states).toEqual(["upcoming"]);
  expect(calls.filter((call) => !("countOutput" in call)).every((call) => call.limit)).toBe(true);
});

test("all maintenances come in the order of their states", async () => {
  const api = estate();
  await openPage(api, "/maintenance");
  expect(await screen.findByText("backup")).toBeTruthy();
  expect(screen.getByText("move")).toBeTruthy();
  const [call] = api.callsOf("maintenance.get");
  expect(call).toMatchObject({ states: ["active", "upcoming", "ended"] });
  expect(call).not.toHaveProperty("sortfield");
});
