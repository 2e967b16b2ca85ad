import type { RowOf } from "../gets";
import { alertingTables } from "./alerting";
import { type Answers, MockApi } from "./api";
import { balancerAnswers } from "./balancer";
import { explanationAnswers } from "./explanations";
import { onCallAnswers, onCallTables } from "./oncall";
import { quietAnswers } from "./quiet";
import { scriptAnswers } from "./scripts";
import { serviceAnswers, serviceTables } from "./services";
import type { Stored, Tables } from "./tables";

const GROUPS = ["Shop/Web", "Shop/Databases", "Network/Riga", "Network/Tallinn"].map((name, n) => ({
  groupid: String(n + 1),
  name,
  flags: "0" as const,
  uuid: "",
}));
const KINDS = ["web", "db", "sw", "rtr"];
const SITES = ["riga", "tallinn", "vilnius"];

interface Metric {
  key: string;
  name: string;
  units: string;
  base: number;
  problem: string;
  severity: "1" | "2" | "3" | "4" | "5";
}

const METRICS: readonly Metric[] = [
  {
    key: "cpu.util",
    name: "CPU utilization",
    units: "%",
    base: 35,
    problem: "CPU is saturated",
    severity: "3",
  },
  {
    key: "mem.used",
    name: "Memory used",
    units: "B",
    base: 9e9,
    problem: "Memory is nearly exhausted",
    severity: "4",
  },
  {
    key: "net.in",
    name: "Network traffic in",
    units: "bps",
    base: 4e7,
    problem: "Unusually high traffic",
    severity: "1",
  },
  {
    key: "disk.free",
    name: "Free space on /",
    units: "%",
    base: 40,
    problem: "File system / is full",
    severity: "5",
  },
  {
    key: "resp.time",
    name: "Response time",
    units: "s",
    base: 0.12,
    problem: "Slow responses",
    severity: "2",
  },
];

type Host = Stored<"host.get"> & { hostid: string; name: string };

function hostOf(n: number): Host {
  const kind = n % KINDS.length;
  const name = `${KINDS[kind]}-${SITES[n % SITES.length]}-${String(n).padStart(3, "0")}`;
  return {
    hostid: String(1000 + n),
    host: name,
    name,
    status: n % 17 === 0 ? "1" : "0",
    flags: "0",
    description: "",
    maintenance_status: "0",
    maintenance_type: "0",
    maintenanceid: "0",
    active_available: "0",
    hostgroups: GROUPS.slice(kind, kind + 1),
    interfaces: [
      {
        interfaceid: String(n),
        type: "1",
        main: "1",
        useip: "1",
        ip: `10.0.1.${n}`,
        dns: "",
        port: "10050",
        available: n % 13 === 0 ? "2" : "1",
        error: n % 13 === 0 ? "Connection timed out" : "",
        details: [],
      },
    ],
    tags: [
      { tag: "site", value: SITES[n % SITES.length] ?? "" },
      { tag: "role", value: KINDS[kind] ?? "" },
    ],
    inheritedTags: [],
    parentTemplates: [{ templateid: "900", name: "Linux by agent" }],
    macros: [],
    items: METRICS.map(({ name: of }) => ({ name: of })),
    triggers: METRICS.map(({ problem }) => ({ description: problem })),
    discoveries: [],
  };
}

/** A value that moves like a load. */
function valueAt(base: number, seed: number, clock: number): number {
  return base * (1 + Math.sin(clock / 2400 + seed) / 3 + Math.sin(clock / 700 + seed * 3) / 9);
}

function itemOf(
  host: Host,
  n: number,
  metric: Metric,
  at: number,
  now: number,
): Stored<"item.get"> {
  const unsupported = (n + at) % 23 === 0;
  const clock = now - ((n * 7 + at * 11) % 60);
  return {
    itemid: `${host.hostid}${at}`,
    hostid: host.hostid,
    name: metric.name,
    key_: metric.key,
    type: "0",
    value_type: "0",
    units: metric.units,
    delay: "1m",
    history: "31d",
    trends: "365d",
    status: "0",
    state: unsupported ? "1" : "0",
    error: unsupported ? "Unsupported item key." : "",
    lastvalue: String(valueAt(metric.base, n + at, clock)),
    lastclock: String(clock),
    prevvalue: String(valueAt(metric.base, n + at, clock - 60)),
    prevclock: String(clock - 60),
    templateid: "0",
    flags: "0",
    tags: [{ tag: "component", value: metric.key.split(".")[0] ?? "" }],
    hosts: [host],
    hostgroups: host.hostgroups,
    interfaces: [],
    preprocessing: [],
    valuemap: [],
  };
}

