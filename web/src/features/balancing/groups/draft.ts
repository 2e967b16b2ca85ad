import type { EngineGroup } from "~/api/balancing";
import type { Members } from "~/api/methods";
import { HaMode, Spread } from "~/api/placement";
import { oneOf } from "~/util/one-of";
import { isObject } from "../requests/json";
import { present } from "../service-draft";
import { texts } from "./texts";

/** An engine group as the form holds it. Members have the names of the API, except `engines`. */
export interface GroupDraft {
  name: string;
  description: string;
  ha_mode: HaMode;
  /** Whether `engines_per_vip` limits the engines of a VIP of active/active. */
  engines: "all" | "some";
  engines_per_vip: string;
  spare_engines: string;
  placement: Spread;
  vips_per_engine: string;
  rebalance: boolean;
  failover_after: string;
  /** JSON; empty: none. */
  announce: string;
}

const MODES = Object.values(HaMode);
const SPREADS = Object.values(Spread);
const ENGINES_MAX = 1_000;
const VIPS_MAX = 20_000;
const FAILOVER_MAX_S = 600;

/** The number of a text, or what stands for none. */
const orElse = (text: string | undefined, none: string) => (text && text !== "0" ? text : none);

export function groupDraft(row: EngineGroup | null): GroupDraft {
  const announce = row?.announce ?? {};
  return {
    name: row?.name ?? "",
    description: row?.description ?? "",
    ha_mode: oneOf(row?.ha_mode, MODES) ?? HaMode.ActiveActive,
    engines: orElse(row?.engines_per_vip, "") ? "some" : "all",
    // With N+M, 0 is one engine.
    engines_per_vip: orElse(row?.engines_per_vip, row?.ha_mode === HaMode.NPlusM ? "1" : "2"),
    spare_engines: row?.ha_mode === HaMode.NPlusM ? row.spare_engines : "1",
    placement: oneOf(row?.placement, SPREADS) ?? Spread.Distributed,
    vips_per_engine: row?.vips_per_engine ?? "0",
    rebalance: row?.rebalance === "1",
    failover_after: row?.failover_after ?? "3",
    announce: Object.keys(announce).length > 0 ? JSON.stringify(announce, null, 2) : "",
  };
}

const isZero = (text: string) => /^0*$/.test(text.trim());

/** Which fields the mode of a draft uses. */
export function usedFields(draft: Pick<GroupDraft, "ha_mode" | "engines" | "vips_per_engine">) {
  const { ha_mode, engines } = draft;
  const isShared = ha_mode === HaMode.ActiveActive;
  // There is no choice where every engine has every VIP.
  const placed = !isShared || engines === "some" || !isZero(draft.vips_per_engine);
  return {
    engines: isShared,
    engines_per_vip: ha_mode === HaMode.NPlusM || (isShared && engines === "some"),
    spare_engines: ha_mode === HaMode.NPlusM,
    placement: placed,
    rebalance: placed,
  };
}

const isNumber = (text: string, least: number, most: number) =>
  /^\d{1,6}$/.test(text.trim()) && Number(text) >= least && Number(text) <= most;

const range = (used: boolean, text: string, least: number, most: number) =>
  !used || isNumber(text, least, most) ? undefined : texts.enterNumber(least, most);

/** The object of a JSON text; undefined: it is none. */
function announced(text: string): Record<string, unknown> | undefined {
  if (!text.trim()) return {};
  try {
    const value: unknown = JSON.parse(text);
    return isObject(value) ? value : undefined;
  } catch {
    return undefined;
  }
}

/** What is wrong with a draft, by member; the server has the last word on the rest. */
export function groupProblems(draft: GroupDraft): Record<string, string> {
  const used = usedFields(draft);
  const needsLimit =
    used.spare_engines && !isZero(draft.spare_engines) && isZero(draft.vips_per_engine);
  return present({
    name: draft.name.trim() ? undefined : texts.enterName,
    engines_per_vip: range(used.engines_per_vip, draft.engines_per_vip, 1, ENGINES_MAX),
    spare_engines: range(used.spare_engines, draft.spare_engines, 0, ENGINES_MAX),
    vips_per_engine: needsLimit
      ? texts.limitForSpare
      : range(true, draft.vips_per_engine, 0, VIPS_MAX),
    failover_after: range(true, draft.failover_after, 1, FAILOVER_MAX_S),
    announce: announced(draft.announce) ? undefined : texts.enterObject,
  });
}

/** A draft without problems, as `enginegroup.create` takes it. What the mode does not use has its default. */
export function groupParams(draft: GroupDraft) {
  const used = usedFields(draft);
  return {
    name: draft.name.trim(),
    description: draft.description,
    ha_mode: draft.ha_mode,
    engines_per_vip: used.engines_per_vip ? draft.engines_per_vip.trim() : "0",
    spare_engines: used.spare_engines ? draft.spare_engines.trim() : "0",
    placement: used.placement ? draft.placement : Spread.Distributed,
    vips_per_engine: draft.vips_per_engine.trim(),
    rebalance: used.rebalance && draft.rebalance ? "1" : "0",
    failover_after: draft.failover_after.trim(),
    announce: announced(draft.announce) ?? {},
  } as const satisfies Members<"enginegroup">;
}

export type GroupParams = ReturnType<typeof groupParams>;

/** Settings that decide which engines have which VIPs. */
const MOVING = [
  "ha_mode",
  "engines_per_vip",
  "spare_engines",
  "placement",
  "vips_per_engine",
  "rebalance",
] as const;
export type Moving = (typeof MOVING)[number];

/** A setting before and after a change. */
export interface Moved {
  setting: Moving;
  from: string;
  to: string;
}

/** The settings that a draft changes and that can move VIPs. */
export function movedSettings(row: EngineGroup, draft: GroupDraft): Moved[] {
  const [before, after] = [groupParams(groupDraft(row)), groupParams(draft)];
  return MOVING.filter((setting) => before[setting] !== after[setting]).map((setting) => ({
    setting,
    from: before[setting],
    to: after[setting],
  }));
}

/** The mode of a group in words, and its placement if the mode uses it. */
export function modeOf(group: EngineGroup): string {
  const draft = groupDraft(group);
  const placement = usedFields(draft).placement ? texts.placements[draft.placement] : "";
  return texts.modeWords(texts.modes[draft.ha_mode], placement.toLowerCase());
}
