import type { RowOf } from "../gets";
import type { GroupPlacement, PlacedVip, VipEngine } from "../placement";
import type { Answers } from "./api";
import { read, type Stored, type Tables } from "./tables";

type Group = RowOf<"enginegroup.get", { output: "extend" }>;

/** An invented engine group. */
interface Plan {
  group: Group;
  engines: number;
  vips: number;
}

const settings = (id: string, name: string, others: Partial<Group>): Group => ({
  enginegroupid: id,
  name,
  description: "",
  ha_mode: "0",
  placement: "0",
  engines_per_vip: "0",
  spare_engines: "0",
  vips_per_engine: "0",
  rebalance: "0",
  failover_after: "3",
  announce: {},
  ...others,
});

const PLANS: readonly Plan[] = [
  { group: settings("1", "edge", { engines_per_vip: "2", rebalance: "1" }), engines: 4, vips: 12 },
  {
    group: settings("2", "core", {
      ha_mode: "1",
      placement: "1",
      engines_per_vip: "4",
      spare_engines: "4",
      vips_per_engine: "20",
    }),
    engines: 64,
    vips: 200,
  },
  { group: settings("3", "inside", { ha_mode: "2" }), engines: 2, vips: 3 },
];

/** One engine of the first group fails for the first minute of each three. */
const FAIL_EVERY_S = 180;
const FAIL_FOR_S = 60;

/** An engine that nothing is known of, as after a restart of the server. */
const UNHEARD = 7;
/** Engines of the second group that are not up. */
const STATES: ReadonlyMap<number, string> = new Map([
  [5, "draining"],
  [9, "down"],
  [63, "waiting"],
]);

function stateOf(plan: Plan, at: number, now: number): string {
  const { enginegroupid } = plan.group;
  if (enginegroupid === "1" && at === 2) return now % FAIL_EVERY_S < FAIL_FOR_S ? "down" : "up";
  if (enginegroupid !== "2") return "up";
  return STATES.get(at) ?? "up";
}

const engineId = (plan: Plan, at: number) => String(Number(plan.group.enginegroupid) * 100 + at);
const vipId = (plan: Plan, at: number) => String(Number(plan.group.enginegroupid) * 1000 + at);
const range = (count: number) => Array.from({ length: count }, (_, at) => at);

/** Seconds since which the roles are as they are. */
const since = (now: number) =>
  String(now - (now % FAIL_EVERY_S < FAIL_FOR_S ? now % FAIL_EVERY_S : 86_400));

function placedVip(plan: Plan, vip: number, now: number): PlacedVip {
  const { ha_mode, engines_per_vip, spare_engines } = plan.group;
  const pairs = ha_mode === "2";
  const wanted = pairs ? 1 : Number(engines_per_vip) || plan.engines;
  const all = range(plan.engines - Number(spare_engines)).map((n) => (vip * 3 + n) % plan.engines);
  const usable = all.filter((at) => stateOf(plan, at, now) !== "down").slice(0, wanted);
  const short =
    plan.group.enginegroupid === "1" && vip % 3 === 0 && stateOf(plan, 2, now) === "down";
  const active = short ? usable.slice(0, 1) : usable;
  const role =
    (name: string) =>
    (at: number): VipEngine => ({
      engineid: engineId(plan, at),
      role: name,
      since: since(now),
    });
  const standby = pairs ? all.slice(1, 2) : [];
  return {
    vipid: vipId(plan, vip),
    wanted: String(wanted),
    engines: [...active.map(role("active")), ...standby.map(role("standby"))],
    reason: short ? `${nameOf(plan, 2)} is down, and no other engine has room for this VIP.` : "",
  };
}

const nameOf = (plan: Plan, at: number) => `${plan.group.name}-${String(at + 1).padStart(2, "0")}`;

function placementOf(plan: Plan, now: number): GroupPlacement {
  const vips = range(plan.vips).map((vip) => placedVip(plan, vip, now));
  const limit = Number(plan.group.vips_per_engine);
  const engines = range(plan.engines).map((at) => {
    const engineid = engineId(plan, at);
    const count = vips.filter((vip) =>
      vip.engines.some((one) => one.engineid === engineid && one.role === "active"),
    ).length;
    const isUp = stateOf(plan, at, now) === "up";
    const room = limit > 0 && isUp ? String(Math.max(0, limit - count)) : null;
    return { engineid, state: stateOf(plan, at, now), vips: String(count), room };
  });
  return { enginegroupid: plan.group.enginegroupid, vips, engines };
}

/** Seconds between two reports of an engine. */
const REPORT_S = 10;
const SILENT_S = 3_600;

