import { queryOptions } from "@tanstack/react-query";
import type { ConditionDraft } from "~/util/correlation";
import { rpc } from "./client";
import { pollInterval } from "./live";

/** A condition has the members of its type. */
export type CorrelationConditionRow = Partial<ConditionDraft> & {
  type: string;
  formulaid?: string;
};

export interface CorrelationRow {
  correlationid: string;
  name: string;
  description: string;
  /** "0": enabled. */
  status: string;
}

export interface CorrelationFilter {
  evaltype: string;
  formula?: string;
  eval_formula?: string;
  conditions: CorrelationConditionRow[];
}

export interface CorrelationInput {
  name: string;
  description: string;
  status: string;
  filter: CorrelationFilter;
  operations: { type: string }[];
}

export interface Correlation extends CorrelationRow {
  filter: CorrelationFilter;
  operations: { type: string }[];
}

const ALL = { output: "extend", selectFilter: "extend", selectOperations: "extend" } as const;

export const correlationsQuery = () =>
  queryOptions({
    queryKey: ["correlations"],
    queryFn: ({ signal }): Promise<Correlation[]> =>
      rpc("correlation.get", { ...ALL, sortfield: "name" }, signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

export const correlationQuery = (correlationid: string) =>
  queryOptions({
    queryKey: ["correlations", "one", correlationid],
    queryFn: async ({ signal }): Promise<Correlation | null> =>
      (await rpc("correlation.get", { ...ALL, correlationids: correlationid }, signal))[0] ?? null,
    meta: { live: "config" },
  });

/** Creates a correlation, or changes the one given. */
export function saveCorrelation(
  correlationid: string | null,
  correlation: CorrelationInput,
): Promise<unknown> {
  if (!correlationid) return rpc("correlation.create", correlation);
  return rpc("correlation.update", { correlationid, ...correlation });
}

export function enableCorrelations(correlationids: string[], on: boolean): Promise<unknown> {
  const status = on ? "0" : "1";
  return rpc(
    "correlation.update",
    correlationids.map((correlationid) => ({ correlationid, status })),
  );
}

export function deleteCorrelations(correlationids: string[]): Promise<unknown> {
  return rpc("correlation.delete", correlationids);
}
