// @vitest-environment happy-dom
import { screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

/** An item of the mock whose history was lost in part, and one of another host. */
function estate() {
  const api = mockEstate({ hosts: 2 });
  const items = api.tables["item.get"] ?? [];
  const [damaged, whole] = [items.find(({ itemid }) => itemid?.endsWith("11")), items[0]];
  if (!damaged || !whole) throw new Error("the mock has no such items");
  return { api, damaged, ids: `${whole.itemid},${damaged.itemid}` };
}

const NOTE = /^History from .+ to .+ was lost \(7\.seg: the file is missing\)\.$/;

test("a graph names the range that was lost, and asks once for all its items", async () => {
  const { api, damaged, ids } = estate();
  await openPage(api, `/graph?items=${ids}&split=yes`);
  expect(await screen.findAllByText(NOTE)).toHaveLength(1);
  const asked = api.callsOf("history.gaps") as { itemids: string[]; time_from: number }[];
  expect(asked.map(({ itemids }) => itemids.length)).toEqual([1, 1]);
  expect(asked[1]).toMatchObject({ itemids: [damaged.itemid], limit: 1000 });
  expect(Date.now() / 1000 - (asked[1]?.time_from ?? 0)).toBeGreaterThan(3_590);
});

test("a graph does not need to know what was lost", async () => {
  const { api, ids } = estate();
  api.refuse("history.gaps", DENIED);
  await openPage(api, `/graph?items=${ids}&split=yes`);
  await waitFor(() => expect(api.callsOf("history.gaps").length).toBeGreaterThan(0));
  expect(await screen.findAllByRole("table")).toHaveLength(2);
  expect(screen.queryByRole("alert")).toBeNull();
  expect(screen.queryByText(NOTE)).toBeNull();
});

test("a list of values has a row for the lost range at its place", async () => {
  const { api, damaged } = estate();
  damaged.value_type = "4";
  await openPage(api, `/graph?items=${damaged.itemid}`);
  // Its values are a minute apart, and the newest 25 minutes are there.
  await waitFor(() => {
    const note = screen.getByText(/^History of this range was lost: damaged file/);
    const rows = within(screen.getByRole("table")).getAllByRole("row");
    const at = rows.findIndex((row) => row.contains(note));
    expect(at).toBeGreaterThan(20);
    expect(rows.length - at).toBeGreaterThan(15);
  });
});