function engineRows(now: number): Stored<"engine.get">[] {
  return PLANS.flatMap((plan) =>
    range(plan.engines).map((at) => {
      const isSilent = stateOf(plan, at, now) === "down" || at === UNHEARD;
      return {
        engineid: engineId(plan, at),
        name: nameOf(plan, at),
        description: "",
        enginegroupid: plan.group.enginegroupid,
        drain: stateOf(plan, at, now) === "draining" ? ("1" as const) : ("0" as const),
        enrolment_expires_at: "0",
        lastaccess: String(isSilent ? now - SILENT_S : now - (now % REPORT_S)),
        address: `192.0.2.${at + 1}`,
        running_hash: "7d1fa09c44",
        desired_hash: "7d1fa09c44",
        error: "",
        version: "0.2.0",
        connected_at: String(now - 86_400),
        certificate_until: String(now + 30 * 86_400),
      };
    }),
  );
}

const HOSTS = 700_000;
const KEY = "zabbix[vedette,lb,";
const METRICS = [
  { key: "requests", base: 21_000 },
  { key: "cpu", base: 130 },
  { key: "connections", base: 310 },
] as const;

/** Hosts of engines, without those that report nothing. */
const engineHosts = (now: number): Stored<"host.get">[] =>
  engineRows(now)
    .filter((engine) => now - Number(engine.lastaccess) < REPORT_S)
    .map(({ engineid, name }) => ({
      hostid: String(HOSTS + Number(engineid)),
      host: `lb.engine.${engineid}`,
      name,
      status: "0",
      parentTemplates: [],
    }));

const figureItems = (now: number): Stored<"item.get">[] =>
  engineHosts(now).flatMap(({ hostid }) =>
    METRICS.map(({ key, base }, at): Stored<"item.get"> => {
      const seed = Number(hostid);
      const clock = now - (now % REPORT_S);
      const value = base * (0.7 + 0.2 * Math.sin(seed * 7) + 0.1 * Math.sin(clock / 37 + seed));
      return {
        itemid: `${hostid}${at}`,
        hostid,
        key_: `${KEY}${key}]`,
        state: "0",
        lastvalue: String(value),
        lastclock: String(clock),
      };
    }),
  );

/** What any change of a group moves. */
const MOVES = range(30).map((at) => ({
  vipid: String(2_000 + at),
  name: `core-vip-${String(at + 1).padStart(3, "0")}`,
  enginegroupid: "2",
  from: [String(200 + at), String(201 + at), String(202 + at)],
  to: at === 4 ? [] : [String(200 + at), String(201 + at)],
}));

/** Answers about engine groups and their engines, beside those of the hosts. */
export function balancerAnswers(tables: Tables, clock: () => number): Answers {
  const groups = PLANS.map(({ group }) => group);
  const vips = PLANS.flatMap((plan) =>
    range(plan.vips).map((at) => ({
      vipid: vipId(plan, at),
      name: `${plan.group.name}-vip-${String(at + 1).padStart(3, "0")}`,
      description: "",
      ipv4: `198.51.100.${at}`,
      ipv6: "",
      dns_names: [],
    })),
  );
  // Tables leave out members that are objects or lists.
  const rows = <T extends object>(all: readonly T[], key: keyof T, ids: unknown) => {
    const wanted: unknown[] = [ids].flat();
    return ids === undefined ? all : all.filter((row) => wanted.includes(row[key]));
  };
  return {
    "engine.get": () => engineRows(clock()),
    "enginegroup.compare": ({ moves }) => (moves ? { services: [], moves: MOVES } : []),
    "enginegroup.get": ({ enginegroupids }) =>
      rows(groups, "enginegroupid", enginegroupids).map((row) => ({
        ...row,
        virtualservices: [],
      })),
    "enginegroup.placement": ({ enginegroupids }) =>
      PLANS.filter(({ group }) => enginegroupids.includes(group.enginegroupid)).map((plan) =>
        placementOf(plan, clock()),
      ),
    "enginegroup.update": (change) => {
      for (const one of [change].flat()) {
        const group = groups.find((row) => row.enginegroupid === one.enginegroupid);
        if (group) Object.assign(group, one);
      }
      return { enginegroupids: [change].flat().map((one) => one.enginegroupid) };
    },
    "host.get": (params) =>
      read([...(tables["host.get"] ?? []), ...engineHosts(clock())], {
        ...params,
      }) as Stored<"host.get">[],
    "item.get": (params) =>
      read([...(tables["item.get"] ?? []), ...figureItems(clock())], {
        ...params,
      }) as Stored<"item.get">[],
    "vip.get": ({ vipids }) => rows(vips, "vipid", vipids),
    "virtualservice.get": () => [],
  };
}
