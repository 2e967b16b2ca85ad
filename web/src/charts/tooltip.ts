import type uPlot from "uplot";
import { formatUnits } from "~/util/format";
import { formatClock } from "~/util/time";
import { lineColor } from "./palette";
import type { Line } from "./series";

/** A line of a chart. */
export interface ChartLine extends Line {
  id: string;
  name: string;
  units: string;
  /** Extremes of each point, where the points stand for many values. */
  low?: readonly number[];
  high?: readonly number[];
}

/** Shows time and values beside the crosshair, in `box`. */
export function tooltip(lines: readonly ChartLine[], box: HTMLDivElement): uPlot.Plugin {
  const move = (plot: uPlot) => {
    const { idx, left, top } = plot.cursor;
    if (idx === null || idx === undefined || left === undefined || left < 0) {
      box.style.display = "none";
      return;
    }
    const rows: HTMLElement[] = [];
    for (const [i, line] of lines.entries()) {
      if (!plot.series[i + 1]?.show) continue;
      const near = nearest(plot.data[i + 1] as (number | null | undefined)[], idx);
      if (near === null) continue;
      const row = document.createElement("div");
      row.className = "flex items-center gap-2";
      const swatch = document.createElement("span");
      swatch.className = "size-2 rounded-full shrink-0";
      swatch.style.backgroundColor = lineColor(i);
      const name = document.createElement("span");
      name.className = "truncate flex-1";
      name.textContent = line.name;
      const value = document.createElement("span");
      value.className = "tabular font-medium pl-3";
      value.textContent = formatUnits(near, line.units);
      row.append(swatch, name, value);
      rows.push(row);
    }
    const head = document.createElement("div");
    head.className = "text-faint tabular pb-0.5";
    head.textContent = formatClock(plot.data[0][idx] ?? 0);
    box.replaceChildren(head, ...rows);
    box.style.display = "block";
    const flip = left > plot.over.clientWidth / 2;
    box.style.left = `${plot.over.offsetLeft + left + (flip ? -12 : 12)}px`;
    box.style.transform = flip ? "translateX(-100%)" : "";
    box.style.top = `${Math.max(0, (top ?? 0) - 20)}px`;
  };
  return { hooks: { setCursor: move } };
}

/**
 * The value of a line's point nearest to a position. Points of other lines (`undefined`) are passed,
 * a gap of this line (`null`) is not: where nothing is drawn there is no value.
 */
export function nearest(
  column: readonly (number | null | undefined)[],
  idx: number,
): number | null {
  const walk = (step: 1 | -1): number | null => {
    let i = idx;
    while (column[i] === undefined && i >= 0 && i < column.length) i += step;
    return typeof column[i] === "number" ? i : null;
  };
  const [left, right] = [walk(-1), walk(1)];
  // A line is drawn between two points: with one alone the position is before its start or past its end.
  if (left === null || right === null) return null;
  return column[idx - left <= right - idx ? left : right] ?? null;
}
