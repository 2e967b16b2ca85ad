// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

/** A map that is shared with an inaccessible user, and a background before its only icon. */
function estate() {
  const api = mockEstate({ hosts: 1, alerting: true });
  const map = {
    sysmapid: "1",
    name: "Riga",
    width: "800",
    height: "600",
    backgroundid: "0",
    label_type: "0",
    label_location: "0",
    grid_size: "50",
    private: "1",
    users: [{ userid: "999", permission: "2" }],
    userGroups: [],
    selements: [],
    links: [],
    shapes: [],
    lines: [],
  };
  const image = (imageid: string, imagetype: string, name: string) => ({
    imageid,
    imagetype,
    name,
  });
  Object.assign(api.tables, {
    "map.get": [map],
    "image.get": [image("7", "2", "Background"), image("8", "1", "Icon")],
  });
  Object.assign(api.answers, { "map.update": () => ({ sysmapids: ["1"] }) });
  return api;
}

test("a map shared with a user out of sight is saved without its sharing", async () => {
  const api = estate();
  await openPage(api, "/maps/1/edit");
  expect(await screen.findByRole("option", { name: "Inaccessible user" })).toBeTruthy();
  fireEvent.change(screen.getByLabelText(/^Name/), { target: { value: "Tallinn" } });
  fireEvent.click(screen.getByRole("button", { name: "Save map" }));
  await waitFor(() => expect(api.callsOf("map.update")).toHaveLength(1));
  const [update] = api.callsOf("map.update");
  expect(update).toMatchObject({ sysmapid: "1", name: "Tallinn" });
  expect(update).not.toHaveProperty("users");
});

test("a new element has an icon, not a background", async () => {
  await openPage(estate(), "/maps/1/edit");
  await screen.findByRole("option", { name: "Background" });
  fireEvent.click(screen.getByRole("button", { name: "Add element" }));
  expect((await screen.findByLabelText<HTMLSelectElement>("Icon")).value).toBe("8");
  expect(screen.queryByRole("option", { name: "Choose an icon" })).toBeNull();
});
