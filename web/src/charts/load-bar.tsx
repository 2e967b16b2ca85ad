interface LoadBarProps {
  /** Part of the track that is filled, 0 to 1; undefined: unknown. */
  share: number | undefined;
  /** Parts of the track at which there are marks. */
  marks?: readonly number[];
  /** Colour of the bar. */
  tone?: "accent" | "good";
}

const TONES = { accent: "var(--accent)", good: "var(--part-transfer)" } as const;

/** A horizontal bar on its track. An unknown value is a hatched track, not an empty one. */
export function LoadBar({ share, marks = [], tone = "accent" }: LoadBarProps) {
  return (
    <span
      aria-hidden="true"
      className={`relative block h-3.5 overflow-hidden rounded-sm ${share === undefined ? "hatched" : "bg-sunken"}`}
    >
      {share !== undefined && (
        <span
          className="block h-full rounded-sm transition-[width] duration-500"
          style={{
            width: `${Math.max(0, Math.min(1, share)) * 100}%`,
            minWidth: share > 0 ? "2px" : undefined,
            backgroundColor: TONES[tone],
          }}
        />
      )}
      {marks.map((mark) => (
        <span
          key={mark}
          className="absolute inset-y-0 w-px bg-line-strong"
          style={{ left: `${mark * 100}%` }}
        />
      ))}
    </span>
  );
}
