import type uPlot from "uplot";
import { formatUnits } from "~/util/format";
import { type LostRange, lostAt } from "~/util/lost";
import { formatClock } from "~/util/time";
import { colorOf, type LineLook } from "./palette";
import type { Line } from "./series";
import { texts } from "./texts";

/** A line of a chart. */
export interface ChartLine extends Line {
  id: string;
  name: string;
  units: string;
  /** Extremes of each point, where the points stand for many values. */
  low?: readonly number[];
  high?: readonly number[];
  look?: LineLook;
  /** The line stands on others: these are its own values. */
  own?: readonly number[];
  /** Id of the line that it stands on. */
  base?: string;
}

/** How far from a narrow band of lost history the crosshair still shows it. */
const BAND_SLACK_PX = 4;

/** The note about lost history at the crosshair. */
function lostNote(plot: uPlot, left: number, lost: readonly LostRange[]): HTMLElement[] {
  const slack = plot.posToVal(BAND_SLACK_PX, "x") - plot.posToVal(0, "x");
  const found = lostAt(lost, plot.posToVal(left, "x"), slack);
  if (!found) return [];
  const note = document.createElement("div");
  note.className = "whitespace-normal text-soft";
  note.textContent = found.certain ? texts.historyLost : texts.historyMayBeLost;
  return [note];
}

/**
 * Shows time and values next to the crosshair, and where history was lost, in `box`; nothing where
 * there is neither.
 */
export function tooltip(
  lines: readonly ChartLine[],
  box: HTMLDivElement,
  lost: () => readonly LostRange[],
): uPlot.Plugin {
  const move = (plot: uPlot) => {
    const { idx, idxs, left, top } = plot.cursor;
    if (left === undefined || left < 0) {
      box.style.display = "none";
      return;
    }
    const rows: HTMLElement[] = [];
    for (const [i, line] of lines.entries()) {
      if (!plot.series[i + 1]?.show) continue;
      const at = idxs?.[i + 1] ?? -1;
      const drawn = plot.data[i + 1]?.[at];
      if (typeof drawn !== "number") continue;
      const value = line.own?.[line.clocks.indexOf(plot.data[0][at] ?? -1)] ?? drawn;
      const row = document.createElement("div");
      row.className = "flex items-center gap-2";
      const swatch = document.createElement("span");
      swatch.className = "size-2 rounded-full shrink-0";
      swatch.style.backgroundColor = colorOf(line.look, i);
      const name = document.createElement("span");
      name.className = "truncate flex-1";
      name.textContent = line.name;
      const shown = document.createElement("span");
      shown.className = "tabular font-medium pl-3";
      shown.textContent = formatUnits(value, line.units);
      row.append(swatch, name, shown);
      rows.push(row);
    }
    const clock = rows.length > 0 ? plot.data[0][idx ?? -1] : undefined;
    rows.push(...lostNote(plot, left, lost()));
    if (rows.length === 0) {
      box.style.display = "none";
      return;
    }
    const head = document.createElement("div");
    head.className = "text-faint tabular pb-0.5";
    head.textContent = formatClock(clock ?? plot.posToVal(left, "x"));
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
 * The index of a line's point at a position on the time axis, or null where the line is not drawn.
 * Points of other lines (`undefined`) are skipped; a gap of this line (`null`) ends the search.
 * Between two points of the line it is the nearer one. Next to a gap and at the ends of the line,
 * the position must be within `slack` of the point.
 */
export function pointAt(
  column: readonly (number | null | undefined)[],
  clocks: ArrayLike<number>,
  at: number,
  slack: number,
): number | null {
  const walk = (from: number, step: 1 | -1): number | null => {
    let i = from;
    while (i >= 0 && i < column.length && column[i] === undefined) i += step;
    return typeof column[i] === "number" ? i : null;
  };
  const after = firstAfter(clocks, at);
  const [left, right] = [walk(after - 1, -1), walk(after, 1)];
  const distance = (i: number | null) =>
    i === null ? Number.POSITIVE_INFINITY : Math.abs((clocks[i] ?? 0) - at);
  const nearest = distance(left) <= distance(right) ? left : right;
  const between = left !== null && right !== null;
  return between || distance(nearest) <= slack ? nearest : null;
}

/** The index of the first clock after `at`. */
function firstAfter(clocks: ArrayLike<number>, at: number): number {
  let [low, high] = [0, clocks.length];
  while (low < high) {
    const middle = (low + high) >> 1;
    if ((clocks[middle] ?? 0) <= at) low = middle + 1;
    else high = middle;
  }
  return low;
}

/** How far from the end of a line its last point is still shown. */
const SLACK_PX = 8;

/** Makes the cursor show points only where lines are drawn. */
export function pointUnderCursor(
  plot: uPlot,
  series: number,
  _: number,
  at: number,
): number | null {
  const slack = plot.posToVal(SLACK_PX, "x") - plot.posToVal(0, "x");
  const column = plot.data[series] as (number | null | undefined)[];
  return pointAt(column, plot.data[0], at, slack);
}
