import { useQueries, useQuery } from "@tanstack/react-query";
import { useMemo, useState } from "react";
import { seriesQuery } from "~/api/history";
import type { ItemRow } from "~/api/items";
import { lostQuery } from "~/api/lost";
import { colorOf, type LineLook } from "~/charts/palette";
import { summarize } from "~/charts/series";
import { TimeChart } from "~/charts/time-chart";
import type { ChartLine } from "~/charts/tooltip";
import { cx } from "~/ui/cx";
import { formatUnits } from "~/util/format";
import { useNow } from "~/util/hooks";
import { type LostRange, unite } from "~/util/lost";
import type { Series } from "~/util/points";
import { formatClock, isLive, resolveRange, type TimeRange } from "~/util/time";
import { QueryError } from "./fallback";
import { texts } from "./texts";

interface GraphPanelProps {
  label: string;
  items: readonly ItemRow[];
  range: TimeRange;
  onRange?: (range: TimeRange) => void;
  height?: number;
  /** `none`, one line of names below, or a table with last, min, avg and max. */
  legend?: "none" | "line" | "table";
  syncKey?: string;
  /** Names with their host, where lines come from several. */
  withHost?: boolean;
  /** Shorter names of the lines. */
  nameOf?: (item: ItemRow) => string;
  lookOf?: (item: ItemRow) => LineLook | undefined;
}

function toLine(
  item: ItemRow,
  series: Series | undefined,
  name: string,
  look: LineLook | undefined,
): ChartLine {
  return {
    look,
    id: item.itemid,
    name,
    units: item.units,
    clocks: series?.clocks ?? [],
    values: series?.values ?? [],
    low: series?.low,
    high: series?.high,
  };
}

/** Ranges of the shown items whose history was lost. The chart is drawn before they are known. */
function useLost(itemids: readonly string[], range: TimeRange, hidden: ReadonlySet<string>) {
  const { data } = useQuery(lostQuery(itemids, range));
  return useMemo(
    () => unite((data ?? []).filter((lost) => !hidden.has(lost.itemid))),
    [data, hidden],
  );
}

/** Losses that are listed below a chart; the chart shows all. */
const NOTES_MAX = 3;

/** Lost ranges in words, for those who do not see or reach the bands. */
function LostNotes({ lost }: { lost: readonly LostRange[] }) {
  const more = lost.length - NOTES_MAX;
  return lost.slice(0, NOTES_MAX).map(({ from, till, certain, reason }, i) => (
    <p key={`${from} ${certain}`} className="pl-2 text-xs break-words text-soft">
      {(certain ? texts.historyWasLost : texts.historyMayBeLost)(
        formatClock(from),
        formatClock(till),
        reason,
      )}
      {i === NOTES_MAX - 1 && more > 0 && texts.andMore(more)}
    </p>
  ));
}

/** A chart of items over a range, fetched and kept up to date. */
export function GraphPanel(props: GraphPanelProps) {
  const {
    label,
    items,
    range,
    onRange,
    height = 200,
    legend = "line",
    syncKey,
    withHost = false,
  } = props;
  const names = (item: ItemRow) => {
    const own = props.nameOf?.(item) ?? item.name;
    return withHost && item.hosts[0] ? `${item.hosts[0].name}: ${own}` : own;
  };
  const [hidden, setHidden] = useState<ReadonlySet<string>>(new Set());
  const results = useQueries({ queries: items.map((item) => seriesQuery(item, range)) });
  const lost = useLost(
    items.map((item) => item.itemid),
    range,
    hidden,
  );
  const stamp = results.map((result) => result.dataUpdatedAt).join();
  const shown = items.map((item) => ({ item, name: names(item), look: props.lookOf?.(item) }));
  const key = JSON.stringify(
    shown.map(({ item, name, look }) => [item.itemid, item.units, name, look]),
  );
  // biome-ignore lint/correctness/useExhaustiveDependencies: stamp and key stand for results and shown items
  const lines = useMemo(
    () => shown.map(({ item, name, look }, i) => toLine(item, results[i]?.data, name, look)),
    [stamp, key],
  );
  const now = useNow();
  const span = resolveRange(range, new Date(isLive(range) ? now * 1000 : Date.now()));
  const error = results.find((result) => result.error)?.error;
  const loading = results.some((result) => result.isPending);
  const empty = !loading && lines.every((line) => line.clocks.length === 0);

  if (error && empty) return <QueryError error={error} />;
  if (!span) return <QueryError error={new Error(texts.theTimeRangeIs)} />;
  const toggle = (id: string) => {
    const next = new Set(hidden);
    if (!next.delete(id)) next.add(id);
    setHidden(next);
  };
  return (
    <div className="flex min-w-0 flex-col gap-2">
      <div className="relative">
        <TimeChart
          label={label}
          lines={lines}
          from={span.from}
          till={span.till}
          zoomed={!range.from.startsWith("now")}
          height={height}
          hidden={hidden}
          lost={lost}
          syncKey={syncKey}
          onZoom={onRange && ((from, till) => onRange({ from: String(from), to: String(till) }))}
        />
        {empty && (
          <p className="pointer-events-none absolute inset-0 flex items-center justify-center text-sm text-faint">
            <span className="bg-surface px-2">
              {texts.noValuesInThis}
              {onRange && texts.chooseALongerOne}
            </span>
          </p>
        )}
      </div>
      <LostNotes lost={lost} />
      {legend === "line" && <LegendLine lines={lines} hidden={hidden} onToggle={toggle} />}
      {legend === "table" && (
        <LegendTable lines={lines} results={results} hidden={hidden} onToggle={toggle} />
      )}
    </div>
  );
}

