import { describe, expect, it } from "vitest";
import { isSilence, silenceEnd, silenceName, silenceParams, tomorrowAt } from "./silence";

const host = { hosts: [{ hostid: "7", name: "web-1" }] };
const tags = [
  { tag: "service", value: "db" },
  { tag: "service", value: "db" },
  { tag: "site", value: "" },
];
const problem = { ...host, problem: { name: "Disk is full", tags } };

describe("silenceName", () => {
  it("says who and what", () => {
    expect(silenceName(host, "Admin")).toBe("Silenced by Admin: host web-1");
    expect(silenceName(problem, "Admin")).toBe("Silenced by Admin: Disk is full on web-1");
    expect(silenceName(problem, "Admin", 2)).toBe("Silenced by Admin: Disk is full on web-1 (2)");
    expect(isSilence(silenceName(host, "x"))).toBe(true);
    expect(isSilence("Weekly patches")).toBe(false);
  });
  it("names the host where a problem has no tags", () => {
    const untagged = { ...host, problem: { name: "Disk is full", tags: [] } };
    expect(silenceName(untagged, "Admin")).toBe("Silenced by Admin: host web-1");
  });
  it("fits into a name", () => {
    const long = { ...host, problem: { name: "ä".repeat(300), tags } };
    expect([...silenceName(long, "Admin")]).toHaveLength(128);
    expect(silenceName(long, "Admin", 12)).toMatch(/… \(12\)$/);
    expect([...silenceName(long, "Admin", 12)]).toHaveLength(128);
  });
});

it("starts by the server's clock and lasts until a whole minute", () => {
  const now = 1_800_000_010;
  const until = silenceEnd(30, now);
  expect(until % 60).toBe(0);
  expect(silenceParams(problem, until, now)).toMatchObject({
    maintenance_type: 0,
    hosts: [{ hostid: "7" }],
    tags: [
      { tag: "service", value: "db", operator: 0 },
      { tag: "site", value: "", operator: 0 },
    ],
    timeperiods: [{ timeperiod_type: 0, period: until - 1_800_000_000 }],
  });
});

it("lasts at least as long as the server wants", () => {
  expect(silenceParams(host, 1_800_000_060, 1_800_000_000)).toMatchObject({
    tags: [],
    timeperiods: [{ period: 300 }],
  });
});

it("knows tomorrow also at the end of a month and of a day", () => {
  const at = (text: string) => new Date(text).getTime() / 1000;
  expect(tomorrowAt(8, at("2026-01-31T23:59:59"))).toBe(at("2026-02-01T08:00:00"));
  expect(tomorrowAt(8, at("2026-12-31T00:00:00"))).toBe(at("2027-01-01T08:00:00"));
});
