/** A group of rows, or of groups. */
export interface Branch<T> {
  name: string;
  branches: Branch<T>[];
  rows: T[];
  /** Rows in all branches; a row that belongs to two of them counts once. */
  count: number;
}

/** The groups that a row belongs to on one level; without any it stands under `otherwise`. */
export interface Level<T> {
  of: (row: T) => readonly string[];
  otherwise: string;
}

const byName = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });

/** Rows in nested groups, by name. Without levels there is one branch with all rows. */
export function branchesOf<T>(
  rows: readonly T[],
  levels: readonly Level<T>[],
  name = "",
): Branch<T> {
  const [level, ...rest] = levels;
  if (!level) return { name, branches: [], rows: [...rows], count: rows.length };
  const groups = new Map<string, T[]>();
  for (const row of rows) {
    const names = level.of(row);
    for (const group of names.length > 0 ? names : [level.otherwise]) {
      const list = groups.get(group);
      if (list) list.push(row);
      else groups.set(group, [row]);
    }
  }
  const branches = [...groups.keys()]
    .sort((a, b) => Number(a === level.otherwise) - Number(b === level.otherwise) || byName(a, b))
    .map((group) => branchesOf(groups.get(group) ?? [], rest, group));
  return { name, branches, rows: [], count: rows.length };
}
