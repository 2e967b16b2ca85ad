import { cx } from "~/ui/cx";
import {
  percent,
  periodWords,
  type SlaPeriod,
  type SliCell,
  sliWords,
  type Verdict,
  verdictOf,
} from "~/util/sla";
import { texts } from "./texts";

const LOOKS: Record<Verdict, string> = {
  met: "bg-good",
  missed: "bg-[var(--sev-4)]",
  unknown: "hatched border border-line-strong",
};
const HEIGHT_PX = 20;

/** Missed periods are higher the more is missing, so that colour alone does not tell. */
function heightOf(verdict: Verdict, cell: SliCell | undefined, slo: number): number {
  if (verdict !== "missed" || !cell) return HEIGHT_PX / 2;
  const missing = slo > 0 ? (slo - Number(cell.sli)) / slo : 1;
  return HEIGHT_PX * (0.7 + 0.3 * Math.min(1, missing * 10));
}

interface SliBarsProps {
  /** Of the agreement. */
  name: string;
  slo: number;
  /** Time zone of the agreement. */
  zone: string | undefined;
  periods: readonly SlaPeriod[];
  cells: readonly (SliCell | undefined)[];
}

/** The indicators of one service in the last periods, the newest last. */
export function SliBars({ name, slo, zone, periods, cells }: SliBarsProps) {
  const verdicts = periods.map((_, at) => verdictOf(cells[at], slo));
  const count = (verdict: Verdict) => verdicts.filter((one) => one === verdict).length;
  const summary = texts.summary(count("met"), count("missed"), count("unknown"));
  return (
    <span
      role="img"
      aria-label={texts.bars(name, periods.length, summary)}
      className="inline-flex h-5 items-end gap-0.5"
    >
      {periods.map((period, at) => {
        const verdict = verdicts[at] ?? "unknown";
        return (
          <span
            key={period.period_from}
            title={texts.cell(periodWords(period, zone), sliWords(cells[at], slo), percent(slo))}
            className={cx("w-1.5 rounded-[2px]", LOOKS[verdict])}
            style={{ height: heightOf(verdict, cells[at], slo) }}
          />
        );
      })}
    </span>
  );
}
