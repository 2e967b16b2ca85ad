/** Members that the server changes by itself: they are no edits. */
const VOLATILE = new Set([
  "active_available",
  "attempt_failed",
  "available",
  "disable_until",
  "discoveries",
  "error",
  "errors_from",
  "items",
  "lastchange",
  "lastclock",
  "lastns",
  "lastvalue",
  "maintenance_from",
  "maintenance_status",
  "maintenance_type",
  "maintenanceid",
  "nextcheck",
  "prevvalue",
  "state",
  "triggers",
  "value",
]);

/** Objects in which `value` is configuration: tags, macros, mappings, fields. */
const HAS_VALUE = ["tag", "macro", "newvalue", "name"];

function configured(value: unknown): unknown {
  if (Array.isArray(value)) return value.map(configured);
  if (typeof value !== "object" || value === null) return value;
  const keepsValue = HAS_VALUE.some((name) => name in value) && !("expression" in value);
  return Object.fromEntries(
    Object.entries(value)
      .filter(([name]) => !VOLATILE.has(name) || (name === "value" && keepsValue))
      .map(([name, inner]) => [name, configured(inner)]),
  );
}

/** A member that somebody else changed. */
export interface Changed {
  name: string;
  before: string;
  now: string;
}

const SHOWN_MAX = 160;

function shown(value: unknown): string {
  const text = typeof value === "string" ? value : (JSON.stringify(value) ?? "");
  return text.length > SHOWN_MAX ? `${text.slice(0, SHOWN_MAX)}…` : text;
}

/** What changed in an object since `before` was read. */
export function changedSince(before: unknown, now: unknown): Changed[] {
  const old = (configured(before) ?? {}) as Record<string, unknown>;
  const fresh = (configured(now) ?? {}) as Record<string, unknown>;
  const names = [...new Set([...Object.keys(old), ...Object.keys(fresh)])];
  return names
    .filter((name) => JSON.stringify(old[name]) !== JSON.stringify(fresh[name]))
    .map((name) => ({ name, before: shown(old[name]), now: shown(fresh[name]) }));
}
