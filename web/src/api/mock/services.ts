import type { ServiceRow } from "../services";
import type { SlaRow } from "../slas";
import type { Answers } from "./api";
import type { Stored, Tables } from "./tables";

const SERVICE: Omit<ServiceRow, "serviceid" | "name"> = {
  status: "-1",
  algorithm: "2",
  sortorder: "0",
  weight: "0",
  propagation_rule: "0",
  propagation_value: "0",
  description: "",
  created_at: "1790000000",
  readonly: false,
};

const GOLD = [{ tag: "sla", value: "gold" }];

type ServiceStored = ServiceRow & Stored<"service.get"> & { parentids: string[]; slaids: string[] };

/** A service below others. */
const service = (
  serviceid: string,
  name: string,
  parentids: string[],
  more: Partial<ServiceStored> = {},
): ServiceStored => ({
  ...SERVICE,
  serviceid,
  name,
  parentids,
  slaids: more.tags === GOLD ? ["1"] : [],
  tags: [],
  problem_tags: [],
  problem_events: [],
  status_rules: [],
  ...more,
});

function servicesOf(problem: Stored<"problem.get"> | undefined): ServiceStored[] {
  const cause = problem
    ? [
        {
          eventid: problem.eventid ?? "",
          name: problem.name ?? "",
          severity: problem.severity ?? "4",
        },
      ]
    : [];
  const bad = { status: "4", problem_events: cause };
  const rows = [
    service("1", "Shop", ["0"], { ...bad, tags: GOLD, description: "What customers see" }),
    service("2", "Web shop", ["1"], {
      ...bad,
      tags: GOLD,
      problem_tags: [{ tag: "scope", operator: "0", value: "availability" }],
    }),
    service("3", "Payment", ["1", "4"], { tags: [{ tag: "team", value: "payments" }] }),
    service("4", "Back office", ["0"], {}),
    service("5", "Legacy", ["4"], { status: "9" }),
  ];
  const refs = (one: ServiceStored) => ({ serviceid: one.serviceid, name: one.name });
  return rows.map((row) => ({
    ...row,
    parents: rows.filter((one) => row.parentids.includes(one.serviceid)).map(refs),
    children: rows.filter((one) => one.parentids.includes(row.serviceid)).map(refs),
  }));
}

const SLAS: (SlaRow & Stored<"sla.get">)[] = [
  {
    slaid: "1",
    name: "Gold",
    period: "0",
    slo: "99.9",
    effective_date: "1780000000",
    timezone: "UTC",
    status: "1",
    description: "",
    service_tags: [{ tag: "sla", operator: "0", value: "gold" }],
    schedule: [],
    excluded_downtimes: [],
  },
  {
    slaid: "2",
    name: "Office hours",
    period: "2",
    slo: "95",
    effective_date: "1780000000",
    timezone: "system",
    status: "0",
    description: "",
    service_tags: [{ tag: "team", operator: "2", value: "pay" }],
    schedule: [{ period_from: "115200", period_to: "147600" }],
    excluded_downtimes: [{ name: "Move", period_from: "1790000000", period_to: "1790003600" }],
  },
];

const DAY_S = 86_400;
/** Indicators of the last days: the third last one is missed, the first one unknown. */
const SLI = [-1, 100, 100, 99.95, 100, 98.2, 100, 99.99];

/** Services with their tree, and agreements about them. */
export function serviceTables(problems: readonly Stored<"problem.get">[]): Tables {
  return { "service.get": servicesOf(problems[0]), "sla.get": SLAS };
}

const isOf = ({ tags = [] }: Stored<"service.get">) => tags.some(({ tag }) => tag === "sla");

export function serviceAnswers(tables: Tables, clock: () => number): Answers {
  return {
    "sla.getsli": ({ serviceids, periods = 20 }) => {
      const covered = (tables["service.get"] ?? [])
        .filter(isOf)
        .map((one) => one.serviceid ?? "")
        .filter((id) => !serviceids || serviceids.includes(id));
      const shown = SLI.slice(-periods);
      const end = Math.ceil(clock() / DAY_S) * DAY_S;
      const cellOf = (sli: number) => ({
        sli,
        uptime: sli < 0 ? 0 : Math.round((DAY_S * sli) / 100),
        downtime: sli < 0 ? 0 : Math.round(DAY_S * (1 - sli / 100)),
        error_budget: sli < 0 ? 0 : Math.round(DAY_S * ((sli - 99.9) / 100)),
        excluded_downtimes: [],
      });
      return {
        periods: shown.map((_, n) => ({
          period_from: end - (shown.length - n) * DAY_S,
          period_to: end - (shown.length - n - 1) * DAY_S,
        })),
        serviceids: covered,
        sli: shown.map((sli) => covered.map(() => cellOf(sli))),
      };
    },
    "service.create": () => ({ serviceids: ["9"] }),
    "service.update": () => ({ serviceids: ["9"] }),
    "service.delete": (serviceids) => ({ serviceids }),
    "sla.create": () => ({ slaids: ["9"] }),
    "sla.update": () => ({ slaids: ["9"] }),
    "sla.delete": (slaids) => ({ slaids }),
  };
}
