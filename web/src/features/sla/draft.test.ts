import { expect, test } from "vitest";
import { slaDraft, slaParams, slaProblems } from "./draft";

const NOW = 1_790_000_000;
const draft = {
  ...slaDraft(null, NOW),
  name: "Gold",
  tags: [{ tag: "sla", operator: "0", value: "gold" }],
};

test("a new agreement is about all times and starts on this day", () => {
  expect(slaProblems(draft)).toEqual({});
  expect(slaParams(draft)).toEqual({
    name: "Gold",
    description: "",
    status: "1",
    slo: "99.9",
    period: "2",
    timezone: "system",
    effective_date: String(NOW - (NOW % 86_400)),
    service_tags: [{ tag: "sla", operator: "0", value: "gold" }],
    schedule: [],
    excluded_downtimes: [],
  });
});

test("a schedule and downtimes are checked", () => {
  const days = ["", "8-9", "", "", "", "", ""];
  expect(slaProblems({ ...draft, always: false, days }).days).toContain("Monday");
  const none = days.map(() => "");
  expect(slaProblems({ ...draft, always: false, days: none })).toHaveProperty("days");
  const downtimes = [{ name: "Move", from: "2026-11-02T10:00", to: "2026-11-02T09:00" }];
  expect(slaProblems({ ...draft, downtimes })).toHaveProperty("downtimes");
});

test.each(["101", "x", "99.12345", ""])("%s is no objective", (slo) => {
  expect(slaProblems({ ...draft, slo })).toHaveProperty("slo");
});

test("what the server has comes back unchanged", () => {
  const schedule = [{ period_from: "115200", period_to: "147600" }];
  const excluded_downtimes = [{ name: "Move", period_from: "1577836800", period_to: "1577840400" }];
  const row = { ...slaParams(draft), slaid: "1", schedule, excluded_downtimes };
  expect(slaParams(slaDraft(row, 0))).toEqual({
    ...slaParams(draft),
    schedule: [{ period_from: 115_200, period_to: 147_600 }],
    excluded_downtimes,
  });
});
