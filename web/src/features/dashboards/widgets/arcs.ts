/** Angles are in radians, clockwise from the top; coordinates grow to the right and downwards. */

export const pointAt = (angle: number, radius: number): readonly [x: number, y: number] => [
  round(Math.sin(angle) * radius),
  round(-Math.cos(angle) * radius),
];

const round = (value: number) => Math.round(value * 1000) / 1000 || 0;

/** The path of a part of a ring between two angles; `inner` 0 is a sector. Nothing if it has no length. */
export function arcPath(from: number, till: number, outer: number, inner: number): string {
  const length = till - from;
  if (length <= 0) return "";
  if (length >= Math.PI * 2 - 1e-6) {
    const middle = from + Math.PI;
    return (
      arcPath(from, middle, outer, inner) + arcPath(middle, from + Math.PI * 2 - 1e-5, outer, inner)
    );
  }
  const large = length > Math.PI ? 1 : 0;
  const [a, b, c, d] = [
    pointAt(from, outer),
    pointAt(till, outer),
    pointAt(till, inner),
    pointAt(from, inner),
  ];
  return `M${a.join(" ")}A${outer} ${outer} 0 ${large} 1 ${b.join(" ")}L${c.join(" ")}A${inner} ${inner} 0 ${large} 0 ${d.join(" ")}Z`;
}

const HALF_WIDTH = 2;

/** A needle from the middle to an angle. */
export function needlePoints(angle: number, length: number): string {
  const side = Math.PI / 2;
  return [
    pointAt(angle - side, HALF_WIDTH),
    pointAt(angle, length),
    pointAt(angle + side, HALF_WIDTH),
  ]
    .map((point) => point.join(","))
    .join(" ");
}

export interface Slice {
  from: number;
  till: number;
  /** Part of the whole, 0 to 1. */
  share: number;
}

/** Slices of a whole circle. Negative values have none. */
export function slicesOf(values: readonly number[]): Slice[] {
  const sizes = values.map((value) => Math.max(0, value));
  const whole = sizes.reduce((a, b) => a + b, 0);
  let from = 0;
  return sizes.map((size) => {
    const share = whole > 0 ? size / whole : 0;
    const slice = { from, till: from + share * Math.PI * 2, share };
    from = slice.till;
    return slice;
  });
}