type Problem = Stored<"problem.get"> & Pick<RowOf<"event.get", { output: ["value"] }>, "value">;

function problemOf(host: Host, n: number, metric: Metric, at: number, now: number): Problem {
  return {
    eventid: String(50_000 + n * METRICS.length + at),
    objectid: `${host.hostid}${at}`,
    source: "0",
    object: "0",
    value: "1",
    clock: String(now - ((n * 977 + at * 131) % 86_400) - 30),
    ns: "0",
    r_eventid: "0",
    r_clock: "0",
    name: `${metric.problem} on ${host.name}`,
    severity: metric.severity,
    acknowledged: n % 3 === 0 ? "1" : "0",
    suppressed: "0",
    suppression_data: [],
    opdata: `Now: ${metric.base}`,
    tags: [
      { tag: "scope", value: "performance" },
      { tag: "site", value: SITES[n % SITES.length] ?? "" },
    ],
    acknowledges: [],
    hosts: [host],
    hostgroups: host.hostgroups,
  };
}

/** Tables of an invented estate with some open problems. */
function tablesOf(
  count: number,
  now: number,
): Required<Pick<Tables, "host.get" | "problem.get">> & Tables {
  const hosts = Array.from({ length: count }, (_, n) => hostOf(n + 1));
  const each = hosts.flatMap((host, n) => METRICS.map((metric, at) => ({ host, n, metric, at })));
  const items = each.map(({ host, n, metric, at }) => itemOf(host, n, metric, at, now));
  const problems = each
    .filter(({ n, at }) => (n * 7 + at * 3) % 11 === 0)
    .map(({ host, n, metric, at }) => problemOf(host, n, metric, at, now));
  const triggers = each.map(
    ({ host, metric, at }): Stored<"trigger.get"> => ({
      triggerid: `${host.hostid}${at}`,
      description: `${metric.problem} on ${host.name}`,
      expression: `last(/${host.name}/${metric.key})>0`,
      recovery_mode: "0",
      recovery_expression: "",
      priority: metric.severity,
      status: "0",
      value: "0",
      state: "0",
      error: "",
      manual_close: at % 2 === 0 ? "1" : "0",
      comments: "",
      templateid: "0",
      hosts: [host],
      items: items.filter((item) => item.itemid === `${host.hostid}${at}`),
    }),
  );
  return {
    "action.get": [],
    "alert.get": [],
    "dhost.get": [],
    "discoveryrule.get": [],
    "drule.get": [],
    "dservice.get": [],
    "event.get": problems,
    "host.get": hosts,
    "hostgroup.get": GROUPS,
    "hostprototype.get": [],
    "httptest.get": [],
    "item.get": items,
    "itemprototype.get": [],
    "maintenance.get": [],
    "mediatype.get": [],
    "problem.get": problems,
    "role.get": [],
    "template.get": [
      {
        templateid: "900",
        host: "Linux by agent",
        name: "Linux by agent",
        hosts,
        tags: [],
        macros: [],
      },
    ],
    "proxy.get": [],
    "proxygroup.get": [],
    "templategroup.get": [{ groupid: "90", name: "Templates", uuid: "" }],
    "token.get": [],
    "trigger.get": triggers,
    "triggerprototype.get": [],
    "trend.get": [],
    "user.get": [
      {
        userid: "1",
        username: "Admin",
        name: "",
        surname: "",
        roleid: "3",
        usrgrps: [],
        role: [],
        medias: [],
      },
    ],
    "usergroup.get": [],
    "usermacro.get": [],
    "valuemap.get": [],
  };
}

/** Points of time every so many seconds in the span of the parameters, for each of their items. */
function pointsOf(
  params: { itemids: string | readonly string[]; time_from?: number; time_till?: number },
  step: number,
  now: number,
) {
  const till = Math.min(params.time_till ?? now, now);
  const from = params.time_from ?? till - 3600;
  const itemids = typeof params.itemids === "string" ? [params.itemids] : params.itemids;
  return itemids.flatMap((itemid) => {
    const at = Number(itemid.at(-1));
    const clocks: { itemid: string; clock: number; value: number }[] = [];
    for (let clock = Math.floor(from / step) * step; clock < till; clock += step) {
      const isLost = clock > now - LOST.from && clock < now - LOST.till;
      if (isLost && isDamaged(itemid)) continue;
      clocks.push({ itemid, clock, value: valueAt(METRICS[at]?.base ?? 1, Number(itemid), clock) });
    }
    return clocks;
  });
}

