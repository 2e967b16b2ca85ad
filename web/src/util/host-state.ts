import { SEVERITIES, type Severity, severityName } from "./severity";

/** What is known of a host. */
export interface HostState {
  /** An item of the host has a value. */
  data: boolean;
  /** Open problems by severity, 0 to 5. */
  problems: readonly number[];
}

/** A severity: that of the worst problem. */
export type HostTone = "good" | "off" | Severity;

/** The most severe of some problems; null without any. */
export function worstOf(problems: readonly number[]): Severity | null {
  return SEVERITIES.find((severity) => (problems[severity] ?? 0) > 0) ?? null;
}

export function totalOf(problems: readonly number[]): number {
  return problems.reduce((sum, count) => sum + count, 0);
}

/** Each severity with its own number: "1 average, 1 warning". */
export function countsInWords(problems: readonly number[]): string {
  return SEVERITIES.filter((severity) => (problems[severity] ?? 0) > 0)
    .map((severity) => `${problems[severity]} ${severityName(severity).toLowerCase()}`)
    .join(", ");
}

/** Green only for a monitored host that is known to be well: with values and without problems. */
export function toneOf(state: HostState | undefined, monitored: boolean): HostTone {
  if (!monitored || !state) return "off";
  return worstOf(state.problems) ?? (state.data ? "good" : "off");
}

/** The same in words. */
export function stateInWords(state: HostState | undefined, monitored: boolean): string {
  if (!monitored) return "Not monitored";
  if (!state) return "Loading";
  const words = countsInWords(state.problems);
  if (words) return words;
  return state.data ? "No problems" : "No data";
}
