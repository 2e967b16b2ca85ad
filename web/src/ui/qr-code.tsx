/** Blank modules around the code, which scanners need. */
const MARGIN = 4;

/** A QR code from a text for each row, in which 1 is dark. Dark on light in every theme, as scanners expect. */
export function QrCode({ rows, label }: { rows: readonly string[]; label: string }) {
  const size = rows.length + 2 * MARGIN;
  const path = rows.flatMap((row, y) =>
    [...row].map((sign, x) => (sign === "1" ? `M${x + MARGIN} ${y + MARGIN}h1v1h-1z` : "")),
  );
  return (
    <svg
      role="img"
      aria-label={label}
      viewBox={`0 0 ${size} ${size}`}
      shapeRendering="crispEdges"
      className="mx-auto size-52 rounded-lg"
    >
      <rect width={size} height={size} fill="#ffffff" />
      <path d={path.join("")} fill="#000000" />
    </svg>
  );
}
