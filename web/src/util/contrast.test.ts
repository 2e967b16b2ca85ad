import { readFileSync } from "node:fs";
import { describe, expect, it } from "vitest";

// WCAG 2.1 AA asks for 4.5:1 between small text and what lies behind it.
const ENOUGH = 4.5;
const css = readFileSync("src/app.css", "utf8");

function tokens(selector: string): Map<string, string> {
  const start = css.indexOf(`${selector} {`);
  const block = css.slice(start, css.indexOf("}", start));
  return new Map(
    [...block.matchAll(/--([\w-]+): (#[0-9a-f]{6});/g)].map((m) => [m[1] ?? "", m[2] ?? ""]),
  );
}

type Rgb = [number, number, number];
const rgb = (hex: string): Rgb =>
  [1, 3, 5].map((at) => Number.parseInt(hex.slice(at, at + 2), 16)) as Rgb;

/** `share` of one colour over another, as color-mix() in sRGB does it. */
function mix(over: Rgb, under: Rgb, share: number): Rgb {
  return over.map((value, i) => value * share + (under[i] ?? 0) * (1 - share)) as Rgb;
}

function luminance(color: Rgb): number {
  const [r, g, b] = color.map((value) => {
    const s = value / 255;
    return s <= 0.04045 ? s / 12.92 : ((s + 0.055) / 1.055) ** 2.4;
  }) as Rgb;
  return 0.2126 * r + 0.7152 * g + 0.0722 * b;
}

function contrast(a: Rgb, b: Rgb): number {
  const [x, y] = [luminance(a), luminance(b)];
  return (Math.max(x, y) + 0.05) / (Math.min(x, y) + 0.05);
}

const PAIRS: [text: string, behind: string][] = [
  ...["ink", "soft", "faint"].flatMap((text): [string, string][] =>
    ["canvas", "surface", "raised", "sunken", "hover"].map((behind) => [text, behind]),
  ),
  ["on-accent", "accent"],
  ["on-accent", "accent-hover"],
  ["accent-ink", "accent-soft"],
  ["accent-ink", "surface"],
  ["good-ink", "good-soft"],
  ["good-ink", "surface"],
  ["bad-ink", "bad-soft"],
  ["bad-ink", "surface"],
];

describe.each([":root", ':root[data-theme="dark"]'])("contrast in %s", (selector) => {
  const theme = tokens(selector);
  const color = (name: string) => rgb(theme.get(name) ?? "#000000");
  it.each(PAIRS)("%s on %s", (text, behind) => {
    expect(theme.has(text) && theme.has(behind)).toBe(true);
    expect(contrast(color(text), color(behind))).toBeGreaterThanOrEqual(ENOUGH);
  });
  it.each([0, 1, 2, 3, 4, 5])("severity %d on its badge and on a selected row", (severity) => {
    const ink = color(`sev-${severity}-ink`);
    for (const row of ["surface", "accent-soft"]) {
      const badge = mix(color(`sev-${severity}`), color(row), 0.14);
      expect(contrast(ink, badge)).toBeGreaterThanOrEqual(ENOUGH);
    }
  });
});
