import type { ShiftRow } from "../oncall";
import type { Answers } from "./api";
import type { Stored, Tables } from "./tables";

const DAY_S = 86_400;

const MEMBERS = [
  { userid: "1", username: "Admin", name: "", surname: "" },
  { userid: "2", username: "ann", name: "Ann", surname: "Berg" },
  { userid: "3", username: "boris", name: "Boris", surname: "Kalns" },
];

const LAYER = {
  end: "0",
  handoff: "",
  on_holidays: "0",
  restrictions: [],
  calendar: "",
  calendar_error: "",
};

/** Two schedules: one with two layers and an override, one that has a gap at night. */
function schedulesOf(clock: number): Stored<"oncall.get">[] {
  const start = String(Math.floor(clock / DAY_S) * DAY_S - 28 * DAY_S);
  const turn = (...ids: string[]) => ids.map((userid) => ({ userid }));
  return [
    {
      scheduleid: "1",
      name: "Databases",
      timezone: "Europe/Riga",
      description: "Around the clock",
      holiday_calendar: "",
      layers: [
        { ...LAYER, name: "Primary", users: turn("2", "3", "1"), start, period: "2d" },
        {
          ...LAYER,
          name: "Nights",
          users: turn("3", "2"),
          start,
          period: "1w",
          restrictions: [{ weekdays: "31", from: "18:00", to: "08:00" }],
        },
      ],
      holidays: [{ date: "2026-12-25", name: "Christmas" }],
      usergroups: [{ usrgrpid: "8", permission: "3" }],
      overrides: [
        {
          overrideid: "5",
          userid: "1",
          from: String(Math.floor(clock / DAY_S) * DAY_S + 2 * DAY_S),
          to: String(Math.floor(clock / DAY_S) * DAY_S + 3 * DAY_S),
          swapid: "0",
          createdby: "1",
        },
      ],
      users: MEMBERS,
    },
    {
      scheduleid: "2",
      name: "Web shop",
      timezone: "system",
      description: "",
      holiday_calendar: "",
      layers: [
        {
          ...LAYER,
          name: "Office hours",
          users: turn("1", "2"),
          start,
          period: "1d",
          restrictions: [{ weekdays: "127", from: "06:00", to: "22:00" }],
        },
      ],
      holidays: [],
      usergroups: [],
      overrides: [],
      users: MEMBERS.slice(0, 2),
    },
  ];
}

/** Shifts of a day each, in UTC: what the pages need, not what the server computes. */
function layerShifts(schedule: Stored<"oncall.get">, from: number, to: number): ShiftRow[] {
  const rows: ShiftRow[] = [];
  const scheduleid = schedule.scheduleid ?? "";
  for (const [at, layer] of (schedule.layers ?? []).entries()) {
    const users = layer.users ?? [];
    for (let day = Math.floor(from / DAY_S) - 1; day * DAY_S < to; day++) {
      const isNight = layer.restrictions?.[0]?.to === "08:00";
      const isLimited = (layer.restrictions?.length ?? 0) > 0;
      const start = day * DAY_S + (isNight ? 18 : isLimited ? 6 : 0) * 3600;
      const end = day * DAY_S + (isNight ? 32 : isLimited ? 22 : 24) * 3600;
      // Nights are those of two days a week.
      if (isNight && day % 7 > 1) continue;
      const userid = users[Math.floor(day / 2) % users.length]?.userid ?? "0";
      const cut = { from: Math.max(start, from), to: Math.min(end, to) };
      if (cut.from < cut.to)
        rows.push({
          scheduleid,
          userid,
          from: String(cut.from),
          to: String(cut.to),
          layer: String(at),
          overrideid: "0",
          gap: "0",
        });
    }
  }
  return rows;
}

/** Later layers and overrides win; what nobody covers is a gap. */
function finalShifts(schedule: Stored<"oncall.get">, from: number, to: number): ShiftRow[] {
  const scheduleid = schedule.scheduleid ?? "";
  const overrides = (schedule.overrides ?? []).map(
    (row): ShiftRow => ({
      scheduleid,
      userid: row.userid ?? "0",
      from: row.from ?? "0",
      to: row.to ?? "0",
      layer: "-1",
      overrideid: row.overrideid ?? "0",
      gap: "0",
    }),
  );
  const all = [...layerShifts(schedule, from, to), ...overrides];
  const ends = all.flatMap((row) => [Number(row.from), Number(row.to)]);
  const edges = [...new Set([from, to, ...ends])]
    .filter((edge) => edge >= from && edge <= to)
    .sort((a, b) => a - b);
  return edges.slice(0, -1).map((start, n) => {
    const strongest = all.findLast((row) => Number(row.from) <= start && start < Number(row.to));
    const gap = { userid: "0", layer: "-1", overrideid: "0", gap: "1" };
    const end = edges[n + 1] ?? to;
    return { scheduleid, ...(strongest ?? gap), from: String(start), to: String(end) };
  });
}

export function onCallTables(clock: number): Tables {
  return { "oncall.get": schedulesOf(clock) };
}

export function onCallAnswers(tables: Tables): Answers {
  const schedules = () => tables["oncall.get"] ?? [];
  return {
    "oncall.create": () => ({ scheduleids: ["9"] }),
    "oncall.delete": (scheduleids) => ({ scheduleids }),
    "oncall.ical": ({ revoke }) =>
      revoke ? { token: "", path: "" } : { token: "t0k3n", path: "/oncall/t0k3n.ics" },
    "oncall.override": ({ scheduleid, userid, from, to, swap }) => {
      const schedule = schedules().find((one) => one.scheduleid === scheduleid);
      const made = { userid, from: String(from), to: String(to), swapid: swap ? "8" : "0" };
      if (schedule)
        schedule.overrides = [
          ...(schedule.overrides ?? []),
          { overrideid: "7", createdby: "1", ...made },
        ];
      return { overrideids: swap ? ["7", "8"] : ["7"] };
    },
    "oncall.revoke": (overrideids) => ({ overrideids }),
    "oncall.shifts": ({ scheduleids, from, to, userids, of }) =>
      schedules()
        .filter((one) => !scheduleids || scheduleids.includes(one.scheduleid ?? ""))
        .flatMap((one) => (of === "layers" ? layerShifts : finalShifts)(one, from, to))
        .filter((row) => !userids || userids.includes(row.userid)),
    "oncall.update": () => ({ scheduleids: ["1"] }),
  };
}
