// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => mockEstate({ hosts: 3, alerting: true });
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));
const type = (label: string | RegExp, value: string) =>
  fireEvent.change(screen.getByLabelText(label), { target: { value } });

test("the list shows conditions and operations, and the form keeps them", async () => {
  const api = estate();
  await openPage(api, "/correlation");
  const table = within(await screen.findByRole("grid", { name: "Event correlation" }));
  const row = await table.findByRole("row", { name: /Application is up again/ });
  expect(row.textContent).toContain("Old tag application equals new tag application");
  expect(row.textContent).toContain("Close old problems, Close the new problem");
  fireEvent.click(within(row).getAllByRole("link")[0] as HTMLElement);
  await screen.findByRole("heading", { name: "Edit Application is up again" });
  type(/^Description/, "By the state tag");
  press("Save correlation");
  await waitFor(() => expect(api.callsOf("correlation.update")).toHaveLength(1));
  expect(api.callsOf("correlation.update")[0]).toEqual({
    correlationid: "1",
    name: "Application is up again",
    description: "By the state tag",
    status: "0",
    filter: {
      evaltype: "1",
      conditions: [
        { type: "3", oldtag: "application", newtag: "application" },
        { type: "5", tag: "state", value: "up", operator: "0" },
      ],
    },
    operations: [{ type: "0" }, { type: "1" }],
  });
});

test("closing any old problem is warned of", async () => {
  await openPage(estate(), "/correlation/new");
  await screen.findByRole("heading", { name: "Create correlation" });
  expect(screen.queryByText(/^Without a condition about the old event/)).toBeNull();
  type("Condition", "1");
  await screen.findByText(/^Without a condition about the old event/);
});
