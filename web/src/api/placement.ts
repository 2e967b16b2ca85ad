import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** How the engines of a group share its VIPs (`ha_mode`). */
export const HaMode = {
  ActiveActive: "0",
  NPlusM: "1",
  ActiveStandby: "2",
} as const;
export type HaMode = (typeof HaMode)[keyof typeof HaMode];

/** On how many engines VIPs are spread (`placement`). */
export const Spread = {
  Distributed: "0",
  Compact: "1",
} as const;
export type Spread = (typeof Spread)[keyof typeof Spread];

/** Members of engine groups in the form of the engine's configuration. */
export interface GroupSettings {
  /** Without members: engines announce no VIPs. */
  announce: Record<string, unknown>;
}

/** An engine of a VIP. */
export interface VipEngine {
  engineid: string;
  /** `active` or `standby`. */
  role: string;
  /** Unix time. */
  since: string | number;
}

export interface PlacedVip {
  vipid: string;
  /** Active engines that it should have. */
  wanted: string | number;
  engines: VipEngine[];
  /** Why it has fewer; empty: it has as many. */
  reason: string;
}

export interface PlacedEngine {
  engineid: string;
  /** `up`, `down`, `draining` or `waiting`. */
  state: string;
  /** VIPs for which it is active. */
  vips: string | number;
  /** Further VIPs that it can take; it says nothing in a group without a limit. */
  room: string | number | null;
}

/** Where the VIPs of an engine group are. */
export interface GroupPlacement {
  enginegroupid: string;
  vips: PlacedVip[];
  engines: PlacedEngine[];
}

/** Engines fail within seconds; long answers are read less often. */
const REFRESH_MS = 2_000;
const REFRESH_LONG_MS = 10_000;
const LONG = 2_000;

/** Milliseconds between two reads of a placement like this. */
export function placementInterval(placement: GroupPlacement | null | undefined): number {
  const size = (placement?.vips ?? []).reduce((sum, vip) => sum + vip.engines.length, 0);
  return size > LONG ? REFRESH_LONG_MS : REFRESH_MS;
}

/** The placement of a group now; null: there is no such group. */
export const placementQuery = (enginegroupid: string) =>
  queryOptions({
    queryKey: ["balancing", "placement", enginegroupid],
    queryFn: async ({ signal }) => {
      const params = { enginegroupids: [enginegroupid] };
      const [found] = await rpc("enginegroup.placement", params, signal);
      return found ?? null;
    },
    refetchInterval: (query) => placementInterval(query.state.data),
    meta: { live: "config" },
  });
