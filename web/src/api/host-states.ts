import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { HostState } from "~/util/host-state";
import { rpc } from "./client";
import { pollInterval } from "./live";

export interface RawState {
  hostid: string;
  /** "1": an item of the host has a value. */
  data: string;
  /** Open problems by severity, 0 to 5. */
  problems: string[];
}

export interface RawGroupState {
  groupid: string;
  hosts: string;
  monitored: string;
  /** Monitored hosts with values. */
  with_data: string;
  /** Open problems of monitored hosts by severity, 0 to 5. */
  problems: string[];
}

/** States of the hosts of a window of a list. */
export const hostStatesQuery = (hostids: readonly string[]) =>
  queryOptions({
    queryKey: ["problems", "hosts", hostids],
    queryFn: async ({ signal }) => {
      const rows = await rpc("host.states", { hostids }, signal);
      return new Map<string, HostState>(
        rows.map((row) => [
          row.hostid,
          { data: row.data === "1", problems: row.problems.map(Number) },
        ]),
      );
    },
    enabled: hostids.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

export interface WorstHost {
  hostid: string;
  name: string;
  problems: number[];
}

/** All hosts in numbers. */
export interface HostSummary {
  hosts: number;
  disabled: number;
  problems: number;
  ok: number;
  unknown: number;
  worst: WorstHost[];
}

/** The same as the server sends it. */
export type RawSummary = Record<"hosts" | "disabled" | "problems" | "ok" | "unknown", string> & {
  worst: (Omit<WorstHost, "problems"> & { problems: string[] })[];
};

export const hostSummaryQuery = (limit: number) =>
  queryOptions({
    queryKey: ["problems", "hosts", "summary", limit],
    queryFn: async ({ signal }): Promise<HostSummary> => {
      const raw = await rpc("host.summary", { limit }, signal);
      return {
        hosts: Number(raw.hosts),
        disabled: Number(raw.disabled),
        problems: Number(raw.problems),
        ok: Number(raw.ok),
        unknown: Number(raw.unknown),
        worst: raw.worst.map((host) => ({ ...host, problems: host.problems.map(Number) })),
      };
    },
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
