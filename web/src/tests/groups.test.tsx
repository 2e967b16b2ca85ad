// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED, type MockApi } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import type { GroupPlacement } from "~/api/placement";
import { openPage } from "./app";

const now = Math.floor(Date.now() / 1000);

const GROUP = {
  enginegroupid: "1",
  name: "edge",
  description: "",
  ha_mode: "0",
  placement: "0",
  engines_per_vip: "2",
  spare_engines: "0",
  vips_per_engine: "0",
  rebalance: "0",
  failover_after: "3",
  announce: {},
} as const;

const active = (engineid: string) => ({ engineid, role: "active", since: String(now - 60) });
const PLACEMENT: GroupPlacement = {
  enginegroupid: "1",
  vips: [
    { vipid: "1", wanted: "2", engines: [active("1"), active("2")], reason: "" },
    { vipid: "2", wanted: "2", engines: [active("1")], reason: "only 1 engine of the group is up" },
  ],
  engines: [
    { engineid: "1", state: "up", vips: "2", room: null },
    { engineid: "2", state: "up", vips: "1", room: null },
    { engineid: "3", state: "down", vips: "0", room: null },
  ],
};

/** A group of three engines with two VIPs, of which one has too few engines. */
function grouped(placement: GroupPlacement = PLACEMENT): MockApi {
  const api = mockEstate({ hosts: 3 });
  const engine = (id: string, last: number) => ({
    engineid: id,
    name: `edge${id}`,
    description: "",
    enginegroupid: "1",
    enrolment_expires_at: "0",
    lastaccess: String(last),
    address: "",
    running_hash: "a",
    desired_hash: "a",
    error: "",
  });
  api.tables["engine.get"] = [
    engine("1", now + 3_600),
    engine("2", now + 3_600),
    engine("3", now - 3_600),
  ];
  const vip = (vipid: string, name: string, ipv4: string) => ({
    vipid,
    name,
    description: "",
    ipv4,
    ipv6: "",
    dns_names: [],
  });
  // Tables leave out members that are lists or objects.
  api.answers["enginegroup.get"] = () => [GROUP];
  api.answers["vip.get"] = () => [vip("1", "shop", "192.0.2.1"), vip("2", "mail", "192.0.2.2")];
  api.answers["virtualservice.get"] = () => [];
  api.answers["enginegroup.placement"] = () => [placement];
  api.answers["enginegroup.compare"] = () => [];
  api.answers["enginegroup.update"] = () => ({ enginegroupids: ["1"] });
  return api;
}

const PAGE = "/balancing/engine-groups/1/placement";
const FORM = "/balancing/engine-groups/1/edit";
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const row = (grid: string, name: string) =>
  within(screen.getByRole("grid", { name: grid })).getByRole("row", { name: new RegExp(name) });

test("the page says which VIP has too few engines and why", async () => {
  await openPage(grouped(), PAGE);
  await screen.findByText("1 of 2 VIPs has too few engines.");
  screen.getByText("2 of 3 engines are up: 1 down.");
  expect(row("VIPs", "shop").textContent).toContain("2 of 2");
  expect(row("VIPs", "mail").textContent).toContain("1 of 2");
  expect(row("VIPs", "mail").textContent).toContain("Only 1 engine of the group is up.");
  fireEvent.click(screen.getByRole("radio", { name: "Too few engines (1)" }));
  await waitFor(() => expect(screen.queryByText("shop")).toBeNull());
  fireEvent.click(row("VIPs", "mail"));
  const dialog = await screen.findByRole("dialog", { name: "mail" });
  within(dialog).getByText("Only 1 engine of the group is up.");
  within(within(dialog).getByRole("region", { name: "Active" })).getByText("edge1");
});

test("the search of a group finds engines by their VIPs", async () => {
  await openPage(grouped(), `${PAGE}?view=engines`);
  await screen.findByText("Down");
  fireEvent.change(screen.getByRole("searchbox"), { target: { value: "shop" } });
  await waitFor(() => expect(screen.queryByText("edge3")).toBeNull());
  row("Engines", "edge2");
  fireEvent.change(screen.getByRole("searchbox"), { target: { value: "nothing" } });
  await screen.findByText("Nothing matches");
});

test("the matrix names the role of each engine", async () => {
  await openPage(grouped(), `${PAGE}?view=matrix`);
  const table = await screen.findByRole("table", { name: "Matrix" });
  const cells = (name: string) =>
    within(within(table).getByRole("row", { name: new RegExp(name) }))
      .getAllByRole("cell")
      .map((cell) => cell.textContent);
  expect(cells("shop")).toEqual(["active", "active", "not on this engine"]);
  expect(cells("mail")).toEqual(["active", "not on this engine", "not on this engine"]);
});

test("a placement that cannot be read any more is not shown as good", async () => {
  const api = grouped({ ...PLACEMENT, vips: PLACEMENT.vips.slice(0, 1) });
  const client = await openPage(api, PAGE);
  await screen.findByText("The VIP has enough engines.");
  api.refuse("enginegroup.placement", DENIED);
  await client.refetchQueries({ queryKey: ["balancing", "placement"] });
  await screen.findByText(/^These states are from/);
  screen.getByText("Which engines serve the VIPs is unknown now.");
  expect(screen.queryByText(/engines are up$/)).toBeNull();
});

