import { describe, expect, it } from "vitest";
import { byUrgency, figure, fullIn, headroom, type Resource, usedPercent } from "./capacity";

const resource = (part: Partial<Resource>): Resource => ({
  name: "values",
  units: "",
  used: 0,
  limit: 100,
  source: "machine",
  growth: null,
  soft: false,
  ...part,
});

describe("headroom", () => {
  it.each([
    [50, 100, "2.0 ×"],
    [8, 100, "13 ×"],
    [150, 100, "0.7 ×"],
    [0, 100, "over 1000 ×"],
    [5, null, "–"],
    [5, 0, "–"],
  ])("%s of %s", (used, limit, text) => {
    expect(headroom(resource({ used, limit }))).toBe(text);
  });
});

it("shares are unknown without a limit", () => {
  expect(usedPercent(resource({ used: 5, limit: null }))).toBeNull();
  expect(usedPercent(resource({ used: 5, limit: 20 }))).toBe(25);
});

it("what is used most comes first, soft limits last", () => {
  const all = [
    resource({ name: "queue", used: 99, soft: true }),
    resource({ name: "unknown", limit: null }),
    resource({ name: "little", used: 1 }),
    resource({ name: "much", used: 80 }),
  ];
  expect(byUrgency(all).map(({ name }) => name)).toEqual(["much", "little", "unknown", "queue"]);
});

it.each([
  [12.345, "%", "12.3 %"],
  [3.25, "/s", "3.25/s"],
  [1048576, "B", "1 MB"],
])("%s in %s", (value, units, text) => {
  expect(figure(value, resource({ units }))).toBe(text);
});

it.each([
  [null, null],
  [0, null],
  [-1, null],
  [1 / 400, null],
  [1 / 12.5, "in 12 days"],
  [1, "in 24 hours"],
  [1000, "within two hours"],
])("growth %s a day", (growth, text) => {
  const perSecond = growth === null ? null : (growth * 60) / 86_400;
  expect(fullIn(resource({ used: 40, limit: 100, growth: perSecond }))).toBe(text);
});
