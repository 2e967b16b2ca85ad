import { memo } from "react";
import { SEVERITIES, type Severity, toSeverity } from "~/util/severity";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

interface BarsProps {
  events: readonly { clock: string; severity: string }[];
  /** Unix seconds. */
  from: number;
  till: number;
  /** Events before this time are missing. */
  knownFrom?: number | undefined;
  buckets: number;
  height?: number;
}

/** A stretch of time of which nothing, or not everything, is known. */
const Unknown = ({ title }: { title: string }) => (
  <div title={title} className="h-full min-w-0 flex-1 rounded-sm bg-sunken opacity-60" />
);

/** How many problems started in each stretch of time, stacked by severity. */
export const ProblemBars = memo(function ProblemBars({
  events,
  from,
  till,
  knownFrom = from,
  buckets,
  height = 64,
}: BarsProps) {
  const counts = Array.from({ length: buckets }, () => [0, 0, 0, 0, 0, 0]);
  for (const event of events) {
    const at = Math.floor(((Number(event.clock) - from) / (till - from)) * buckets);
    const bucket = counts[Math.min(at, buckets - 1)];
    if (at >= 0 && bucket)
      bucket[toSeverity(event.severity)] = (bucket[toSeverity(event.severity)] ?? 0) + 1;
  }
  const most = Math.max(1, ...counts.map((bucket) => bucket.reduce((a, b) => a + b, 0)));
  const total = events.length;
  return (
    <div
      role="img"
      aria-label={texts.problemsStarted(total)}
      className="flex items-end gap-[3px]"
      style={{ height }}
    >
      {counts.map((bucket, i) => {
        const sum = bucket.reduce((a, b) => a + b, 0);
        const start = from + (i * (till - from)) / buckets;
        if (start < knownFrom)
          return <Unknown key={start} title={texts.notCountedTime(formatClock(start))} />;
        return (
          <div
            key={start}
            title={texts.startedTime(formatClock(start), sum)}
            className="flex h-full min-w-0 flex-1 flex-col justify-end rounded-sm hover:bg-hover"
          >
            {sum === 0 && <div className="h-px bg-line-strong" />}
            {SEVERITIES.map((severity: Severity) => {
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
