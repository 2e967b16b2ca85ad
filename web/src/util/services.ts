import { SEVERITIES, type Severity, severityName } from "./severity";

/** A service without problems; other statuses are severities. */
export const STATUS_OK = "-1";

/** The severity of a service's status; null: without problems; undefined: unknown. */
export function statusOf(status: string): Severity | null | undefined {
  if (status === STATUS_OK) return null;
  return SEVERITIES.find((severity) => String(severity) === status);
}

export function statusName(status: string): string {
  const severity = statusOf(status);
  if (severity === null) return "OK";
  return severity === undefined ? "Unknown" : severityName(severity);
}

/** All statuses as choices, the worst first. */
export const STATUSES: readonly (readonly [string, string])[] = [
  ...SEVERITIES.map((severity) => [String(severity), severityName(severity)] as const),
  [STATUS_OK, "OK"],
];
export const SEVERITY_CHOICES = STATUSES.slice(0, -1);

export const ALGORITHMS = [
  ["2", "Most critical of child services"],
  ["1", "Most critical if all children have problems"],
  ["0", "Set status to OK"],
] as const;

export const Propagation = {
  AsIs: "0",
  Increase: "1",
  Decrease: "2",
  Ignore: "3",
  Fixed: "4",
} as const;

export const PROPAGATIONS = [
  [Propagation.AsIs, "As is"],
  [Propagation.Increase, "Increase by"],
  [Propagation.Decrease, "Decrease by"],
  [Propagation.Ignore, "Ignore this service"],
  [Propagation.Fixed, "Fixed status"],
] as const;

/** Kinds of status rules: what is counted, before and after the limit. */
export const RULES: readonly (readonly [kind: string, words: string, unit: string])[] = [
  ["0", "At least N child services have the status or above", "N"],
  ["1", "At least N % of child services have the status or above", "%"],
  ["2", "Less than N child services have the status or below", "N"],
  ["3", "Less than N % of child services have the status or below", "%"],
  ["4", "Weight of child services with the status or above is at least W", "W"],
  ["5", "Weight of child services with the status or above is at least N %", "%"],
  ["6", "Weight of child services with the status or below is less than W", "W"],
  ["7", "Weight of child services with the status or below is less than N %", "%"],
];

/** What the limit of a status rule is: a number, a weight ("W") or a percentage ("%"). */
export const limitUnit = (kind: string) => RULES.find(([one]) => one === kind)?.[2] ?? "N";

/** How tags of problems and services are compared. */
export const TAG_OPERATORS = [
  ["0", "equals"],
  ["2", "contains"],
] as const;
