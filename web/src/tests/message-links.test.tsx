// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

test("links in messages get an address and a lifetime", async () => {
  const api = mockEstate({ hosts: 1, alerting: true });
  await openPage(api, "/message-links");
  const lifetime = await screen.findByLabelText<HTMLInputElement>(/^Lifetime/);
  expect(lifetime.value).toBe("24h");
  fireEvent.change(lifetime, { target: { value: "31d" } });
  const save = () => fireEvent.click(screen.getByRole("button", { name: "Save message links" }));
  save();
  expect((await screen.findByRole("alert")).textContent).toBe("Enter a duration from 1m to 30d.");
  fireEvent.change(lifetime, { target: { value: "2h" } });
  const url = "https://monitor.example.org";
  const address = screen.getByLabelText(/^Address of the interface/);
  fireEvent.change(address, { target: { value: url } });
  save();
  await waitFor(() =>
    expect(api.callsOf("settings.update")).toEqual([{ url, link_lifetime: "2h" }]),
  );
});

test("message links are not for other users", async () => {
  await openPage(mockEstate({ hosts: 1 }), "/message-links", { type: 2 });
  await screen.findByText(/You do not have/);
});
