/** The rows with the one at this place changed in some members. */
export function patched<T>(rows: readonly T[], at: number, next: Partial<T>): T[] {
  return rows.map((row, i) => (i === at ? { ...row, ...next } : row));
}

/** The rows with another one at this place. */
export function replaced<T>(rows: readonly T[], at: number, next: T): T[] {
  return rows.map((row, i) => (i === at ? next : row));
}

/** The rows without the one at this place. */
export function without<T>(rows: readonly T[], at: number): T[] {
  return rows.filter((_, i) => i !== at);
}

/** The rows with one at another place; where that is outside, all stay. */
export function moved<T>(rows: readonly T[], from: number, to: number): T[] {
  const rest = without(rows, from);
  const one = rows[from];
  if (one === undefined || to < 0 || to > rest.length) return [...rows];
  return [...rest.slice(0, to), one, ...rest.slice(to)];
}
