// @vitest-environment happy-dom
import { fireEvent, screen, waitFor } from "@testing-library/react";
import { expect, test } from "vitest";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

test("a heartbeat is switched on and off", async () => {
  const api = mockEstate({ hosts: 1, alerting: true });
  await openPage(api, "/heartbeat");
  const box = () => screen.findByLabelText<HTMLInputElement>("Send a heartbeat");
  await screen.findByText("The heartbeat is off. Nobody is notified if the server stops.");
  fireEvent.click(await box());
  const save = () => fireEvent.click(screen.getByRole("button", { name: "Save heartbeat" }));
  save();
  expect((await screen.findByRole("alert")).textContent).toBe("Enter an http or https address.");
  const url = "https://hc.example.org/ping/1";
  fireEvent.change(screen.getByLabelText(/^Address/), { target: { value: url } });
  save();
  await waitFor(() =>
    expect(api.callsOf("settings.update")).toEqual([
      { heartbeat_url: url, heartbeat_period: "1m" },
    ]),
  );
  await waitFor(() =>
    expect(screen.getByLabelText<HTMLInputElement>(/^Interval/).value).toBe("1m"),
  );
  fireEvent.click(await box());
  save();
  await waitFor(() =>
    expect(api.callsOf("settings.update")[1]).toEqual({
      heartbeat_url: url,
      heartbeat_period: "0",
    }),
  );
});

test("the heartbeat is not for other users", async () => {
  await openPage(mockEstate({ hosts: 1 }), "/heartbeat", { type: 2 });
  await screen.findByText(/You do not have/);
});
