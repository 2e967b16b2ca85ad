import { memo } from "react";
import { type Line, thin } from "./series";

interface SparklineProps {
  line: Line | undefined;
  /** Unix seconds at the left and right edge. */
  from: number;
  till: number;
  width?: number;
  height?: number;
  fill?: boolean;
}

/** A small line without axes. */
export const Sparkline = memo(function Sparkline(props: SparklineProps) {
  const { line, from, till, width = 96, height = 22, fill } = props;
  if (!line || line.clocks.length < 2)
    return <svg aria-hidden="true" width={width} height={height} />;
  const { clocks, values } = thin(line, Math.floor(width / 2));
  let min = Math.min(...values);
  let max = Math.max(...values);
  if (min === max) {
    min -= 1;
    max += 1;
  }
  const x = (clock: number) => ((clock - from) / (till - from)) * (width - 2) + 1;
  const y = (value: number) => height - 2 - ((value - min) / (max - min)) * (height - 4);
  const path = clocks
    .map((clock, i) => `${i ? "L" : "M"}${x(clock).toFixed(1)} ${y(values[i] ?? 0).toFixed(1)}`)
    .join("");
  const first = x(clocks[0] ?? from).toFixed(1);
  const last = x(clocks.at(-1) ?? till).toFixed(1);
  return (
    <svg
      aria-hidden="true"
      width={width}
      height={height}
      viewBox={`0 0 ${width} ${height}`}
      preserveAspectRatio="none"
      className="block max-w-full text-accent"
    >
      {fill && (
        <path
          d={`${path}L${last} ${height}L${first} ${height}Z`}
          fill="currentColor"
          opacity={0.1}
        />
      )}
      <path d={path} fill="none" stroke="currentColor" strokeWidth={1.3} strokeLinejoin="round" />
    </svg>
  );
});
