/** Points of one line: clocks in Unix seconds, ascending. */
export interface Line {
  clocks: readonly number[];
  values: readonly number[];
  /** The line goes on where it has been silent. */
  joined?: boolean;
}

/** Shared clocks with one column of values per line; null where a line has no point. */
export interface Aligned {
  clocks: number[];
  columns: (number | null | undefined)[][];
}

/** The usual distance of two points: the median, so that gaps do not count. */
export function usualStep(clocks: readonly number[]): number {
  const steps: number[] = [];
  const from = Math.max(1, clocks.length - 200);
  for (let i = from; i < clocks.length; i++) steps.push((clocks[i] ?? 0) - (clocks[i - 1] ?? 0));
  steps.sort((a, b) => a - b);
  return steps[Math.floor(steps.length / 2)] ?? 0;
}

/** Where a line has been silent for more than three of its usual steps, a point without value. */
export function withGaps(line: Line): { clocks: number[]; values: (number | null)[] } {
  if (line.joined) return { clocks: [...line.clocks], values: [...line.values] };
  const limit = Math.max(usualStep(line.clocks) * 3.5, 1);
  const clocks: number[] = [];
  const values: (number | null)[] = [];
  for (const [i, clock] of line.clocks.entries()) {
    const before = line.clocks[i - 1];
    if (before !== undefined && clock - before > limit) {
      clocks.push(before + limit / 3);
      values.push(null);
    }
    clocks.push(clock);
    values.push(line.values[i] ?? null);
  }
  return { clocks, values };
}

/**
 * Lines with clocks of their own on one shared axis. `null` breaks a line (a gap), `undefined` only
 * means that another line has a point there: the line goes on.
 */
export function align(lines: readonly Line[]): Aligned {
  const gapped = lines.map(withGaps);
  const clocks = [...new Set(gapped.flatMap((line) => line.clocks))].sort((a, b) => a - b);
  const at = new Map(clocks.map((clock, i) => [clock, i]));
  const columns = gapped.map((line) => {
    const column: (number | null | undefined)[] = new Array(clocks.length).fill(undefined);
    for (const [i, clock] of line.clocks.entries()) column[at.get(clock) ?? 0] = line.values[i];
    return column;
  });
  return { clocks, columns };
}

/**
 * The lower and upper end of the value axis: 0 to 100 for percentages unless the chart is zoomed, else
 * from zero where that costs little height, and never without height.
 */
export function valueRange(
  min: number | null,
  max: number | null,
  units: string,
  zoomed = false,
): [number, number] {
  if (units === "%" && !zoomed && (min ?? 0) >= 0 && (max ?? 0) <= 100) return [0, 100];
  if (min === null || max === null) return [0, 1];
  const spread = max - min;
  if (spread === 0) return max === 0 ? [0, 1] : max > 0 ? [0, max * 1.2] : [max * 1.2, 0];
  const pad = spread * 0.08;
  const low = min >= 0 && min < spread * 2 ? 0 : min - pad;
  const high = max <= 0 && -max < spread * 2 ? 0 : max + pad;
  if (units !== "%" || min < 0 || max > 100) return [low, high];
  return [Math.max(0, low), Math.min(100, high)];
}

export interface Summary {
  last: number | null;
  min: number | null;
  avg: number | null;
  max: number | null;
}

export function summarize(
  line: Line & { low?: readonly number[]; high?: readonly number[] },
): Summary {
  const { values } = line;
  if (values.length === 0) return { last: null, min: null, avg: null, max: null };
  let min = Number.POSITIVE_INFINITY;
  let max = Number.NEGATIVE_INFINITY;
  let sum = 0;
  for (const [i, value] of values.entries()) {
    min = Math.min(min, line.low?.[i] ?? value);
    max = Math.max(max, line.high?.[i] ?? value);
    sum += value;
  }
  return { last: values.at(-1) ?? null, min, avg: sum / values.length, max };
}

/** Keeps the shape of a long line in few points: the lowest and highest of each bucket. */
export function thin(line: Line, buckets: number): Line {
  const n = line.clocks.length;
  if (n <= buckets * 2) return line;
  const clocks: number[] = [];
  const values: number[] = [];
  for (let b = 0; b < buckets; b++) {
    const start = Math.floor((b * n) / buckets);
    const end = Math.floor(((b + 1) * n) / buckets);
    let low = start;
    let high = start;
    for (let i = start; i < end; i++) {
      if ((line.values[i] ?? 0) < (line.values[low] ?? 0)) low = i;
      if ((line.values[i] ?? 0) > (line.values[high] ?? 0)) high = i;
    }
    for (const i of low < high ? [low, high] : low > high ? [high, low] : [low]) {
      clocks.push(line.clocks[i] ?? 0);
      values.push(line.values[i] ?? 0);
    }
  }
  return { clocks, values };
}
