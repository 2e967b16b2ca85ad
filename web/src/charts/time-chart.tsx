import { useEffect, useRef, useState } from "react";
import uPlot from "uplot";
import "uplot/dist/uPlot.min.css";
import { formatUnits } from "~/util/format";
import type { LostRange } from "~/util/lost";
import { tickLabel } from "~/util/time";
import { lostBands } from "./lost-bands";
import { colorOf, cssColor, isDark } from "./palette";
import { align, valueRange } from "./series";
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
  /** Where history was lost: hatched, with a note in the tooltip. */
  lost?: readonly LostRange[];
}

/** Steps of an axis in bytes: powers of two, which its units count in. */
const BINARY_STEPS = Array.from({ length: 61 }, (_, power) => 2 ** power);
const FONT = '11px "Inter Variable", system-ui, sans-serif';

function axes(lines: readonly ChartLine[]): uPlot.Axis[] {
  const grid = { stroke: cssColor("--line"), width: 1 };
  const common = { stroke: cssColor("--faint"), font: FONT, grid, ticks: { show: false } };
  const units = lines[0]?.units ?? "";
  return [
    {
      ...common,
      space: 70,
      size: 28,
      gap: 6,
      values: (_, splits, __, ___, step) => splits.map((clock) => tickLabel(clock, step)),
    },
    {
      ...common,
      size: 68,
      gap: 8,
      space: 32,
      incrs: units === "B" || units === "Bps" ? BINARY_STEPS : undefined,
      values: (_, splits) => splits.map((value) => formatUnits(value, units)),
    },
  ];
}

function buildOptions(
  props: TimeChartProps,
  width: number,
  box: HTMLDivElement,
  lost: () => readonly LostRange[],
): uPlot.Options {
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
    axes: axes(lines),
    series: [
      {},
      ...lines.map((line, i) => ({
        label: line.name,
        show: !hidden?.has(line.id),
        stroke: colorOf(line.look, i, dark),
        width: line.look?.width ?? 1.5,
        dash: line.look?.dash,
        fill: fillOf(line, i, lines.length, dark),
        points: { show: isLone, size: 5 },
      })),
      ...lines.flatMap((line, i) =>
        line.low
          ? [
              {
                label: `${line.name} lowest`,
                show: !hidden?.has(line.id),
                stroke: `${colorOf(line.look, i, dark)}44`,
                width: 0,
                points: { show: false },
              },
              {
                label: `${line.name} highest`,
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
    plugins: [lostBands(lost), tooltip(lines, box, lost)],
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

/** A line alone has a light area below it, and a line of a filled region a darker one. */
function fillOf(line: ChartLine, index: number, lines: number, dark: boolean) {
  const color = colorOf(line.look, index, dark);
  if (line.look?.filled) return `${color}66`;
  return lines === 1 && !line.low ? `${color}1f` : undefined;
}

function chartRange(min: number | null, max: number | null, props: TimeChartProps) {
  return valueRange(min, max, props.lines[0]?.units ?? "", props.zoomed);
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
  const shape = `${theme}|${height}|${lines.map((l) => `${l.id}:${l.low ? "t" : "h"}${l.units}`).join()}|${[...(hidden ?? [])].join()}`;
  // biome-ignore lint/correctness/useExhaustiveDependencies: `shape` stands for what matters of the props
  useEffect(() => {
    if (!host.current || !box.current) return;
    const element = host.current;
    const zoom = latest.current.onZoom && ((a: number, b: number) => latest.current.onZoom?.(a, b));
    const options = buildOptions(
      { ...latest.current, onZoom: zoom },
      element.clientWidth || 600,
      box.current,
      () => latest.current.lost ?? [],
    );
    options.scales = {
      x: { time: true, range: () => [latest.current.from, latest.current.till] },
      y: { range: (_, min, max) => chartRange(min, max, latest.current) },
    };
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

  // biome-ignore lint/correctness/useExhaustiveDependencies: a moved span and lost history redraw as well
  useEffect(() => {
    plot.current?.setData(toData(lines));
  }, [lines, from, till, lost]);

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
