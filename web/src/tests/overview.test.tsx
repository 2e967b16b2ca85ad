// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
import { STARTS_MAX } from "~/api/events";
import { DENIED } from "~/api/mock/api";
import { mockEstate } from "~/api/mock/estate";
import { openPage } from "./app";

test("a refused list of events is no chart without problems", async () => {
  const api = mockEstate({ hosts: 4 });
  api.refuse("event.get", DENIED);
  await openPage(api, "/");
  expect(await screen.findByText("Problems started")).toBeTruthy();
  expect((await screen.findAllByText(DENIED.data)).length).toBeGreaterThan(0);
  expect(screen.queryByText(/in 24 h$/)).toBeNull();
  expect(screen.queryByRole("img", { name: /problems started/ })).toBeNull();
});

test("bars before the oldest of the newest problems are not counted as none", async () => {
  const api = mockEstate({ hosts: 4 });
  const event = api.tables["event.get"]?.[0];
  if (!event) throw new Error("no event in the estate");
  const hour = Math.floor(Date.now() / 1000) - 3_600;
  const events = Array.from({ length: STARTS_MAX }, (_, i) => ({
    ...event,
    eventid: String(1_000_000 + i),
    clock: String(hour),
    value: "1" as const,
  }));
  api.tables["event.get"] = events;
  await openPage(api, "/");
  expect(await screen.findByText(/^more than 10.000 in 24 h/)).toBeTruthy();
  expect(screen.getAllByTitle(/not counted$/).length).toBeGreaterThan(40);
});
