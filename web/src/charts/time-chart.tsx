import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import type { LostRange } from "~/util/lost";
import { type AxisLooks, axesOf, scaleOf, scalesOf } from "./axes";
import { lostBands } from "./lost-bands";
import { type Limit, marks, type Shade } from "./marks";
import { colorOf, isDark } from "./palette";
import { align } from "./series";
import { type ChartLine, pointUnderCursor, tooltip } from "./tooltip";

interface TimeChartProps {
  label: string;
  lines: readonly ChartLine[];
  from: number;
  till: number;
  height: number;
  /** A span was dragged out, in Unix seconds. */
  onZoom?: (from: number, till: number) => void;
  /** The span was chosen by hand: the value axis fits what it shows. */
  zoomed?: boolean;
  /** Charts with the same key move their crosshairs together. */
  syncKey?: string;
  hidden?: ReadonlySet<string>;
  axes?: AxisLooks;
  shades?: readonly Shade[];
  limits?: readonly Limit[];
  /** Where history was lost: hatched, with a note in the tooltip. */
  lost?: readonly LostRange[];
}

/** How a line is drawn: as itself, in steps or as bars. */
function pathsOf(line: ChartLine): uPlot.Series.PathBuilder | undefined {
  switch (line.look?.shape) {
    case "stairs":
      return uPlot.paths.stepped?.({ align: 1 });
    case "bars":
      return uPlot.paths.bars?.({ size: [0.7, 40], align: 0 });
    case "points":
      return () => null;
    default:
      return undefined;
  }
}

function seriesOf(line: ChartLine, index: number, count: number, hidden: boolean, dark: boolean) {
  const { look } = line;
  const isPoints = look?.shape === "points";
  return {
    label: line.name,
    scale: scaleOf(line),
    show: !hidden,
    stroke: colorOf(look, index, dark),
    width: look?.width ?? 1.5,
    dash: look?.dash,
    fill: fillOf(line, index, count, dark),
    paths: pathsOf(line),
    points: {
      show: isPoints ? true : isLone,
      size: look?.point ?? 5,
      fill: isPoints ? colorOf(look, index, dark) : undefined,
    },
  };
}

function buildOptions(
  props: TimeChartProps,
  width: number,
  box: HTMLDivElement,
  latest: () => TimeChartProps,
): uPlot.Options {
  const lost = () => latest().lost ?? [];
  const { lines, height, onZoom, syncKey, hidden } = props;
  const dark = isDark();
  return {
    width,
    height,
    legend: { show: false },
    cursor: {
      sync: syncKey ? { key: syncKey, setSeries: false } : undefined,
      drag: { x: onZoom !== undefined, y: false, setScale: false },
      points: { size: 6 },
      dataIdx: pointUnderCursor,
    },
    axes: axesOf(lines, props.axes ?? {}),
    series: [
      {},
      ...lines.map((line, i) =>
        seriesOf(line, i, lines.length, hidden?.has(line.id) ?? false, dark),
      ),
      ...lines.flatMap((line, i) =>
        line.low
          ? [
              {
                label: `${line.name} lowest`,
                scale: scaleOf(line),
                show: !hidden?.has(line.id),
                stroke: `${colorOf(line.look, i, dark)}44`,
                width: 0,
                points: { show: false },
              },
              {
                label: `${line.name} highest`,
                scale: scaleOf(line),
                show: !hidden?.has(line.id),
                stroke: `${colorOf(line.look, i, dark)}44`,
                width: 0,
                points: { show: false },
              },
            ]
          : [],
      ),
    ],
    bands: bands(lines, dark),
    plugins: [
      lostBands(lost),
      marks(
        () => latest().shades ?? [],
        () => latest().limits ?? [],
      ),
      tooltip(lines, box, lost),
    ],
    hooks: {
      setSelect: [
        (plot) => {
          if (plot.select.width < 4) return;
          const from = plot.posToVal(plot.select.left, "x");
          const till = plot.posToVal(plot.select.left + plot.select.width, "x");
          plot.setSelect({ left: 0, top: 0, width: 0, height: 0 }, false);
          onZoom?.(Math.floor(from), Math.ceil(till));
        },
      ],
    },
  };
}

