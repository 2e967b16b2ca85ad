/** A colour from a value on. */
export interface Threshold {
  from: number;
  color: string;
}

type Rgb = readonly [number, number, number];

const rgbOf = (color: string): Rgb => {
  const n = Number.parseInt(color.replace("#", ""), 16);
  return [(n >> 16) & 255, (n >> 8) & 255, n & 255];
};
const hexOf = (rgb: readonly number[]) =>
  `#${rgb.map((part) => Math.round(part).toString(16).padStart(2, "0")).join("")}`;

/** Sizes and times of thresholds: `1K`, `2G`, `5m`. In units of bytes, prefixes are powers of 1024. */
export function thresholdNumber(text: string, units: string): number {
  const [, digits = "", suffix = ""] =
    /^\s*(-?[\d.]+(?:e[+-]?\d+)?)\s*([KMGTPEZYsmhdw]?)\s*$/i.exec(text) ?? [];
  const power = " KMGTPEZY".indexOf(suffix || " ");
  const seconds: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };
  const base = units === "B" || units === "Bps" ? 1024 : 1000;
  return (
    Number(digits || Number.NaN) * (power >= 0 ? base ** power : (seconds[suffix] ?? Number.NaN))
  );
}

/** The colour of a value: that of the highest threshold that it reaches. `blend`: colours between thresholds. */
export function colorFor(
  value: number,
  thresholds: readonly Threshold[],
  blend = false,
): string | undefined {
  const sorted = thresholds.toSorted((a, b) => a.from - b.from);
  const at = sorted.findLastIndex(({ from }) => value >= from);
  const [low, high] = [sorted[at], sorted[at + 1]];
  if (!blend || !high) return low?.color;
  if (!low) return undefined;
  const part = (value - low.from) / (high.from - low.from);
  const [a, b] = [rgbOf(low.color), rgbOf(high.color)];
  return hexOf([0, 1, 2].map((n) => (a[n] ?? 0) + part * ((b[n] ?? 0) - (a[n] ?? 0))));
}

function luminance(color: string): number {
  const [r = 0, g = 0, b = 0] = rgbOf(color).map((part) => {
    const c = part / 255;
    return c <= 0.04045 ? c / 12.92 : ((c + 0.055) / 1.055) ** 2.4;
  });
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

export function contrastOf(a: string, b: string): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const [DARK_INK, LIGHT_INK] = ["#000000", "#ffffff"];

/** Black or white, whichever reads better on a colour. */
export const inkOn = (background: string): string =>
  contrastOf(background, LIGHT_INK) >= contrastOf(background, DARK_INK) ? LIGHT_INK : DARK_INK;

/** The contrast that text needs (WCAG AA). */
const LEGIBLE = 4.5;

/** A colour that a user chose for text, if it can be read on its background, else the default. */
export const legible = (color: string | undefined, background: string): string | undefined =>
  color && contrastOf(color, background) >= LEGIBLE ? color : undefined;
