import type { ReactNode } from "react";
import type { Histogram, Percentiles, TransactionAnswer } from "~/api/transactions";
import { Card } from "~/ui/card";
import { formatCount, formatUnits } from "~/util/format";
import { formatClock } from "~/util/time";
import { formatMicros, PART_NAMES, PARTS } from "~/util/transactions";
import { texts } from "./texts";

const US = 1_000_000;
const HEIGHT_PX = 72;
const count = (text: string) => formatCount(Number(text));

interface BarsProps {
  histogram: Histogram;
  /** Chooses the time of a bar: Unix seconds. */
  onRange: (from: number, till: number) => void;
}

/** Requests over time; those with a fault are at the bottom, in red. */
export function Bars({ histogram, onRange }: BarsProps) {
  const { bars } = histogram;
  const most = Math.max(1, ...bars.map((bar) => Number(bar.count)));
  const sum = (member: "count" | "faults") =>
    formatCount(bars.reduce((total, bar) => total + Number(bar[member]), 0));
  const pixels = (n: number) => (n === 0 ? 0 : Math.max(2, (n / most) * HEIGHT_PX));
  const width = Number(histogram.width) / US;
  const ends = [0, bars.length].map((at) => formatClock(Number(histogram.from) / US + at * width));
  return (
    <section aria-label={texts.overTime(sum("count"), sum("faults"))}>
      <div className="flex items-end gap-px" style={{ height: HEIGHT_PX }}>
        {bars.map((bar, at) => {
          const from = Number(histogram.from) / US + at * width;
          const faults = Number(bar.faults);
          const fine = Number(bar.count) - faults;
          return (
            <button
              type="button"
              key={from}
              tabIndex={-1}
              title={texts.barTitle(formatClock(from), count(bar.count), count(bar.faults))}
              aria-label={texts.barTitle(formatClock(from), count(bar.count), count(bar.faults))}
              onClick={() => onRange(Math.floor(from), Math.ceil(from + width))}
              className="flex h-full min-w-0 flex-1 flex-col justify-end rounded-sm hover:bg-hover"
            >
              {Number(bar.count) === 0 && <span className="h-px w-full bg-line-strong" />}
              <span className="w-full bg-accent/70" style={{ height: pixels(fine) }} />
              <span
                className="w-full"
                style={{ height: pixels(faults), backgroundColor: "var(--sev-4)" }}
              />
            </button>
          );
        })}
      </div>
      <p className="tabular flex justify-between gap-4 pt-1 text-xs text-faint">
        <span>{ends[0]}</span>
        <span>{texts.scale(formatUnits(width, "s"), formatCount(most), sum("faults"))}</span>
        <span>{ends[1]}</span>
      </p>
    </section>
  );
}

const HEAD =
  "h-7 px-1.5 text-right text-xs font-medium whitespace-nowrap text-soft first:text-left";
const CELL = "tabular h-7 px-1.5 text-right whitespace-nowrap first:text-left";

/** Scrolled by keyboard too. */
const scrolls = (label: string) => ({ role: "region", "aria-label": label, tabIndex: 0 });

interface GridProps {
  label: string;
  head: readonly string[];
  children: ReactNode;
}

function Grid({ label, head, children }: GridProps) {
  return (
    <Card title={label} bodyClass="px-2 pb-2">
      <div {...scrolls(label)} className="max-h-48 overflow-auto">
        <table className="w-full text-xs">
          <thead>
            <tr>
              {head.map((title) => (
                <th key={title} scope="col" className={HEAD}>
                  {title}
                </th>
              ))}
            </tr>
          </thead>
          <tbody>{children}</tbody>
        </table>
      </div>
    </Card>
  );
}

const SHARES = ["mean", "p50", "p90", "p99", "p999", "max"] as const;

/** Mean, percentiles and maximum of the timings; the mark is the colour of the timing in the list. */
export function Timings({ percentiles }: { percentiles: Record<string, Percentiles> }) {
  return (
    <Grid label={texts.timings} head={[texts.timing, ...SHARES.map((share) => texts[share])]}>
      {[...PARTS, "total" as const].map((part) => (
        <tr key={part} className={part === "total" ? "border-t font-medium" : undefined}>
          <td className={CELL}>
            <span className="inline-flex items-center gap-2">
              {part !== "total" && (
                <span
                  className="size-2 rounded-[2px]"
                  style={{ background: `var(--part-${part})` }}
                />
              )}
              {PART_NAMES[part]}
            </span>
          </td>
          {SHARES.map((share) => (
            <td key={share} className={CELL}>
              {formatMicros(Number(percentiles[part]?.[share] ?? 0))}
            </td>
          ))}
        </tr>
      ))}
    </Grid>
  );
}

interface GroupsProps {
  answer: TransactionAnswer;
  column: string;
  name: string;
  /** Narrows the search to a value. */
  onValue: (value: string) => void;
}

/** The most frequent values of a column. */
export function Groups({ answer, column, name, onValue }: GroupsProps) {
  const figures = (one: NonNullable<TransactionAnswer["other"]>) => (
    <>
      <td className={CELL}>{count(one.count)}</td>
      <td className={Number(one.faults) ? `${CELL} text-bad-ink` : CELL}>{count(one.faults)}</td>
      <td className={CELL}>{formatMicros(Number(one.total) / Math.max(1, Number(one.count)))}</td>
      <td className={CELL}>{formatMicros(Number(one.total_max))}</td>
      <td className={CELL}>{formatUnits(Number(one.response_bytes), "B")}</td>
    </>
  );
  const { groups = [], other } = answer;
  return (
    <Grid
      label={name}
      head={[texts.group, texts.requests, texts.faults, texts.meanTime, texts.longest, texts.bytes]}
    >
      {groups.map((group) => {
        const value = group[column] ?? "";
        return (
          <tr key={value} className="hover:bg-hover">
            <td className={CELL}>
              <button
                type="button"
                title={texts.onlyValue(value || texts.none)}
                onClick={() => onValue(value)}
                className="max-w-72 truncate font-medium hover:underline"
              >
                {value || texts.none}
              </button>
            </td>
            {figures(group)}
          </tr>
        );
      })}
      {other && other.count !== "0" && (
        <tr className="border-t text-soft">
          <td className={CELL}>{texts.others}</td>
          {figures(other)}
        </tr>
      )}
    </Grid>
  );
}
