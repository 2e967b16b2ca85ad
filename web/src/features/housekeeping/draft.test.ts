import { expect, test } from "vitest";
import type { Housekeeping } from "~/api/housekeeping";
import { housekeepingParams, housekeepingProblems, newOverrides } from "./draft";

const stored: Housekeeping = {
  hk_events_mode: "1",
  hk_events_trigger: "365d",
  hk_events_service: "1d",
  hk_events_internal: "1d",
  hk_events_discovery: "1d",
  hk_events_autoreg: "1d",
  hk_services_mode: "1",
  hk_services: "365d",
  hk_audit_mode: "1",
  hk_audit: "31d",
  hk_sessions_mode: "1",
  hk_sessions: "365d",
  hk_history_global: "0",
  hk_history: "31d",
  hk_trends_global: "0",
  hk_trends: "365d",
};

test.each([
  [{ hk_events_trigger: "23h" }, ["hk_events_trigger"]],
  [{ hk_audit: "" }, ["hk_audit"]],
  [{ hk_sessions: "9126d" }, ["hk_sessions"]],
  [{ hk_history_global: "1", hk_history: "59m" }, ["hk_history"]],
  [{ hk_history_global: "1", hk_history: "0" }, []],
  [{ hk_history: "59m" }, []],
  [{ hk_events_mode: "0", hk_events_trigger: "" }, []],
])("%o has problems in %o", (change, fields) => {
  expect(Object.keys(housekeepingProblems({ ...stored, ...change }))).toEqual(fields);
});

test("periods that do not apply are not stored", () => {
  const draft = { ...stored, hk_events_mode: "0", hk_audit: " 40d " };
  const params = housekeepingParams(draft);
  expect(params).toMatchObject({ hk_events_mode: "0", hk_audit: "40d", hk_history_global: "0" });
  expect(Object.keys(params)).not.toContain("hk_events_trigger");
  expect(Object.keys(params)).not.toContain("hk_history");
});

test("only changes of overrides are asked about", () => {
  const titles = (before: Housekeeping, draft: Housekeeping) =>
    newOverrides(before, draft).map((part) => part.title);
  const on = { ...stored, hk_history_global: "1" };
  expect(titles(stored, { ...stored, hk_audit: "1d" })).toEqual([]);
  expect(titles(stored, on)).toEqual(["History"]);
  expect(titles(on, { ...on, hk_history: "7d" })).toEqual(["History"]);
  expect(titles(on, stored)).toEqual([]);
});