const SOURCES: Record<Series["source"], string> = {
  history: "raw values",
  trends: "hourly trends",
  buckets: "down-sampled values",
};

interface LegendProps {
  lines: readonly ChartLine[];
  hidden: ReadonlySet<string>;
  onToggle: (id: string) => void;
}

function Swatch({ look, index, off }: { look?: LineLook; index: number; off: boolean }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block h-1 w-3 shrink-0 rounded-full"
      style={{ backgroundColor: off ? "var(--line-strong)" : colorOf(look, index) }}
    />
  );
}

function LegendLine({ lines, hidden, onToggle }: LegendProps) {
  return (
    <div className="flex flex-wrap gap-x-4 gap-y-0.5 pl-2">
      {lines.map((line, i) => {
        const last = line.values.at(-1);
        return (
          <button
            key={line.id}
            type="button"
            aria-pressed={!hidden.has(line.id)}
            onClick={() => onToggle(line.id)}
            className={cx(
              "flex max-w-full min-w-0 items-center gap-1.5 text-xs hover:text-ink",
              hidden.has(line.id) ? "text-faint line-through" : "text-soft",
            )}
          >
            <Swatch look={line.look} index={i} off={hidden.has(line.id)} />
            <span className="truncate">{line.name}</span>
            {last !== undefined && (
              <span className="tabular shrink-0 font-medium text-ink">
                {formatUnits(last, line.units)}
              </span>
            )}
          </button>
        );
      })}
    </div>
  );
}

function LegendTable({
  lines,
  hidden,
  onToggle,
  results,
}: LegendProps & { results: { data?: Series }[] }) {
  return (
    <div className="overflow-x-auto">
      <table className="w-full text-sm">
        <thead>
          <tr className="border-b text-xs text-soft">
            <th className="py-1.5 text-left font-medium">{texts.item}</th>
            <th className="w-24 text-left font-medium">{texts.points}</th>
            {["Last", "Min", "Avg", "Max"].map((name) => (
              <th key={name} className="w-28 text-right font-medium">
                {name}
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {lines.map((line, i) => {
            const sum = summarize(line);
            const source = SOURCES[results[i]?.data?.source ?? "history"];
            return (
              <tr key={line.id} className="border-b last:border-0">
                <td className="py-1.5 pr-4">
                  <button
                    type="button"
                    aria-pressed={!hidden.has(line.id)}
                    onClick={() => onToggle(line.id)}
                    className={cx(
                      "flex items-center gap-2 text-left",
                      hidden.has(line.id) && "text-faint line-through",
                    )}
                  >
                    <Swatch look={line.look} index={i} off={hidden.has(line.id)} />
                    {line.name}
                  </button>
                </td>
                <td className="text-xs whitespace-nowrap text-soft">{source}</td>
                {[sum.last, sum.min, sum.avg, sum.max].map((value, n) => (
                  // biome-ignore lint/suspicious/noArrayIndexKey: four fixed columns
                  <td key={n} className="tabular text-right whitespace-nowrap">
                    {value === null ? "–" : formatUnits(value, line.units)}
                  </td>
                ))}
              </tr>
            );
          })}
        </tbody>
      </table>
    </div>
  );
}
