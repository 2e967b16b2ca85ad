import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { TagFilter } from "~/util/tags";
import { resolveRange, type TimeRange } from "~/util/time";
import { rpc } from "./client";
import { pollInterval } from "./live";
import type { ProblemFilter } from "./problems";

interface TriggerScope {
  hostids?: readonly string[];
  groupids?: readonly string[];
  tags?: readonly TagFilter[];
  anyTag?: 2;
  onlyProblems: boolean;
  limit: number;
}

const filled = <T>(list: readonly T[] | undefined) => (list?.length ? list : undefined);
const PROBLEM = "1";

/** Triggers of monitored hosts with their state, the most severe first. */
export const overviewTriggersQuery = (scope: TriggerScope) =>
  queryOptions({
    queryKey: ["triggers", "overview", scope],
    queryFn: ({ signal }) =>
      rpc(
        "trigger.get",
        {
          output: ["triggerid", "description", "priority", "value", "state"],
          hostids: filled(scope.hostids),
          groupids: filled(scope.groupids),
          tags: filled(scope.tags),
          evaltype: scope.anyTag,
          filter: scope.onlyProblems ? { value: PROBLEM } : undefined,
          monitored: true,
          expandDescription: true,
          selectHosts: ["hostid", "name"],
          sortfield: ["priority", "description"],
          sortorder: "DESC",
          limit: scope.limit,
        },
        signal,
      ),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

export interface BusyTrigger {
  triggerid: string;
  description: string;
  priority: string;
  hosts: { hostid: string; name: string }[];
  /** Problems that it opened. */
  problems: number;
}

/** Events that are counted; more are left out. */
export const EVENTS_MAX = 20_000;

/** How often each object occurs, the most frequent first. */
export function frequencies(ids: readonly string[], limit: number): [id: string, count: number][] {
  const counts = new Map<string, number>();
  for (const id of ids) counts.set(id, (counts.get(id) ?? 0) + 1);
  return [...counts].sort((a, b) => b[1] - a[1] || Number(a[0]) - Number(b[0])).slice(0, limit);
}

/** The triggers that opened the most problems in a time. `complete`: all events were counted. */
export const topTriggersQuery = (filter: ProblemFilter, range: TimeRange, lines: number) =>
  queryOptions({
    queryKey: ["problems", "triggers", filter, range, lines],
    queryFn: async ({ signal }): Promise<{ triggers: BusyTrigger[]; complete: boolean }> => {
      const span = resolveRange(range);
      if (!span) return { triggers: [], complete: true };
      const events = await rpc(
        "event.get",
        {
          output: ["eventid", "objectid"],
          source: 0,
          object: 0,
          value: 1,
          hostids: filled(filter.hostids),
          groupids: filled(filter.groupids),
          severities: filled(filter.severities),
          tags: filled(filter.tags),
          evaltype: filter.anyTag ? 2 : undefined,
          search: filter.text ? { name: filter.text } : undefined,
          time_from: span.from,
          time_till: span.till,
          sortfield: "eventid",
          sortorder: "DESC",
          limit: EVENTS_MAX,
        },
        signal,
      );
      const top = frequencies(
        events.map(({ objectid }) => objectid),
        lines,
      );
      const rows =
        top.length === 0
          ? []
          : await rpc(
              "trigger.get",
              {
                output: ["triggerid", "description", "priority"],
                triggerids: top.map(([id]) => id),
                expandDescription: true,
                selectHosts: ["hostid", "name"],
              },
              signal,
            );
      const triggers = top.flatMap(([id, problems]) => {
        const row = rows.find(({ triggerid }) => triggerid === id);
        return row ? [{ ...row, problems }] : [];
      });
      return { triggers, complete: events.length < EVENTS_MAX };
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
