import { memo } from "react";
import { SEVERITIES } from "~/util/severity";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

interface BarsProps {
  /** Unix seconds of the first step. */
  from: number;
  /** Length of a step in seconds. */
  step: number;
  /** For each step, the number of problems by severity. */
  counts: readonly (readonly number[])[];
  height?: number;
}

const sum = (numbers: readonly number[]) => numbers.reduce((a, b) => a + b, 0);

/** How many problems started in each step of time, stacked by severity. */
export const ProblemBars = memo(function ProblemBars({
  from,
  step,
  counts,
  height = 64,
}: BarsProps) {
  const totals = counts.map(sum);
  const most = Math.max(1, ...totals);
  return (
    <div
      role="img"
      aria-label={texts.problemsStarted(sum(totals))}
      className="flex items-end gap-[3px]"
      style={{ height }}
    >
      {counts.map((bucket, i) => {
        const start = from + i * step;
        return (
          <div
            key={start}
            title={texts.startedTime(formatClock(start), totals[i] ?? 0)}
            className="flex h-full min-w-0 flex-1 flex-col justify-end rounded-sm hover:bg-hover"
          >
            {totals[i] === 0 && <div className="h-px bg-line-strong" />}
            {SEVERITIES.map((severity) => {
              const n = bucket[severity] ?? 0;
              if (n === 0) return null;
              return (
                <div
                  key={severity}
                  className="rounded-[1px]"
                  style={{
                    height: `${Math.max(3, (n / most) * (height - 2))}px`,
                    backgroundColor: `var(--sev-${severity})`,
                  }}
                />
              );
            })}
          </div>
        );
      })}
    </div>
  );
});
