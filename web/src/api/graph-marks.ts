import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import type { Severity } from "~/util/severity";
import type { TagFilter } from "~/util/tags";
import { resolveRange, type TimeRange } from "~/util/time";
import { rpc } from "./client";
import { pollInterval } from "./live";
import { type ProblemFilter, problemWindow } from "./problems";

/** Triggers of the items of a graph, for the lines of their limits. */
export const graphTriggersQuery = (itemids: readonly string[]) =>
  queryOptions({
    queryKey: ["triggers", "items", itemids],
    queryFn: ({ signal }) =>
      rpc(
        "trigger.get",
        {
          output: ["triggerid", "expression", "priority"],
          itemids,
          monitored: true,
          expandExpression: true,
        },
        signal,
      ),
    enabled: itemids.length > 0,
    meta: { live: "config" },
  });

interface MarkFilter {
  itemids: readonly string[];
  range: TimeRange;
  severities: number[];
  text: string | undefined;
  tags: TagFilter[];
  anyTag: boolean;
}

export interface ProblemSpan {
  eventid: string;
  name: string;
  severity: Severity;
  /** Unix seconds; `till` of an open problem is the end of the range. */
  from: number;
  till: number;
}

/** Problems that a graph shows at most. */
const PROBLEMS_MAX = 100;

/** Problems of the triggers of items in a time: those that began in it, and those that are open. */
export const graphProblemsQuery = ({ itemids, range, ...rest }: MarkFilter) =>
  queryOptions({
    queryKey: ["problems", "graph", itemids, range, rest],
    queryFn: async ({ signal }): Promise<ProblemSpan[]> => {
      const span = resolveRange(range);
      if (!span) return [];
      const triggers = await rpc(
        "trigger.get",
        { output: ["triggerid"], itemids, monitored: true },
        signal,
      );
      if (triggers.length === 0) return [];
      const filter: ProblemFilter = {
        ...rest,
        mode: "history",
        triggerids: triggers.map(({ triggerid }) => triggerid),
        from: span.from,
        till: span.till,
      };
      const [began, open] = await Promise.all([
        problemWindow(filter, 0, PROBLEMS_MAX, signal),
        problemWindow({ ...filter, mode: "open" }, 0, PROBLEMS_MAX, signal),
      ]);
      const rows = new Map([...open, ...began].map((row) => [row.eventid, row]));
      return [...rows.values()]
        .filter((row) => row.clock < span.till)
        .map((row) => ({
          eventid: row.eventid,
          name: row.name,
          severity: row.severity,
          from: row.clock,
          till: row.r_clock || span.till,
        }));
    },
    enabled: itemids.length > 0,
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
