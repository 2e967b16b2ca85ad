/** A time range, in Unix seconds, whose history a damaged or missing file held. */
export interface Lost {
  itemid: string;
  from: number;
  till: number;
  /** The file held values of this item; else it is unknown which items it held. */
  certain: boolean;
  /** The file, and what is wrong with it. */
  reason: string;
}

/** What is drawn or listed once, although several items or files lost it. */
export type LostRange = Pick<Lost, "from" | "till" | "certain" | "reason">;

/** Ranges that overlap or touch become one, oldest first. Certain loss stays apart from possible loss. */
export function unite(lost: readonly Lost[]): LostRange[] {
  const ranges: LostRange[] = [];
  for (const { from, till, certain, reason } of [...lost].sort((a, b) => a.from - b.from)) {
    const last = ranges.findLast((range) => range.certain === certain);
    if (last && from <= last.till) last.till = Math.max(last.till, till);
    else ranges.push({ from, till, certain, reason });
  }
  return ranges;
}

/** The loss at a time, not farther from it than `slack` seconds; certain loss first. */
export function lostAt(
  lost: readonly LostRange[],
  at: number,
  slack: number,
): LostRange | undefined {
  const near = lost.filter(({ from, till }) => at >= from - slack && at <= till + slack);
  return near.find(({ certain }) => certain) ?? near[0];
}

/**
 * Values, newest first, with each loss at its place: before the first value that is older than its end.
 * Losses that end before the oldest value are left out unless the list is complete (`whole`).
 */
export function withLost<T extends { clock: string }>(
  values: readonly T[],
  lost: readonly LostRange[],
  whole: boolean,
): (T | LostRange)[] {
  const rows: (T | LostRange)[] = [];
  const left = [...lost].sort((a, b) => a.till - b.till);
  for (const value of values) {
    for (let next = left.at(-1); next && next.till > Number(value.clock); next = left.at(-1))
      rows.push(...left.splice(-1));
    rows.push(value);
  }
  return whole ? [...rows, ...left.reverse()] : rows;
}
