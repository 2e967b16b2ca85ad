import type { Vip } from "~/api/balancing";
import type { Engine } from "~/api/engines";
import { type GroupPlacement, HaMode, type PlacedVip } from "~/api/placement";
import { formatAgo } from "~/util/time";
import { addressWords } from "../leave";
import { states, texts } from "./texts";

export type Tone = "good" | "warn" | "bad" | "off";
export type EngineStatus = "up" | "down" | "draining" | "waiting" | "unknown";

/** An engine as the page shows it. */
export interface EngineSeen {
  id: string;
  name: string;
  status: EngineStatus;
  tone: Tone;
  words: string;
  active: readonly string[];
  standby: readonly string[];
  /** Whether a user drains it; undefined: it is no engine of the group any more. */
  drained: boolean | undefined;
  /** Further VIPs that it can take; undefined: there is no limit, or it is unknown. */
  room: number | undefined;
}

/** An engine of a VIP. `sure`: the engine is known to run, so that it serves the VIP. */
export interface Place {
  engine: EngineSeen;
  since: number;
  sure: boolean;
}

/** A VIP as the page shows it. */
export interface VipSeen {
  id: string;
  name: string;
  address: string;
  wanted: number;
  active: readonly Place[];
  standby: readonly Place[];
  /** Active engines that are known to run. */
  serving: number;
  tone: Tone;
  /** Why it has fewer engines than it should have; empty: it has all. */
  reason: string;
}

/** What is known of a group: everything, or what was known at an earlier time. */
export interface Known {
  placement: GroupPlacement;
  /** All engines of the group. */
  engines: readonly Engine[];
  vips: readonly Vip[];
  mode: string;
  /** Unix seconds of the server. */
  now: number;
  /** The placement is from an earlier time: nothing in it counts as good. */
  stale: boolean;
  /** Whether engines have a limit of VIPs. */
  limited: boolean;
}

export interface GroupSeen {
  vips: readonly VipSeen[];
  engines: readonly EngineSeen[];
}

/** Engines report at least every 15 s. */
const SILENT_S = 30;

const STATUS: Readonly<Record<EngineStatus, Tone>> = {
  up: "good",
  draining: "warn",
  waiting: "warn",
  down: "bad",
  unknown: "off",
};

const isStatus = (text: string | undefined): text is EngineStatus =>
  text !== undefined && Object.hasOwn(STATUS, text);

/** The state of an engine in words. A server that says "up" of a silent engine is not believed. */
function judged(
  said: string | undefined,
  engine: Engine | undefined,
  known: Known,
): Pick<EngineSeen, "status" | "tone" | "words"> {
  const status = isStatus(said) ? said : "unknown";
  if (known.stale) return { status: "unknown", tone: "off", words: states.was(states[status]) };
  const last = Number(engine?.lastaccess ?? 0);
  if (engine && last === 0 && status !== "up") {
    return { status, tone: status === "down" ? "bad" : "off", words: states.never };
  }
  if (status === "up" && known.now - last > SILENT_S) {
    const words = last > 0 ? states.silent(formatAgo(last, known.now)) : states.unknown;
    return { status: "unknown", tone: "warn", words };
  }
  return { status, tone: STATUS[status], words: states[status] };
}

const number = (value: string | number | null | undefined) => {
  const found = value === null || value === undefined || value === "" ? Number.NaN : Number(value);
  return Number.isFinite(found) ? found : undefined;
};

/** Draining engines still serve the connections that they have. */
const runs = (engine: EngineSeen) => engine.status === "up" || engine.status === "draining";

const byName = (a: { name: string }, b: { name: string }) =>
  a.name.localeCompare(b.name, "en", { numeric: true });

/** Names of VIPs by engine and role. */
function namesBy(placement: GroupPlacement, role: string, nameOf: (id: string) => string) {
  const names = new Map<string, string[]>();
  for (const vip of placement.vips) {
    for (const engine of vip.engines) {
      if (engine.role !== role) continue;
      const list = names.get(engine.engineid) ?? [];
      list.push(nameOf(vip.vipid));
      names.set(engine.engineid, list);
    }
  }
  return names;
}

