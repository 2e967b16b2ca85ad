import type { Limit } from "~/charts/marks";
import { usualStep } from "~/charts/series";
import type { ChartLine } from "~/charts/tooltip";
import { type Aggregate, aggregate } from "~/util/aggregates";
import type { TimeRange } from "~/util/time";
import type { Approximation, LineStyle } from "./data-sets";

interface Points {
  clocks: readonly number[];
  values: readonly number[];
  low?: readonly number[];
  high?: readonly number[];
}

const SHIFT = /^([+-]?)(\d+)([smhdwMy]?)$/;

/** A range that begins and ends by a time such as `-1d` earlier. An unreadable time changes nothing. */
export function shiftedRange(range: TimeRange, shift: string): TimeRange {
  const [, sign = "", amount, unit = ""] = SHIFT.exec(shift.trim()) ?? [];
  if (!amount) return range;
  const seconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
  const step = `${sign || "+"}${amount}${unit || "s"}`;
  const move = (end: string) =>
    end.startsWith("now")
      ? end.includes("/")
        ? end
        : `${end}${step}`
      : String(
          Number(end) + (sign === "-" ? -1 : 1) * Number(amount) * (seconds[unit || "s"] ?? 0),
        );
  return { from: move(range.from), to: move(range.to) };
}

/** Points at the times of the chart instead of those at which they were measured. */
export const shiftedBy = (points: Points, seconds: number): Points =>
  seconds === 0 ? points : { ...points, clocks: points.clocks.map((clock) => clock + seconds) };

/** The results of a function for each step of time; steps without points have none. */
export function inSteps(points: readonly Points[], kind: Aggregate, every: number): Points {
  const steps = new Map<number, { values: number[]; low: number[]; high: number[] }>();
  for (const { clocks, values, low, high } of points) {
    for (const [i, clock] of clocks.entries()) {
      const start = Math.floor(clock / every) * every;
      const step = steps.get(start) ?? { values: [], low: [], high: [] };
      const value = values[i] ?? Number.NaN;
      step.values.push(value);
      step.low.push(low?.[i] ?? value);
      step.high.push(high?.[i] ?? value);
      steps.set(start, step);
    }
  }
  const starts = [...steps.keys()].sort((a, b) => a - b);
  return {
    clocks: starts.map((start) => start + every / 2),
    values: starts.map((start) => {
      const step = steps.get(start);
      return (step && aggregate(kind, step)) ?? Number.NaN;
    }),
  };
}

/** The values that a line shows where points stand for many. */
export function approximated(points: Points, how: Approximation): Points {
  if (how === "all") return points;
  const values = how === "min" ? points.low : how === "max" ? points.high : undefined;
  return { clocks: points.clocks, values: values ?? points.values };
}

/** How a line goes on where values are missing for more than three usual steps. */
export function bridged(
  points: Points,
  missing: LineStyle["missing"],
): Points & { joined?: boolean } {
  if (missing === "gap") return points;
  if (missing === "joined") return { ...points, joined: true };
  const limit = Math.max(usualStep(points.clocks) * 3.5, 1);
  const clocks: number[] = [];
  const values: number[] = [];
  for (const [i, clock] of points.clocks.entries()) {
    const before = points.clocks[i - 1];
    if (before !== undefined && clock - before > limit) {
      const value = missing === "zero" ? 0 : (points.values[i - 1] ?? 0);
      clocks.push(before + limit / 3.5, clock - limit / 3.5);
      values.push(value, value);
    }
    clocks.push(clock);
    values.push(points.values[i] ?? 0);
  }
  return { clocks, values, joined: true };
}

/** The value of a line at a clock, between two of its points on the way from one to the other. */
function valueAt({ clocks, values }: Points, clock: number): number {
  if (clocks.length === 0 || clock < (clocks[0] ?? 0) || clock > (clocks.at(-1) ?? 0)) return 0;
  let [low, high] = [0, clocks.length - 1];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((clocks[middle] ?? 0) < clock) low = middle + 1;
    else high = middle;
  }
  const [right, left] = [clocks[low] ?? 0, clocks[low - 1]];
  if (right === clock || left === undefined) return values[low] ?? 0;
  const part = (clock - left) / (right - left);
  return (values[low - 1] ?? 0) + part * ((values[low] ?? 0) - (values[low - 1] ?? 0));
}

/** Lines of each side on top of one another. Each keeps its own values for the tooltip. */
export function stacked(
  lines: readonly ChartLine[],
  isStacked: (line: ChartLine) => boolean,
): ChartLine[] {
  const tops = new Map<boolean, ChartLine>();
  return lines.map((line) => {
    if (!isStacked(line)) return line;
    const right = Boolean(line.look?.right);
    const base = tops.get(right);
    const clocks = base
      ? [...new Set([...line.clocks, ...base.clocks])].sort((a, b) => a - b)
      : line.clocks;
    const own = clocks.map((clock) => valueAt(line, clock));
    const values = own.map((value, i) => value + (base ? valueAt(base, clocks[i] ?? 0) : 0));
    const top: ChartLine = {
      ...line,
      clocks,
      values,
      own,
      low: undefined,
      high: undefined,
      base: base?.id,
    };
    tops.set(right, top);
    return top;
  });
}

/** The value that so many per cent of the values of a side do not exceed. */
export function percentileOf(
  lines: readonly ChartLine[],
  right: boolean,
  percent: number,
): number | null {
  const values = lines
    .filter((line) => Boolean(line.look?.right) === right)
    .flatMap((line) => [...(line.own ?? line.values)])
    .filter(Number.isFinite)
    .sort((a, b) => a - b);
  if (values.length === 0) return null;
  return (
    values[
      Math.min(values.length - 1, Math.max(0, Math.ceil((percent / 100) * values.length) - 1))
    ] ?? null
  );
}

const SUFFIX: Record<string, number> = {
  K: 1024,
  M: 1024 ** 2,
  G: 1024 ** 3,
  T: 1024 ** 4,
  s: 1,
  m: 60,
  h: 3600,
  d: 86_400,
  w: 604_800,
};
const SIMPLE =
  /^(?:min|max|avg|last)\(\/.+\)\s*(?:>=|<=|<>|=|>|<)\s*(-?\d+(?:\.\d+)?)([KMGTsmhdw]?)$/;

/** The limit of a trigger that compares one item with a constant; null for all others. */
export function simpleLimit(expression: string): number | null {
  if (/\s(?:and|or)\s/.test(expression)) return null;
  const [, digits, suffix = ""] = SIMPLE.exec(expression.trim()) ?? [];
  return digits === undefined ? null : Number(digits) * (SUFFIX[suffix] ?? 1);
}

/** Limits of triggers as lines of the chart; equal ones are drawn once. */
export function triggerLimits(
  triggers: readonly { expression: string; priority: string }[],
): Limit[] {
  const limits = new Map<number, Limit>();
  for (const { expression, priority } of triggers) {
    const value = simpleLimit(expression);
    if (value !== null) limits.set(value, { value, color: `var(--sev-${priority})` });
  }
  return [...limits.values()];
}
