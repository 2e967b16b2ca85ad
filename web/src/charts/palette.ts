/** Colours of lines, told apart also by those who see no red or no green; light and dark. */
const LIGHT = [
  "#4f46c8",
  "#0e8f7e",
  "#d9730d",
  "#c4216b",
  "#2f7fd1",
  "#7c8b1c",
  "#8d4fc9",
  "#b4532a",
  "#4b6475",
  "#1f9d55",
];
const DARK = [
  "#8b83ff",
  "#2fc4b0",
  "#f59e3d",
  "#f472b0",
  "#5aa9f5",
  "#b5c334",
  "#c08bf5",
  "#e88a5d",
  "#93abbd",
  "#4fd18b",
];

export function isDark(): boolean {
  return document.documentElement.dataset.theme === "dark";
}

export function lineColor(index: number, dark = isDark()): string {
  const colors = dark ? DARK : LIGHT;
  return colors[index % colors.length] ?? "#888888";
}

/** How a line is drawn if not as the charts do it by default. */
export interface LineLook {
  /** A CSS colour. */
  color?: string;
  /** The area below the line is filled. */
  filled?: boolean;
  /** Pixels. */
  width?: number;
  /** Lengths of dashes and gaps, pixels. */
  dash?: number[];
  /** Points, steps or bars instead of a line. */
  shape?: "points" | "stairs" | "bars";
  /** Pixels of a point. */
  point?: number;
  /** How much the area below the line is filled, 0 to 1; instead of `filled`. */
  fill?: number;
  /** The scale is on the right. */
  right?: boolean;
}

/** The colour of a line at this place among the others. */
export function colorOf(look: LineLook | undefined, index: number, dark = isDark()): string {
  return look?.color ?? lineColor(index, dark);
}

/** A role's colour as the canvas needs it, which knows no CSS variables. */
export function cssColor(name: string): string {
  return getComputedStyle(document.documentElement).getPropertyValue(name).trim();
}
