import uPlot from "uplot";
import { formatUnits } from "~/util/format";
import { tickLabel } from "~/util/time";
import { cssColor } from "./palette";
import { valueRange } from "./series";
import type { ChartLine } from "./tooltip";

/** How the axis of one side is drawn if not as the charts do it by default. */
export interface AxisLook {
  min?: number;
  max?: number;
  /** Logarithmic; values up to zero are not drawn. */
  log?: boolean;
  /** In place of the units of the lines. */
  units?: string;
  hidden?: boolean;
}

export interface AxisLooks {
  left?: AxisLook;
  right?: AxisLook;
  /** Without labels of the time. */
  withoutTime?: boolean;
}

/** Steps of an axis in bytes: powers of two, which its units count in. */
const BINARY_STEPS = Array.from({ length: 61 }, (_, power) => 2 ** power);
const FONT = '11px "Inter Variable", system-ui, sans-serif';

/** The scale of a line. */
export const scaleOf = (line: ChartLine) => (line.look?.right ? "y2" : "y");

/** Units of the axis of a side. */
export const unitsOf = (lines: readonly ChartLine[], right: boolean, looks: AxisLooks) =>
  (right ? looks.right : looks.left)?.units ??
  lines.find((line) => Boolean(line.look?.right) === right)?.units ??
  "";

/** The axes of a chart: time, values on the left, and on the right where lines use it. */
export function axesOf(lines: readonly ChartLine[], looks: AxisLooks): uPlot.Axis[] {
  const grid = { stroke: cssColor("--line"), width: 1 };
  const common = { stroke: cssColor("--faint"), font: FONT, grid, ticks: { show: false } };
  const value = (right: boolean): uPlot.Axis => {
    const units = unitsOf(lines, right, looks);
    return {
      ...common,
      scale: right ? "y2" : "y",
      side: right ? 1 : 3,
      show: !(right ? looks.right : looks.left)?.hidden,
      grid: { ...grid, show: !right || lines.every((line) => line.look?.right) },
      size: 68,
      gap: 8,
      space: 32,
      incrs: units === "B" || units === "Bps" ? BINARY_STEPS : undefined,
      values: (_, splits) =>
        splits.map((split) => (split === null ? "" : formatUnits(split, units))),
    };
  };
  const sides = [false, true].filter((right) =>
    lines.some((line) => Boolean(line.look?.right) === right),
  );
  return [
    {
      ...common,
      space: 70,
      size: looks.withoutTime ? 6 : 28,
      gap: 6,
      values: (_, splits, __, ___, step) =>
        splits.map((clock) => (looks.withoutTime ? "" : tickLabel(clock, step))),
    },
    ...(sides.length > 0 ? sides : [false]).map(value),
  ];
}

/** The scales of a chart. The functions read what is current while the chart is drawn. */
export function scalesOf(
  current: () => { from: number; till: number; lines: readonly ChartLine[]; zoomed?: boolean },
  looks: AxisLooks,
): uPlot.Scales {
  const value = (right: boolean): uPlot.Scale => {
    const look = right ? looks.right : looks.left;
    return {
      distr: look?.log ? 3 : 1,
      range: (_, min, max) => {
        if (look?.log) return uPlot.rangeLog(look.min ?? min ?? 1, look.max ?? max ?? 10, 10, true);
        const { lines, zoomed } = current();
        const units = unitsOf(lines, right, looks);
        const [low, high] = valueRange(min, max, units, zoomed);
        const [from, till] = [look?.min ?? low, look?.max ?? high];
        return from < till ? [from, till] : [low, high];
      },
    };
  };
  const time: uPlot.Scale = { time: true, range: () => [current().from, current().till] };
  return { x: time, y: value(false), y2: value(true) };
}
