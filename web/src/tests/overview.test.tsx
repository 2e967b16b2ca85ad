// @vitest-environment happy-dom
import { screen } from "@testing-library/react";
import { expect, test } from "vitest";
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

test("the bars count all problems of the day", async () => {
  const api = mockEstate({ hosts: 4 });
  const event = api.tables["event.get"]?.[0];
  if (!event) throw new Error("no event in the estate");
  const now = Math.floor(Date.now() / 1000);
  const at = (seconds: number) => String(now - seconds);
  const events = Array.from({ length: 12_345 }, (_, i) => ({
    ...event,
    eventid: String(1_000_000 + i),
    clock: i < 12_000 ? at(3_600) : at(80_000),
    severity: i < 12_000 ? "4" : "1",
    value: "1" as const,
  }));
  api.tables["event.get"] = [...events, { ...event, eventid: "9", clock: at(90_000), value: "1" }];
  await openPage(api, "/");
  expect(await screen.findByText(/^12.345 in 24 h$/)).toBeTruthy();
  expect(screen.getByTitle(/ 12000 started$/)).toBeTruthy();
  expect(screen.getByTitle(/ 345 started$/)).toBeTruthy();
  expect(screen.getAllByTitle(/ 0 started$/)).toHaveLength(46);
});
