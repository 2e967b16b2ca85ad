// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => mockEstate({ hosts: 3, alerting: true });
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });
const grid = async (name: string) => within(await screen.findByRole("grid", { name }));

test("the tree shows status, root cause and the SLA of each service", async () => {
  const api = estate();
  await openPage(api, "/services");
  const table = await grid("Services");
  const shop = await table.findByRole("row", { name: /Shop/ });
  expect(shop.textContent).toContain("High");
  const cause = api.tables["problem.get"]?.[0];
  expect(
    within(shop).getAllByRole("link", { name: cause?.name })[0]?.getAttribute("href"),
  ).toContain(`event=${cause?.eventid}`);
  await within(shop).findByRole("img", { name: /^Gold, last 8 periods: .* missed, 1 unknown$/ });
  const office = table.getByRole("row", { name: /Back office/ });
  await within(office).findByText("Not covered");
});

test("levels are read when they are opened, and an unknown status is not OK", async () => {
  const api = estate();
  await openPage(api, "/services");
  const table = await grid("Services");
  await table.findByRole("row", { name: /Back office/ });
  expect(table.queryByText("Legacy")).toBeNull();
  press("Expand Back office");
  const legacy = await table.findByRole("row", { name: /Legacy/ });
  expect(legacy.textContent).toContain("Unknown");
  expect(legacy.textContent).not.toContain("OK");
  press("Expand Shop");
  await waitFor(() => expect(table.getAllByRole("row", { name: /Payment/ })).toHaveLength(2));
  press("Collapse Shop");
  await waitFor(() => expect(table.getAllByRole("row", { name: /Payment/ })).toHaveLength(1));
});

test("arrow keys open and close a level", async () => {
  await openPage(estate(), "/services");
  const table = await grid("Services");
  await table.findByRole("row", { name: /Shop/ });
  const element = screen.getByRole("grid", { name: "Services" });
  fireEvent.keyDown(element, { key: "ArrowDown" });
  fireEvent.keyDown(element, { key: "ArrowRight" });
  await table.findAllByRole("row", { name: /Legacy|Web shop/ });
  fireEvent.keyDown(element, { key: "ArrowLeft" });
  await waitFor(() => expect(table.queryAllByRole("row", { name: /Legacy|Web shop/ })).toEqual([]));
});

test("a level that cannot be read says so", async () => {
  const api = estate();
  await openPage(api, "/services");
  const table = await grid("Services");
  await table.findByRole("row", { name: /Shop/ });
  api.refuse("service.get", DENIED);
  press("Expand Shop");
  await table.findByText(/^Services below cannot be shown\. No permissions/);
});

test("without an answer the SLA is unknown", async () => {
  const api = estate();
  api.refuse("sla.getsli", DENIED);
  await openPage(api, "/services");
  const table = await grid("Services");
  const shop = await table.findByRole("row", { name: /Shop/ });
  await within(shop).findByText("Unknown");
});

test("a search lists services without their tree", async () => {
  const api = estate();
  await openPage(api, "/services?status=problems");
  const table = await grid("Services");
  await table.findByRole("row", { name: /Web shop/ });
  expect(table.queryByText("Back office")).toBeNull();
  expect(screen.queryByRole("button", { name: /^Expand/ })).toBeNull();
});

test("a service is saved with its rules and its place", async () => {
  const api = estate();
  await openPage(api, "/services/new?parent=1");
  await screen.findByRole("heading", { name: "Create service" });
  press("Create service");
  expect((await screen.findByRole("alert")).textContent).toBe("Enter a name.");
  type(/^Name/, "Search");
  press("Add rule");
  type("Rule", "1");
  type("Limit %", "50");
  type("Propagation", "4");
  press("Create service");
  await waitFor(() => expect(api.callsOf("service.create")).toHaveLength(1));
  expect(api.callsOf("service.create")[0]).toMatchObject({
    name: "Search",
    parents: [{ serviceid: "1" }],
    status_rules: [{ type: "1", limit_value: "50", limit_status: "3", new_status: "4" }],
    propagation_rule: "4",
    propagation_value: "5",
  });
});

test("a service that may only be read has no buttons", async () => {
  const api = estate();
  const stored = api.tables["service.get"]?.find((one) => one.serviceid === "3");
  Object.assign(stored ?? {}, { readonly: true });
  await openPage(api, "/services/3/edit");
  await screen.findByText("Your role allows only viewing this service.");
  expect(screen.queryByRole("button", { name: "Save service" })).toBeNull();
  expect(screen.getByLabelText(/^Name/).closest("fieldset")?.disabled).toBe(true);
});

test("an SLA is saved with its schedule", async () => {
  const api = estate();
  await openPage(api, "/sla/2/edit");
  await screen.findByRole("heading", { name: "Edit Office hours" });
  expect((screen.getByLabelText("Monday") as HTMLInputElement).value).toBe("08:00-17:00");
  type("Monday", "25:00-26:00");
  press("Save SLA");
  await screen.findAllByText(/^Enter the times of Monday/);
  type("Monday", "09:00-17:00");
  press("Save SLA");
  await waitFor(() => expect(api.callsOf("sla.update")).toHaveLength(1));
  expect(api.callsOf("sla.update")[0]).toMatchObject({
    slaid: "2",
    status: "0",
    schedule: [{ period_from: 118_800, period_to: 147_600 }],
    excluded_downtimes: [{ name: "Move", period_from: "1790000000", period_to: "1790003600" }],
  });
});

test("the report shows all services, then the periods of one", async () => {
  await openPage(estate(), "/sla-report");
  const table = await grid("SLA report");
  const shop = await table.findByRole("row", { name: /^Shop/ });
  await within(shop).findByText("99.99 %");
  within(shop).getByText("1 of 7");
  expect(table.queryByText("Payment")).toBeNull();
  fireEvent.click(shop);
  const periods = await grid("Periods of Shop");
  const rows = periods.getAllByRole("row").slice(1);
  expect(rows).toHaveLength(8);
  expect(rows[0]?.textContent).toContain("99.99 %");
  expect(rows[2]?.textContent).toMatch(/98\.2 %.*exceeded by/);
  expect(rows[7]?.textContent).toContain("Unknown");
  expect(rows[7]?.textContent).not.toContain("100 %");
});

test("without an SLA the report says what to do", async () => {
  const api = estate();
  api.tables["sla.get"] = [];
  await openPage(api, "/sla-report");
  await screen.findByText("The report shows how services met an SLA. Create an SLA first.");
});
