// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const LABEL = /items/i;
const rowsOf = async () =>
  within(await screen.findByRole("grid", { name: LABEL }))
    .getAllByRole("row")
    .slice(1);

test("items are listed with their host and newest value", async () => {
  await openPage(mockEstate({ hosts: 2 }), "/latest");
  expect(await screen.findByText("10 items")).toBeTruthy();
  await waitFor(async () => expect(await rowsOf()).toHaveLength(10));
  await waitFor(async () =>
    expect((await rowsOf()).map((row) => row.textContent).join()).toMatch(/CPU utilization.*%/),
  );
});

test("the filter of the address is sent to the server", async () => {
  const api = mockEstate({ hosts: 2 });
  await openPage(api, "/latest?text=cpu");
  expect(await screen.findByText("2 items")).toBeTruthy();
  expect(api.callsOf("item.get")[0]).toMatchObject({
    search: { name: "cpu", key_: "cpu" },
    searchByAny: true,
    monitored: true,
  });
});

test("a server without items says how to get some", async () => {
  await openPage(mockEstate({ hosts: 0 }), "/latest");
  expect(await screen.findByText("No item yet")).toBeTruthy();
  expect(screen.getByRole("link", { name: "Go to hosts" })).toBeTruthy();
});

test("items that are loading are announced", async () => {
  const api = mockEstate({ hosts: 2 });
  api.hold();
  await openPage(api, "/latest");
  expect(await screen.findByRole("status", { name: "Loading" })).toBeTruthy();
  api.goOn();
  expect(await screen.findByText("10 items")).toBeTruthy();
});

test("an error is shown in words, and a retry brings the items", async () => {
  const api = mockEstate({ hosts: 2 });
  api.refuse("item.get", DENIED);
  await openPage(api, "/latest");
  const note = await screen.findByRole("alert");
  expect(note.textContent).toContain("Ask an administrator.");
  api.allow("item.get");
  fireEvent.click(screen.getByRole("button", { name: "Try again" }));
  expect(await screen.findByText("10 items")).toBeTruthy();
});

test("values stay while the server does not respond, under a banner with their age", async () => {
  const api = mockEstate({ hosts: 2 });
  const client = await openPage(api, "/latest");
  await waitFor(async () => expect(await rowsOf()).toHaveLength(10));
  api.down = true;
  await client.refetchQueries();
  expect(await screen.findByText("The server does not respond.")).toBeTruthy();
  expect(await rowsOf()).toHaveLength(10);
});

test("an item that is not supported shows why", async () => {
  const api = mockEstate({ hosts: 2 });
  const [item] = api.tables["item.get"] ?? [];
  Object.assign(item ?? {}, { state: "1", error: "Unsupported item key." });
  await openPage(api, "/latest");
  const state = await screen.findByTitle("Unsupported item key.");
  expect(state.textContent).toBe("Not supported");
});
