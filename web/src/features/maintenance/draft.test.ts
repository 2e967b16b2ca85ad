import { describe, expect, it } from "vitest";
import type { MaintenanceDetail } from "~/api/maintenance";
import {
  type Draft,
  draftOf,
  newPeriod,
  type PeriodDraft,
  paramsOf,
  periodOf,
  problemsOf,
} from "./draft";

const NOW = new Date("2026-03-31T23:20:00").getTime() / 1000;
const period = (more: Partial<PeriodDraft>): PeriodDraft => ({ ...newPeriod(NOW), ...more });
const draft = (more: Partial<Draft> = {}): Draft => ({
  ...draftOf(null, NOW, ["7"]),
  name: "Patches",
  ...more,
});

describe("problemsOf", () => {
  const cases: [string, Partial<Draft>, string[]][] = [
    ["nothing", {}, []],
    ["no name", { name: " " }, ["name"]],
    ["nothing covered", { hostids: [] }, ["covers"]],
    ["a group alone", { hostids: [], groupids: ["2"] }, []],
    ["ends before it begins", { till: "2020-01-01T00:00" }, ["till"]],
    ["no begin", { since: "" }, ["till"]],
    ["no periods", { periods: [] }, ["periods"]],
    ["the second period", { periods: [period({}), period({ length: "x" })] }, ["period1"]],
  ];
  it.each(cases)("%s", (_, more, fields) => {
    expect(Object.keys(problemsOf(draft(more)))).toEqual(fields);
  });
});

describe("periodOf", () => {
  const wrong: [Partial<PeriodDraft>, RegExp][] = [
    [{ length: "two hours" }, /duration/],
    [{ length: "4m" }, /five minutes/],
    [{ startDate: "" }, /start time/],
    [{ repeat: "2", startTime: "25:00" }, /02:30/],
    [{ repeat: "2", every: "0" }, /1 to 999/],
    [{ repeat: "3", weekdays: 1, every: "100" }, /1 to 99/],
    [{ repeat: "3", weekdays: 0 }, /day of the week/],
    [{ repeat: "4", months: 0 }, /month/],
    [{ repeat: "4", by: "day", dayText: "32" }, /1 to 31/],
    [{ repeat: "4", by: "weekdays", weekdays: 0 }, /day of the week/],
  ];
  it.each(wrong)("%j", (more, words) => expect(periodOf(period(more))).toMatch(words));
});

describe("paramsOf", () => {
  const cases: [Partial<PeriodDraft>, object][] = [
    [
      { startDate: "2026-04-01T00:00", length: "90m" },
      { timeperiod_type: "0", period: 5400, start_date: new Date("2026-04-01T00:00") },
    ],
    [
      { repeat: "2", every: "3" },
      { timeperiod_type: "2", period: 3600, start_time: 7200, every: 3 },
    ],
    [
      { repeat: "3", weekdays: 64 },
      { timeperiod_type: "3", period: 3600, start_time: 7200, every: 1, dayofweek: 64 },
    ],
    [
      { repeat: "4", by: "day", dayText: "15", weekdays: 3 },
      { timeperiod_type: "4", period: 3600, start_time: 7200, month: 4095, day: 15 },
    ],
    [
      { repeat: "4", by: "weekdays", weekdays: 1, every: "5", months: 1 },
      { timeperiod_type: "4", period: 3600, start_time: 7200, month: 1, every: 5, dayofweek: 1 },
    ],
  ];
  it.each(cases)("%j", (more, wanted) => {
    const seconds = Object.entries(wanted).map(([name, value]) => [
      name,
      value instanceof Date ? value.getTime() / 1000 : value,
    ]);
    const { timeperiods } = paramsOf(draft({ periods: [period(more)] })) as {
      timeperiods: object[];
    };
    expect(timeperiods).toEqual([Object.fromEntries(seconds)]);
  });
  it("has no tags without data collection, and none without a name", () => {
    const tags = [
      { tag: " service ", value: "db", operator: "0" },
      { tag: "", value: "x", operator: "2" },
    ];
    expect(paramsOf(draft({ tags, anyTag: true }))).toMatchObject({
      maintenance_type: 0,
      tags_evaltype: 2,
      tags: [{ tag: "service", value: "db", operator: "0" }],
    });
    expect(paramsOf(draft({ tags, noData: true }))).toMatchObject({
      maintenance_type: 1,
      tags: [],
    });
  });
  it("gives back what it was given", () => {
    const stored: MaintenanceDetail = {
      maintenanceid: "5",
      name: "Weekly",
      noData: true,
      description: "why",
      since: NOW - 1200,
      till: NOW + 86_400,
      anyTag: false,
      tags: [],
      hosts: [{ hostid: "7", name: "a" }],
      groups: [{ groupid: "2", name: "g" }],
      periods: [
        {
          repeat: "3",
          every: 2,
          months: 0,
          weekdays: 64,
          day: 0,
          startTime: 64_800,
          length: 95_400,
          startDate: 0,
        },
      ],
    };
    expect(paramsOf(draftOf(stored, NOW))).toEqual({
      name: "Weekly",
      maintenance_type: 1,
      description: "why",
      active_since: NOW - 1200,
      active_till: NOW + 86_400,
      groups: [{ groupid: "2" }],
      hosts: [{ hostid: "7" }],
      tags_evaltype: 0,
      tags: [],
      timeperiods: [
        { timeperiod_type: "3", period: 95_400, start_time: 64_800, every: 2, dayofweek: 64 },
      ],
    });
  });
});