/** Which part of the history of some items is lost, in seconds before now. */
const LOST = { from: 2_400, till: 1_500 };
const isDamaged = (itemid: string) => itemid.endsWith("11");

function historyAnswers(clock: () => number): Answers {
  const coarse = (params: Parameters<typeof pointsOf>[0], width: number) =>
    pointsOf(params, width, clock()).map(({ itemid, clock: at, value }) => ({
      itemid,
      clock: String(at),
      value_min: String(value * 0.95),
      value_avg: String(value),
      value_max: String(value * 1.05),
    }));
  return {
    "history.buckets": (params) => coarse(params, params.width),
    "history.gaps": (params) =>
      params.itemids.filter(isDamaged).map((itemid) => ({
        itemid,
        time_from: String(clock() - LOST.from),
        time_till: String(clock() - LOST.till),
        scope: "item",
        reason: "7.seg: the file is missing",
      })),
    "history.get": (params) => {
      const points = pointsOf(params, 60, clock()).map(({ itemid, clock: at, value }) => ({
        itemid,
        clock: String(at),
        ns: "0",
        value: String(value),
      }));
      return (params.sortorder === "DESC" ? points.reverse() : points).slice(0, params.limit);
    },
    "trend.get": (params) => coarse(params, 3600),
  };
}

const SEVERITY_COUNT = 6;

function answersFor(tables: ReturnType<typeof tablesOf>, clock: () => number): Answers {
  const open = (hostid?: string) =>
    tables["problem.get"].filter(
      (problem) => !hostid || problem.hosts?.some((host) => host.hostid === hostid),
    );
  const bySeverity = (hostid?: string) => {
    const counts = Array<number>(SEVERITY_COUNT).fill(0);
    for (const { severity } of open(hostid)) {
      const at = Number(severity);
      counts[at] = (counts[at] ?? 0) + 1;
    }
    return counts.map(String);
  };
  const hosts = tables["host.get"];
  return {
    "apiinfo.timezone": () => "Europe/Riga",
    "apiinfo.version": () => "7.0.0",
    "capacity.get": () => ({ cores: 2, measured: null, resources: [], first: null }),
    "event.acknowledge": ({ eventids }) => {
      for (const problem of open())
        if (eventids.includes(problem.eventid ?? "")) problem.acknowledged = "1";
      return { eventids };
    },
    "host.states": ({ hostids }) =>
      hostids.map((hostid) => ({ hostid, data: "1", problems: bySeverity(hostid) })),
    "host.summary": ({ limit }) => {
      const troubled = hosts
        .map(({ hostid = "", name = "" }) => ({ hostid, name, problems: bySeverity(hostid) }))
        .filter(({ problems }) => problems.some((count) => count !== "0"));
      const disabled = hosts.filter((host) => host.status === "1").length;
      return {
        hosts: String(hosts.length),
        disabled: String(disabled),
        problems: String(troubled.length),
        ok: String(hosts.length - troubled.length - disabled),
        unknown: "0",
        worst: troubled.slice(0, limit),
      };
    },
    "problem.counts": () => bySeverity(),
    "queue.get": () => [],
    "task.create": (tasks) => ({ taskids: tasks.map((_, n) => String(n + 1)) }),
    "user.login": ({ username }) => ({
      sessionid: "mock",
      userid: "1",
      username,
      name: "",
      surname: "",
      type: 3,
      gui_access: "0",
    }),
    "user.logout": () => true,
    ...historyAnswers(clock),
  };
}

export interface EstateOptions {
  hosts?: number;
  /** Unix seconds. */
  clock?: () => number;
  /** Whether there are engine groups of the load balancer too. */
  balancer?: boolean;
  /** Whether there are media types, actions and messages about problems too. */
  alerting?: boolean;
}

/** A server with an invented estate; without hosts it is as empty as after the installation. */
export function mockEstate(options: EstateOptions = {}): MockApi {
  const { hosts = 48, clock = unixNow, balancer = false, alerting = false } = options;
  const tables = tablesOf(hosts, clock());
  const problems = tables["problem.get"];
  if (alerting)
    Object.assign(tables, alertingTables(problems), serviceTables(problems), onCallTables(clock()));
  const further = {
    ...(balancer ? balancerAnswers(tables, clock) : {}),
    ...(alerting
      ? {
          ...scriptAnswers,
          ...explanationAnswers,
          ...serviceAnswers(tables, clock),
          ...onCallAnswers(tables),
          ...quietAnswers(),
        }
      : {}),
  };
  return new MockApi(tables, { ...answersFor(tables, clock), ...further });
}

const unixNow = () => Math.floor(Date.now() / 1000);
