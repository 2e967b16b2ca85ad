import { useState } from "react";
import type { AxisLooks } from "~/charts/axes";
import type { Limit, Shade } from "~/charts/marks";
import { colorOf } from "~/charts/palette";
import { summarize } from "~/charts/series";
import { TimeChart } from "~/charts/time-chart";
import type { ChartLine } from "~/charts/tooltip";
import { QueryError } from "~/shared/fallback";
import { cx } from "~/ui/cx";
import { formatUnits } from "~/util/format";
import { useNow } from "~/util/hooks";
import { isLive, resolveRange, type TimeRange } from "~/util/time";
import { Note, Room } from "./frame";
import { texts } from "./texts";

export interface Legend {
  shown: boolean;
  /** Minimum, average and maximum of each line. */
  statistic: boolean;
  /** Lines of text at most; the legend scrolls. */
  rows: number;
}

interface ChartProps {
  label: string;
  lines: readonly ChartLine[];
  range: TimeRange;
  onRange?: (range: TimeRange) => void;
  axes?: AxisLooks;
  shades?: readonly Shade[];
  limits?: readonly Limit[];
  legend: Legend;
  error: Error | null;
  isLoading: boolean;
}

const ROW_PX = 20;
/** Pixels below which a chart shows nothing. */
const CHART_MIN_PX = 70;
const PADDING_PX = 8;

interface LegendProps {
  lines: readonly ChartLine[];
  hidden: ReadonlySet<string>;
  onToggle: (id: string) => void;
}

function Name({
  line,
  index,
  hidden,
  onToggle,
}: { line: ChartLine; index: number } & Omit<LegendProps, "lines">) {
  const isHidden = hidden.has(line.id);
  return (
    <button
      type="button"
      aria-pressed={!isHidden}
      title={line.name}
      onClick={() => onToggle(line.id)}
      className={cx(
        "flex max-w-full min-w-0 items-center gap-1.5 text-left text-xs",
        isHidden ? "text-faint line-through" : "text-soft hover:text-ink",
      )}
    >
      <span
        aria-hidden="true"
        className="inline-block h-1 w-3 shrink-0 rounded-full"
        style={{ backgroundColor: isHidden ? "var(--line-strong)" : colorOf(line.look, index) }}
      />
      <span className="truncate">{line.name}</span>
    </button>
  );
}

const own = (line: ChartLine) => (line.own ? { ...line, values: line.own } : line);

function Names({ lines, ...rest }: LegendProps) {
  return (
    <div className="flex flex-wrap gap-x-4 px-2">
      {lines.map((line, i) => {
        const { last } = summarize(own(line));
        return (
          <span key={line.id} className="flex h-5 max-w-full min-w-0 items-center gap-1.5">
            <Name line={line} index={i} {...rest} />
            {last !== null && (
              <span className="tabular shrink-0 text-xs font-medium">
                {formatUnits(last, line.units)}
              </span>
            )}
          </span>
        );
      })}
    </div>
  );
}

function Statistics({ lines, ...rest }: LegendProps) {
  return (
    <table className="w-full text-xs">
      <thead>
        <tr className="h-5 text-soft">
          <th scope="col" className="px-2 text-left font-medium">
            {texts.name}
          </th>
          {texts.statistics.map((name) => (
            <th key={name} scope="col" className="w-20 pr-2 text-right font-medium">
              {name}
            </th>
          ))}
        </tr>
      </thead>
      <tbody>
        {lines.map((line, i) => {
          const { last, min, avg, max } = summarize(own(line));
          return (
            <tr key={line.id} className="h-5">
              <td className="max-w-0 px-2">
                <Name line={line} index={i} {...rest} />
              </td>
              {[last, min, avg, max].map((value, n) => (
                // biome-ignore lint/suspicious/noArrayIndexKey: four fixed columns
                <td key={n} className="tabular pr-2 text-right whitespace-nowrap">
                  {value === null ? "–" : formatUnits(value, line.units)}
                </td>
              ))}
            </tr>
          );
        })}
      </tbody>
    </table>
  );
}

/** A chart that fills its widget, with a legend below. */
export function Chart(props: ChartProps) {
  const { label, lines, range, onRange, axes, shades, limits, legend } = props;
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const now = useNow();
  const span = resolveRange(range, new Date(isLive(range) ? now * 1000 : Date.now()));
  if (!span) return <Note>{texts.badTime}</Note>;
  const isEmpty = lines.every((line) => line.clocks.length === 0);
  if (props.error && isEmpty) return <QueryError error={props.error} />;
  const onToggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setHidden(next);
  };
  const rows = legend.statistic
    ? Math.min(lines.length, legend.rows) + 1
    : Math.min(lines.length, legend.rows);
  return (
    <Room least={legend.shown ? 190 : 150}>
      {({ height }) => {
        const wanted = legend.shown ? rows * ROW_PX : 0;
        const below = Math.max(0, Math.min(wanted, height - CHART_MIN_PX - PADDING_PX));
        return (
          <div className="flex h-full flex-col">
            <div className="relative">
              <TimeChart
                label={label}
                lines={lines}
                from={span.from}
                till={span.till}
                zoomed={!range.from.startsWith("now")}
                height={Math.max(CHART_MIN_PX, height - below - PADDING_PX)}
                hidden={hidden}
                axes={axes}
                shades={shades}
                limits={limits}
                onZoom={
                  onRange && ((from, till) => onRange({ from: String(from), to: String(till) }))
                }
              />
              {isEmpty && !props.isLoading && (
                <p className="pointer-events-none absolute inset-0 flex items-center justify-center text-sm text-soft">
                  <span className="bg-surface px-2">{texts.noHistory}</span>
                </p>
              )}
            </div>
            {below > 0 && (
              <section
                className="overflow-auto"
                style={{ height: below }}
                // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
                tabIndex={0}
                aria-label={texts.legend}
              >
                {legend.statistic ? (
                  <Statistics lines={lines} hidden={hidden} onToggle={onToggle} />
                ) : (
                  <Names lines={lines} hidden={hidden} onToggle={onToggle} />
                )}
              </section>
            )}
          </div>
        );
      }}
    </Room>
  );
}
