import { SEVERITY_NAMES } from "~/api/schema";

/** Severity of a trigger or problem, 0 (not classified) to 5 (disaster). */
export type Severity = 0 | 1 | 2 | 3 | 4 | 5;

export const SEVERITIES: readonly Severity[] = [5, 4, 3, 2, 1, 0];

export function severityName(severity: Severity): string {
  return SEVERITY_NAMES[severity];
}

/** Reads a severity as the API writes it ("0".."5"); anything else is "not classified". */
export function toSeverity(text: string | number | undefined): Severity {
  const n = Number(text);
  return Number.isInteger(n) && n >= 0 && n <= 5 ? (n as Severity) : 0;
}

/** The highest of some severities, or null when there are none. */
export function highest(severities: Iterable<Severity>): Severity | null {
  let max: Severity | null = null;
  for (const s of severities) if (max === null || s > max) max = s;
  return max;
}