const alphaHex = (part: number) =>
  Math.round(Math.min(1, part) * 255)
    .toString(16)
    .padStart(2, "0");

/** A line alone has a light area below it, and a line of a filled region a darker one. */
function fillOf(line: ChartLine, index: number, lines: number, dark: boolean) {
  const color = colorOf(line.look, index, dark);
  const { fill } = line.look ?? {};
  if (fill !== undefined)
    return fill > 0 && color.length === 7 ? color + alphaHex(fill) : undefined;
  if (line.look?.filled) return `${color}66`;
  return lines === 1 && !line.low ? `${color}1f` : undefined;
}

/** Points are drawn only where there is no line: for a single value. */
function isLone(plot: uPlot, series: number): boolean {
  let known = 0;
  for (const value of plot.data[series] ?? []) {
    if (typeof value === "number" && ++known > 1) return false;
  }
  return true;
}

function bands(lines: readonly ChartLine[], dark: boolean): uPlot.Band[] {
  const result: uPlot.Band[] = [];
  for (const [i, { base }] of lines.entries()) {
    const below = base === undefined ? -1 : lines.findIndex(({ id }) => id === base);
    if (below >= 0) result.push({ series: [i + 1, below + 1] });
  }
  let at = lines.length + 1;
  for (const [i, line] of lines.entries()) {
    if (!line.low) continue;
    result.push({ series: [at + 1, at], fill: `${colorOf(line.look, i, dark)}22` });
    at += 2;
  }
  return result;
}

function toData(lines: readonly ChartLine[]): uPlot.AlignedData {
  const extra = lines.flatMap((line) =>
    line.low && line.high
      ? [
          { clocks: line.clocks, values: line.low },
          { clocks: line.clocks, values: line.high },
        ]
      : [],
  );
  const { clocks, columns } = align([...lines, ...extra]);
  return [clocks, ...columns] as uPlot.AlignedData;
}

/** Lines over time with a crosshair, a tooltip and zoom by dragging. */
export function TimeChart(props: TimeChartProps) {
  const { lines, from, till, height, hidden, lost } = props;
  const host = useRef<HTMLDivElement>(null);
  const box = useRef<HTMLDivElement>(null);
  const plot = useRef<uPlot | null>(null);
  const latest = useRef(props);
  latest.current = props;
  const [theme, setTheme] = useState(isDark);

  useEffect(() => {
    const observer = new MutationObserver(() => setTheme(isDark()));
    observer.observe(document.documentElement, { attributeFilter: ["data-theme"] });
    return () => observer.disconnect();
  }, []);

  // The plot is rebuilt only when its lines are others; fresh points go in by setData below.
  const looks = lines.map((l) => [l.id, l.low !== undefined, l.units, l.look]);
  const shape = JSON.stringify([theme, height, looks, [...(hidden ?? [])], props.axes]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for what matters of the props
  useEffect(() => {
    if (!host.current || !box.current) return;
    const element = host.current;
    const zoom = latest.current.onZoom && ((a: number, b: number) => latest.current.onZoom?.(a, b));
    const options = buildOptions(
      { ...latest.current, onZoom: zoom },
      element.clientWidth || 600,
      box.current,
      () => latest.current,
    );
    options.scales = scalesOf(() => latest.current, latest.current.axes ?? {});
    const built = new uPlot(options, toData(latest.current.lines), element);
    plot.current = built;
    const observer = new ResizeObserver(() => {
      built.setSize({ width: element.clientWidth, height: latest.current.height });
    });
    observer.observe(element);
    return () => {
      observer.disconnect();
      built.destroy();
      plot.current = null;
    };
  }, [shape]);

  // biome-ignore lint/correctness/useExhaustiveDependencies: a moved span, marks and lost history redraw as well
  useEffect(() => {
    plot.current?.setData(toData(lines));
  }, [lines, from, till, lost, props.shades, props.limits]);

  return (
    <div role="figure" aria-label={props.label} className="relative min-w-0" style={{ height }}>
      <div ref={host} className="absolute inset-0" />
      <div
        ref={box}
        role="tooltip"
        className="pointer-events-none absolute z-20 hidden w-max max-w-[min(20rem,50vw)] rounded-md border bg-raised px-2.5 py-1.5 text-xs shadow-pop"
      />
    </div>
  );
}
