import { describe, expect, it } from "vitest";
import type { LayerRow, Schedule } from "~/api/oncall";
import { boxOf, clockOf, newLayer, scheduleDraft, scheduleParams, scheduleProblems } from "./draft";

const NOW = 1_795_000_000;
const ZONE = "Europe/Riga";
const CALENDAR = "BEGIN:VCALENDAR\nEND:VCALENDAR";
const layer = { ...newLayer("Primary", NOW), users: [{ userid: "3" }, { userid: "2" }] };
const draft = { ...scheduleDraft(null, ZONE, NOW), name: "Databases", layers: [layer] };

const row = (more: Partial<LayerRow>): LayerRow => ({
  name: "Nights",
  users: [{ userid: "3" }, { userid: "3" }],
  start: String(clockOf("2026-11-23T09:00", ZONE)),
  end: "0",
  period: "12h",
  handoff: "",
  on_holidays: "1",
  restrictions: [{ weekdays: "31", from: "18:00", to: "08:00" }],
  calendar: "",
  calendar_error: "",
  ...more,
});
const schedule = (layers: LayerRow[]): Schedule => ({
  scheduleid: "1",
  name: "Databases",
  timezone: ZONE,
  description: "",
  holiday_calendar: "",
  layers,
  holidays: [{ date: "2026-12-25", name: "Christmas" }],
  usergroups: [{ usrgrpid: "7", permission: "3" }],
  users: [],
});

describe("a schedule's draft", () => {
  it("begins with a weekly rotation", () => {
    expect(scheduleProblems(draft)).toEqual({});
    expect(scheduleParams(draft, ZONE)).toMatchObject({
      name: "Databases",
      timezone: "system",
      layers: [{ name: "Primary", users: [{ userid: "3" }, { userid: "2" }], period: "1w" }],
    });
  });
  it("keeps what the server has", () => {
    const stored = schedule([row({}), row({ period: "2d", handoff: "09:00" })]);
    const sent = scheduleParams(scheduleDraft(stored, ZONE, NOW), ZONE);
    const { calendar, calendar_error, ...rotation } = row({});
    expect(sent).toMatchObject({
      layers: [rotation, { period: "2d", handoff: "09:00" }],
      holidays: stored.holidays,
      usergroups: stored.usergroups,
    });
  });
  it("sends of a calendar only what calendars have", () => {
    const calendar = row({ users: [], calendar: CALENDAR, period: "" });
    const [sent] = scheduleParams(scheduleDraft(schedule([calendar]), ZONE, NOW), ZONE).layers;
    expect(sent).toMatchObject({ calendar: CALENDAR });
    for (const member of ["users", "period", "handoff"]) expect(sent).not.toHaveProperty(member);
  });
  it.each([
    [{ name: " " }, "name"],
    [{ layers: [] }, "layers"],
    [{ layers: [{ ...layer, name: "" }] }, "layer0"],
    [{ layers: [{ ...layer, users: [] }] }, "layer0"],
    [{ layers: [layer, { ...layer, users: [{ userid: "" }] }] }, "layer1"],
    [{ layers: [{ ...layer, every: "0" }] }, "layer0"],
    [{ layers: [{ ...layer, every: "53" }] }, "layer0"],
    [{ layers: [{ ...layer, start: "" }] }, "layer0"],
    [{ layers: [{ ...layer, handoff: "9" }] }, "layer0"],
    [{ layers: [{ ...layer, source: "calendar" as const, calendar: "Ann" }] }, "layer0"],
    [
      { layers: [{ ...layer, restrictions: [{ weekdays: 0, from: "18:00", to: "08:00" }] }] },
      "layer0",
    ],
    [
      { layers: [{ ...layer, restrictions: [{ weekdays: 1, from: "24:00", to: "08:00" }] }] },
      "layer0",
    ],
    [{ holidays: [{ date: "", name: "" }] }, "holidays"],
    [{ groups: [{ usrgrpid: "", permission: "2" }] }, "groups"],
  ])("is checked: %o", (change, field) => {
    expect(Object.keys(scheduleProblems({ ...draft, ...change }))).toEqual([field]);
  });
});

describe("moments in the schedule's zone", () => {
  it.each([
    ["UTC", "2026-11-23T09:00", "2026-11-23T09:00Z"],
    ["Europe/Riga", "2026-11-23T09:00", "2026-11-23T07:00Z"],
    ["America/New_York", "2026-07-01T23:30", "2026-07-02T03:30Z"],
  ])("%s", (zone, box, utc) => {
    const clock = Date.parse(utc) / 1000;
    expect(clockOf(box, zone)).toBe(clock);
    expect(boxOf(clock, zone)).toBe(box);
  });
  it.each(["", "2026-11-23", "x"])("%s is none", (text) => {
    expect(clockOf(text, "UTC")).toBeNull();
  });
});