/** Figures of an engine, measured so many seconds ago. */
function measured(api: MockApi, ages: Readonly<Record<string, number>>): void {
  const ids = Object.keys(ages);
  api.tables["host.get"] = ids.map((id) => ({
    hostid: `7${id}`,
    host: `lb.engine.${id}`,
    name: id,
    interfaces: [],
  }));
  const item = (id: string, key: string, value: string) => ({
    itemid: `${id}${key}`,
    hostid: `7${id}`,
    key_: `zabbix[vedette,lb,${key}]`,
    state: "0" as const,
    lastvalue: value,
    lastclock: String(now - (ages[id] ?? 0)),
  });
  api.tables["item.get"] = ids.flatMap((id) => [
    item(id, "requests", "1500"),
    item(id, "cpu", "150"),
    item(id, "connections", "12"),
  ]);
}

test("bars show requests beside cores, and old figures are unknown", async () => {
  const api = grouped();
  measured(api, { "1": -3_600, "2": -3_600, "3": 3_600 });
  await openPage(api, `${PAGE}?view=load`);
  await screen.findByRole("img", { name: "edge1, requests: 1.5 K/s" });
  screen.getByRole("img", { name: "edge1, CPU: 1.5 cores" });
  screen.getByRole("img", { name: "edge3, CPU: unknown" });
  expect(screen.getAllByText("2 of 3 engines")).toHaveLength(2);
  screen.getByText("3 K/s");
});

test("without figures the bars say so", async () => {
  await openPage(grouped(), `${PAGE}?view=load`);
  await screen.findByText("No engine of this group has reported figures recently.");
});

test("a form shows only the fields that its mode uses", async () => {
  await openPage(grouped(), FORM);
  await screen.findByLabelText("Active engines per VIP");
  expect(screen.queryByLabelText("Spare engines")).toBeNull();
  type("Mode", "1");
  screen.getByLabelText("Spare engines");
  type("Mode", "2");
  expect(screen.queryByLabelText("Active engines per VIP")).toBeNull();
  screen.getByLabelText("Placement");
  type("Mode", "0");
  type("Engines of a VIP", "all");
  expect(screen.queryByLabelText("Placement")).toBeNull();
});

test("a change that moves VIPs is confirmed with what is at stake", async () => {
  const api = grouped();
  measured(api, { "1": -3_600, "2": -3_600, "3": -3_600 });
  api.answers["enginegroup.compare"] = () => ({
    services: [],
    moves: [
      { vipid: "1", name: "shop", enginegroupid: "1", from: ["1", "2"], to: ["1"] },
      { vipid: "2", name: "mail", enginegroupid: "1", from: ["1"], to: [] },
    ],
  });
  await openPage(api, FORM);
  await screen.findByLabelText("Active engines per VIP");
  type("Active engines per VIP", "0");
  press("Save engine group");
  await screen.findAllByText("Enter a number from 1 to 1000.");
  type("Active engines per VIP", "1");
  press("Save engine group");
  const question = await screen.findByRole("dialog", { name: "Save this engine group?" });
  within(question).getByText("Active engines per VIP: 2 → 1");
  within(question).getByText("2 VIPs move.");
  within(question).getByText("1 VIP would have no engine.");
  await within(question).findByText("shop: edge1, edge2 → edge1");
  within(question).getByText("mail: edge1 → no engine");
  await within(question).findByText("The engines that lose VIPs have 24 connections open now.");
  within(question).getByText(/^No virtual service changes its configuration/);
  expect(api.callsOf("enginegroup.update")).toHaveLength(0);
  fireEvent.click(within(question).getByRole("button", { name: "Save engine group" }));
  await screen.findByRole("grid", { name: "VIPs" });
  expect(api.callsOf("enginegroup.compare")[0]).toMatchObject({
    method: "enginegroup.update",
    params: { enginegroupid: "1", engines_per_vip: "1" },
    moves: true,
  });
  expect(api.callsOf("enginegroup.update")).toMatchObject([
    { enginegroupid: "1", engines_per_vip: "1", announce: {} },
  ]);
});

test("a change that moves no VIP is saved at once", async () => {
  const api = grouped();
  await openPage(api, FORM);
  await screen.findByLabelText("Active engines per VIP");
  type("Failover after (seconds)", "5");
  press("Save engine group");
  await waitFor(() => expect(api.callsOf("enginegroup.update")).toHaveLength(1));
  expect(screen.queryByRole("dialog")).toBeNull();
});

test("draining an engine names the VIPs that move", async () => {
  const api = grouped();
  api.answers["enginegroup.compare"] = () => ({
    services: [],
    moves: [{ vipid: "1", name: "shop", enginegroupid: "1", from: ["1", "2"], to: ["1", "3"] }],
  });
  api.answers["engine.update"] = () => ({ engineids: ["2"] });
  await openPage(api, `${PAGE}?view=engines`);
  await screen.findByText("Down");
  fireEvent.click(row("Engines", "edge2"));
  press("Drain engine");
  const question = await screen.findByRole("dialog", { name: "Drain edge2?" });
  await within(question).findByText("shop: edge1, edge2 → edge1, edge3");
  expect(api.callsOf("engine.update")).toHaveLength(0);
  fireEvent.click(within(question).getByRole("button", { name: "Drain engine" }));
  await waitFor(() => expect(api.callsOf("engine.update")).toHaveLength(1));
  expect(api.callsOf("engine.update")).toEqual([{ engineid: "2", drain: "1" }]);
});

test("admins see the placement without anything to press in vain", async () => {
  await openPage(grouped(), `${PAGE}?view=engines`, { type: 2 });
  await screen.findByText("Down");
  expect(screen.queryByRole("link", { name: "Edit engine group" })).toBeNull();
  fireEvent.click(row("Engines", "edge2"));
  await screen.findByRole("dialog", { name: "edge2" });
  expect(screen.queryByRole("button", { name: "Drain engine" })).toBeNull();
});