function enginesSeen(known: Known, vipName: (id: string) => string): EngineSeen[] {
  const { placement, engines } = known;
  const rows = new Map(engines.map((one) => [one.engineid, one]));
  const placed = new Map(placement.engines.map((one) => [one.engineid, one]));
  const active = namesBy(placement, "active", vipName);
  const standby = namesBy(placement, "standby", vipName);
  // Also engines that only one of the lists has: a new one, and one that was deleted or moved.
  const ids = new Set([...rows.keys(), ...placed.keys(), ...active.keys(), ...standby.keys()]);
  return [...ids]
    .map((id) => ({
      id,
      name: rows.get(id)?.name ?? texts.engineNamed(id),
      ...judged(placed.get(id)?.state, rows.get(id), known),
      drained: rows.has(id) ? rows.get(id)?.drain === "1" : undefined,
      active: active.get(id) ?? [],
      standby: standby.get(id) ?? [],
      room: known.limited ? number(placed.get(id)?.room) : undefined,
    }))
    .sort(byName);
}

/** A reason of the server as a sentence. */
const sentence = (text: string) =>
  text && `${text[0]?.toUpperCase()}${text.slice(1)}${text.endsWith(".") ? "" : "."}`;

/** Why a VIP lacks engines: the server's reason, and else what can be seen of its engines. */
function reasonOf(vip: PlacedVip, places: readonly Place[], lacksStandby: boolean): string {
  const missing = places.filter((place) => !place.sure).map((place) => place.engine.name);
  const words = [
    sentence(vip.reason),
    missing.length > 0 ? texts.areNotUp(missing.join(", ")) : "",
    lacksStandby && !vip.reason ? texts.noStandby : "",
  ].filter(Boolean);
  return words.join(" ") || texts.noReason;
}

function vipSeen(
  vip: PlacedVip,
  row: Vip | undefined,
  engines: ReadonlyMap<string, EngineSeen>,
  known: Known,
): VipSeen {
  const places = (role: string): Place[] =>
    vip.engines
      .filter((one) => one.role === role)
      .flatMap((one) => {
        const engine = engines.get(one.engineid);
        const since = Number(one.since) || 0;
        return engine ? [{ engine, since, sure: runs(engine) }] : [];
      })
      .sort((a, b) => byName(a.engine, b.engine));
  const [active, standby] = [places("active"), places("standby")];
  const serving = active.filter((place) => place.sure).length;
  const wanted = number(vip.wanted) ?? 0;
  const lacksStandby = known.mode === HaMode.ActiveStandby && !standby.some((place) => place.sure);
  const lacks = serving === 0 || serving < wanted || lacksStandby;
  return {
    id: vip.vipid,
    name: row?.name ?? texts.vipNamed(vip.vipid),
    address: row ? addressWords(row) : "",
    wanted,
    active,
    standby,
    serving,
    tone: known.stale ? "off" : serving === 0 ? "bad" : lacks ? "warn" : "good",
    reason: known.stale
      ? sentence(vip.reason)
      : lacks
        ? reasonOf(vip, [...active, ...standby], lacksStandby)
        : "",
  };
}

/** A group as the page shows it. VIPs and engines are sorted by name. */
export function groupSeen(known: Known): GroupSeen {
  const rows = new Map(known.vips.map((one) => [one.vipid, one]));
  const engines = enginesSeen(known, (id) => rows.get(id)?.name ?? texts.vipNamed(id));
  const byId = new Map(engines.map((one) => [one.id, one]));
  const vips = known.placement.vips
    .map((vip) => vipSeen(vip, rows.get(vip.vipid), byId, known))
    .sort(byName);
  return { vips, engines };
}

/** Whether a VIP needs attention. */
export const isShort = (vip: VipSeen) => vip.tone === "bad" || vip.tone === "warn";

const has = (needle: string, words: readonly string[]) =>
  words.some((one) => one.toLowerCase().includes(needle));

/** VIPs with a text in their names, addresses, reasons or the names of their engines. */
export function findVips(vips: readonly VipSeen[], text: string, onlyShort: boolean) {
  const needle = text.trim().toLowerCase();
  return vips.filter(
    (vip) =>
      (!onlyShort || isShort(vip)) &&
      (!needle ||
        has(needle, [vip.name, vip.address, vip.reason]) ||
        has(
          needle,
          [...vip.active, ...vip.standby].map(({ engine }) => engine.name),
        )),
  );
}

/** Engines with a text in their names, states or the names of their VIPs. */
export function findEngines(engines: readonly EngineSeen[], text: string) {
  const needle = text.trim().toLowerCase();
  return engines.filter(
    (one) => !needle || has(needle, [one.name, one.words, ...one.active, ...one.standby]),
  );
}

/** Engines of the matrix: those that are named by the text, or all if it names none. */
export function columnsFor(engines: readonly EngineSeen[], text: string) {
  const needle = text.trim().toLowerCase();
  const named = engines.filter((one) => needle && one.name.toLowerCase().includes(needle));
  return named.length > 0 ? named : engines;
}
