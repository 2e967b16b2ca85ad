// @vitest-environment happy-dom
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

const estate = () => {
  const api = mockEstate({ hosts: 3, alerting: true });
  api.answers["user.update"] = () => ({ userids: ["2"] });
  return api;
};
const press = (name: string | RegExp) => fireEvent.click(screen.getByRole("button", { name }));

test("a medium is added, and the others keep their ids", async () => {
  const api = estate();
  await openPage(api, "/users");
  expect((await screen.findByRole("row", { name: /Ann Berg/ })).textContent).toContain("1 enabled");
  press("Edit ann");
  const dialog = within(await screen.findByRole("dialog"));
  const first = within(await dialog.findByRole("group", { name: "Medium 1" }));
  expect(first.getByLabelText<HTMLTextAreaElement>(/^E-mail addresses/).value).toBe(
    "ann@example.org",
  );
  fireEvent.click(await dialog.findByRole("button", { name: "Add medium" }));
  expect(dialog.getByText("Enter an address for each media type.")).toBeTruthy();
  const added = within(dialog.getByRole("group", { name: "Medium 3" }));
  fireEvent.change(added.getByLabelText("Media type"), { target: { value: "2" } });
  fireEvent.change(added.getByLabelText(/^Send to/), { target: { value: "@ann" } });
  fireEvent.click(added.getByLabelText("Disaster"));
  press("Save user");
  await waitFor(() => expect(api.callsOf("user.update")).toHaveLength(1));
  expect(api.callsOf("user.update")[0]).toMatchObject({
    userid: "2",
    medias: [
      { mediaid: "1", sendto: ["ann@example.org"], severity: "63" },
      { mediaid: "2", active: "1", severity: "48" },
      { mediatypeid: "2", sendto: "@ann", active: "0", severity: "31" },
    ],
  });
});

test("unchanged media are not sent", async () => {
  const api = estate();
  await openPage(api, "/users");
  await screen.findByRole("row", { name: /Ann Berg/ });
  press("Edit ann");
  const dialog = within(await screen.findByRole("dialog"));
  fireEvent.change(dialog.getByLabelText(/^Last name/), { target: { value: "Borg" } });
  press("Save user");
  await waitFor(() => expect(api.callsOf("user.update")).toHaveLength(1));
  expect(api.callsOf("user.update")[0]).not.toHaveProperty("medias");
});

test("a user without media is said to get no messages", async () => {
  await openPage(estate(), "/users");
  await screen.findByRole("row", { name: /Boris/ });
  press("Edit boris");
  await screen.findByText(/This user gets no messages/);
});
