import { queryOptions } from "@tanstack/react-query";
import type { ScheduleSpan, SlaPeriod, SliCell } from "~/util/sla";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { TagCondition } from "./services";

export interface SlaRow {
  slaid: string;
  name: string;
  /** See `PERIODS` in `util/sla.ts`. */
  period: string;
  /** Per cent. */
  slo: string;
  /** Unix seconds. */
  effective_date: string;
  timezone: string;
  /** "1": enabled. */
  status: string;
  description: string;
}

export interface ExcludedDowntime {
  name: string;
  period_from: string;
  period_to: string;
}

/** An agreement as `create` takes it. */
export interface SlaInput {
  name: string;
  period: string;
  slo: string;
  effective_date: string;
  timezone: string;
  status: string;
  description: string;
  service_tags: TagCondition[];
  schedule: ScheduleSpan[];
  excluded_downtimes: ExcludedDowntime[];
}

const FIELDS = [
  "slaid",
  "name",
  "period",
  "slo",
  "effective_date",
  "timezone",
  "status",
  "description",
] as const;

export interface SlaSummary extends SlaRow {
  service_tags: TagCondition[];
  schedule: { period_from: string; period_to: string }[];
}

export const slasQuery = () =>
  queryOptions({
    queryKey: ["slas"],
    queryFn: ({ signal }): Promise<SlaSummary[]> =>
      rpc(
        "sla.get",
        {
          output: FIELDS,
          selectServiceTags: ["tag", "operator", "value"],
          selectSchedule: ["period_from", "period_to"],
          sortfield: "name",
        },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export interface Sla extends SlaSummary {
  excluded_downtimes: ExcludedDowntime[];
}

export const slaQuery = (slaid: string) =>
  queryOptions({
    queryKey: ["slas", "one", slaid],
    queryFn: async ({ signal }): Promise<Sla | null> =>
      (
        await rpc(
          "sla.get",
          {
            output: FIELDS,
            slaids: slaid,
            selectServiceTags: ["tag", "operator", "value"],
            selectSchedule: ["period_from", "period_to"],
            selectExcludedDowntimes: ["name", "period_from", "period_to"],
          },
          signal,
        )
      )[0] ?? null,
    meta: { live: "config" },
  });

/** The indicators of services: a row for each period, in it a cell for each service. */
export interface Sli {
  periods: SlaPeriod[];
  serviceids: (string | number)[];
  sli: SliCell[][];
}

export interface SliParams {
  slaid: string;
  serviceids?: string[];
  /** Number of the last periods. */
  periods?: number;
  period_from?: number;
  period_to?: number;
}

/** Indicators change with time, without a notice. */
const POLL_MS = 60_000;

export const sliQuery = (params: SliParams) =>
  queryOptions({
    queryKey: ["sli", params],
    queryFn: ({ signal }): Promise<Sli> => rpc("sla.getsli", params, signal),
    refetchInterval: POLL_MS,
    enabled: params.slaid !== "",
    meta: { live: "problems" },
  });

/** The cells of one service, by period; empty if the agreement does not cover it. */
export function cellsOf(sli: Sli | undefined, serviceid: string): SliCell[] {
  const at = sli?.serviceids.findIndex((id) => String(id) === serviceid) ?? -1;
  if (!sli || at < 0) return [];
  return sli.sli.flatMap((row) => row[at] ?? []);
}

/** Creates an agreement, or changes the one given. */
export function saveSla(slaid: string | null, sla: SlaInput): Promise<unknown> {
  if (!slaid) return rpc("sla.create", sla);
  return rpc("sla.update", { slaid, ...sla });
}

export function enableSlas(slaids: string[], on: boolean): Promise<unknown> {
  return rpc(
    "sla.update",
    slaids.map((slaid) => ({ slaid, status: on ? "1" : "0" })),
  );
}

export function deleteSlas(slaids: string[]): Promise<unknown> {
  return rpc("sla.delete", slaids);
}
