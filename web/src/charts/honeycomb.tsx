import { memo } from "react";
import type { Severity } from "~/util/severity";
import { texts } from "./texts";

export interface Cell {
  id: string;
  name: string;
  /** Null: no problem. */
  severity: Severity | null;
  /** Without problems: whether the host is known to be well, or has no data. */
  known: boolean;
  /** The state in words. */
  words: string;
}

interface HoneycombProps {
  cells: readonly Cell[];
  /** Width in pixels to fill. */
  width: number;
  onOpen: (id: string) => void;
}

const RADIUS_MIN = 9;
const RADIUS_MAX = 20;

function layout(count: number, width: number): { radius: number; perRow: number } {
  const area = width * Math.max(130, Math.min(240, count * 2));
  const wanted = Math.sqrt(area / (Math.max(count, 1) * 2.7));
  const radius = Math.max(RADIUS_MIN, Math.min(RADIUS_MAX, wanted));
  const perRow = Math.max(1, Math.floor((width - radius) / (radius * Math.sqrt(3))));
  return { radius, perRow };
}

function hexagon(cx: number, cy: number, r: number): string {
  const points: string[] = [];
  for (let i = 0; i < 6; i++) {
    const angle = Math.PI / 6 + (i * Math.PI) / 3;
    points.push(
      `${(cx + r * Math.cos(angle)).toFixed(1)},${(cy + r * Math.sin(angle)).toFixed(1)}`,
    );
  }
  return points.join(" ");
}

function fillOf(cell: Cell): string {
  if (cell.severity !== null) return `var(--sev-${cell.severity})`;
  return cell.known ? "var(--good)" : "var(--faint)";
}

/** A cell per host, coloured by its worst problem. */
export const Honeycomb = memo(function Honeycomb({ cells, width, onOpen }: HoneycombProps) {
  const { radius, perRow } = layout(cells.length, width);
  const step = radius * Math.sqrt(3);
  const rows = Math.ceil(cells.length / perRow);
  const height = rows * radius * 1.5 + radius * 0.6;
  return (
    <svg
      width={width}
      height={height}
      className="block"
      role="group"
      aria-label={texts.hostsByHighestSeverity}
    >
      {cells.map((cell, i) => {
        const row = Math.floor(i / perRow);
        const x = (i % perRow) * step + step / 2 + (row % 2 ? step / 2 : 0);
        const y = row * radius * 1.5 + radius;
        return (
          <polygon
            key={cell.id}
            points={hexagon(x, y, radius - 1.2)}
            role="button"
            tabIndex={0}
            aria-label={`${cell.name}: ${cell.words}`}
            onClick={() => onOpen(cell.id)}
            onKeyDown={(event) => event.key === "Enter" && onOpen(cell.id)}
            style={{ fill: fillOf(cell) }}
            className={cell.severity === null ? "opacity-35 hover:opacity-100" : "hover:opacity-75"}
          >
            <title>{`${cell.name}\n${cell.words}`}</title>
          </polygon>
        );
      })}
    </svg>
  );
});
