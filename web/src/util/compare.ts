/** One object that an import would add, change or remove. */
export interface ImportChange {
  what: "added" | "updated" | "removed";
  /** Kind of the object, in words: "items", "discovery rules". */
  kind: string;
  name: string;
  /** Names of the members that differ, where the object is changed. */
  fields: string[];
  depth: number;
}

const WHATS = ["added", "updated", "removed"] as const;

function nameOf(value: unknown): string {
  if (typeof value !== "object" || value === null) return "";
  const entry = value as Record<string, unknown>;
  for (const key of ["name", "template", "macro", "key", "uuid"]) {
    if (typeof entry[key] === "string") return entry[key];
  }
  return "";
}

function changedFields(before: unknown, after: unknown): string[] {
  if (typeof before !== "object" || typeof after !== "object" || !before || !after) return [];
  const old = before as Record<string, unknown>;
  const next = after as Record<string, unknown>;
  return [...new Set([...Object.keys(old), ...Object.keys(next)])].filter(
    (key) => JSON.stringify(old[key]) !== JSON.stringify(next[key]),
  );
}

/** Flattens what importcompare answers into a list, parents before their parts. */
export function listChanges(comparison: unknown, depth = 0): ImportChange[] {
  if (typeof comparison !== "object" || comparison === null || Array.isArray(comparison)) return [];
  const list: ImportChange[] = [];
  for (const [kind, groups] of Object.entries(comparison)) {
    if (kind === "before" || kind === "after" || typeof groups !== "object" || groups === null)
      continue;
    for (const what of WHATS) {
      const entries = (groups as Record<string, unknown>)[what];
      if (!Array.isArray(entries)) continue;
      for (const entry of entries as Record<string, unknown>[]) {
        const { before, after, ...nested } = entry;
        const parts = listChanges(nested, depth + 1);
        const fields = what === "updated" ? changedFields(before, after) : [];
        const name = nameOf(after) || nameOf(before);
        list.push({ what, kind: kind.replaceAll("_", " "), name, fields, depth }, ...parts);
      }
    }
  }
  return list;
}

export function countChanges(
  changes: readonly ImportChange[],
): Record<ImportChange["what"], number> {
  const counts = { added: 0, updated: 0, removed: 0 };
  for (const change of changes) counts[change.what]++;
  return counts;
}
