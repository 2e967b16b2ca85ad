import { type Severity, severityName } from "~/util/severity";
import { cx } from "./cx";
import { texts } from "./texts";

/** Five bars, as many filled as the severity: tells the level without colour. */
export function SeverityMark({ severity, size = 14 }: { severity: Severity; size?: number }) {
  return (
    <svg aria-hidden="true" width={size} height={size} viewBox="0 0 15 14" className="shrink-0">
      {[1, 2, 3, 4, 5].map((level) => (
        <rect
          key={level}
          x={(level - 1) * 3}
          y={11 - level * 2}
          width={2.2}
          height={level * 2 + 2}
          rx={0.8}
          fill={level <= severity ? `var(--sev-${severity})` : "var(--line-strong)"}
        />
      ))}
    </svg>
  );
}

interface BadgeProps {
  severity: Severity;
  /** The mark blinks: the problem is new. */
  fresh?: boolean;
  className?: string;
}

/** Severity in colour, shape and words. */
export function SeverityBadge({ severity, fresh, className }: BadgeProps) {
  return (
    <span
      className={cx(
        "inline-flex h-5.5 items-center gap-1.5 rounded-md px-1.5 text-xs font-medium whitespace-nowrap",
        className,
      )}
      style={{
        color: `var(--sev-${severity}-ink)`,
        backgroundColor: `color-mix(in srgb, var(--sev-${severity}) 14%, transparent)`,
      }}
    >
      <span className={cx("flex", fresh && "animate-blink")}>
        <SeverityMark severity={severity} size={12} />
      </span>
      {severityName(severity)}
    </span>
  );
}

export function ResolvedBadge() {
  return (
    <span className="inline-flex h-5.5 items-center gap-1.5 rounded-md bg-good-soft px-1.5 text-xs font-medium text-good-ink">
      <span className="size-1.5 rounded-full bg-good" />
      {texts.resolved}
    </span>
  );
}

type Tone = "good" | "bad" | "off" | "warn" | "next";

const TONES: Record<Tone, string> = {
  good: "var(--good)",
  bad: "var(--sev-4)",
  warn: "var(--sev-2)",
  off: "var(--line-strong)",
  next: "var(--accent)",
};

/** The dot of a state, or of a severity. */
export function Dot({ tone }: { tone: Tone | Severity }) {
  return (
    <span
      aria-hidden="true"
      className="inline-block size-2 shrink-0 rounded-full"
      style={{
        backgroundColor: typeof tone === "number" ? `var(--sev-${tone})` : TONES[tone],
      }}
    />
  );
}
