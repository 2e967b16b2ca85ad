/** Corners of a hexagon that stands on a point. */
export function hexagon(x: number, y: number, radius: number): string {
  return Array.from({ length: 6 }, (_, n) => {
    const angle = Math.PI / 6 + (n * Math.PI) / 3;
    return `${(x + radius * Math.cos(angle)).toFixed(1)},${(y + radius * Math.sin(angle)).toFixed(1)}`;
  }).join(" ");
}

/** Pixels: the smallest cell still has a colour, larger ones gain nothing. */
const RADIUS_MIN = 12;
const RADIUS_MAX = 72;
const EDGE_PX = 4;

interface Layout {
  radius: number;
  /** Centres of the cells. */
  places: (readonly [x: number, y: number])[];
  /** Height of the drawing, which scrolls if it is more than the room. */
  tall: number;
}

const stepOf = (radius: number) => radius * Math.sqrt(3);
const tallOf = (rows: number, radius: number) => rows * radius * 1.5 + radius * 0.5 + EDGE_PX * 2;
/** Every other row begins half a cell further right. */
const perRowOf = (width: number, radius: number, count: number) => {
  const half = count > Math.floor((width - EDGE_PX * 2) / stepOf(radius)) ? 0.5 : 0;
  return Math.max(1, Math.floor((width - EDGE_PX * 2) / stepOf(radius) - half));
};

/** The largest cells with which so many fit into the room. */
export function honeycombLayout(count: number, width: number, height: number): Layout {
  let radius = RADIUS_MAX;
  while (radius > RADIUS_MIN) {
    const rows = Math.ceil(count / perRowOf(width, radius, count));
    const fits = stepOf(radius) <= width - EDGE_PX * 2 && tallOf(rows, radius) <= height;
    if (fits) break;
    radius--;
  }
  const perRow = perRowOf(width, radius, count);
  const rows = Math.ceil(count / perRow);
  const used = Math.min(count, perRow) * stepOf(radius) + (rows > 1 ? stepOf(radius) / 2 : 0);
  const left = Math.max(EDGE_PX, (width - used) / 2);
  const top = Math.max(EDGE_PX, (height - tallOf(rows, radius)) / 2 + EDGE_PX);
  const places = Array.from({ length: count }, (_, n) => {
    const row = Math.floor(n / perRow);
    const x = left + ((n % perRow) + 0.5 + (row % 2) / 2) * stepOf(radius);
    return [x, top + radius + row * radius * 1.5] as const;
  });
  return { radius, places, tall: Math.max(height, tallOf(rows, radius)) };
}

/** A text in lines of so many characters; what does not fit ends with an ellipsis. */
export function wrapped(text: string, characters: number, linesMax: number): string[] {
  const room = Math.max(3, characters);
  const lines: string[] = [];
  let rest = text.trim();
  while (rest !== "" && lines.length < linesMax) {
    if (rest.length <= room) {
      lines.push(rest);
      return lines;
    }
    const isLast = lines.length === linesMax - 1;
    const space = rest.lastIndexOf(" ", room);
    const cut = space > room / 2 ? space : room;
    lines.push(isLast ? `${rest.slice(0, room - 1).trimEnd()}…` : rest.slice(0, cut));
    rest = rest.slice(cut).trim();
  }
  return lines;
}
