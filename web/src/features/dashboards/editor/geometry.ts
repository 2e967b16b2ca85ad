/** The grid of a page, in columns and rows. */
export const COLUMNS = 72;
export const ROWS = 64;
/** Pixels of a row, as in Zabbix 7.0. */
export const ROW_HEIGHT = 70;

/** Where a widget is on the grid. */
export interface Place {
  x: number;
  y: number;
  width: number;
  height: number;
}

export type Size = Pick<Place, "width" | "height">;

export const overlaps = (a: Place, b: Place): boolean =>
  a.x < b.x + b.width && b.x < a.x + a.width && a.y < b.y + b.height && b.y < a.y + a.height;

const within = (value: number, low: number, high: number) =>
  Math.min(Math.max(low, Math.round(value)), high);

/** The place moved onto the grid; its size stays. */
export const movedInside = ({ x, y, width, height }: Place): Place => ({
  x: within(x, 0, COLUMNS - width),
  y: within(y, 0, ROWS - height),
  width,
  height,
});

/** The place with a size that ends on the grid; its corner stays. */
export const sizedInside = ({ x, y, width, height }: Place): Place => ({
  x,
  y,
  width: within(width, 1, COLUMNS - x),
  height: within(height, 1, ROWS - y),
});

export interface Placed {
  key: string;
  place: Place;
}

/**
 * The widgets with one of them at another place. Those that it would cover move down, and push others
 * down in turn; null if one of them would leave the grid.
 */
export function arranged<W extends Placed>(
  widgets: readonly W[],
  key: string,
  to: Place,
): W[] | null {
  const settled: Place[] = [to];
  const places = new Map<string, Place>([[key, to]]);
  const others = widgets
    .filter((widget) => widget.key !== key)
    .sort((a, b) => a.place.y - b.place.y || a.place.x - b.place.x);
  for (const { key: other, place } of others) {
    let next = place;
    for (;;) {
      const at = next;
      const below = settled.filter((one) => overlaps(one, at)).map((one) => one.y + one.height);
      if (below.length === 0) break;
      next = { ...next, y: Math.max(...below) };
    }
    if (next.y + next.height > ROWS) return null;
    settled.push(next);
    places.set(other, next);
  }
  return widgets.map((widget) => {
    const place = places.get(widget.key) ?? widget.place;
    return place === widget.place ? widget : { ...widget, place };
  });
}

/** The first free place of this size, row by row. */
function firstFree(places: readonly Place[], { width, height }: Size): Place | null {
  for (let y = 0; y + height <= ROWS; y++)
    for (let x = 0; x + width <= COLUMNS; x++) {
      const place = { x, y, width, height };
      const hit = places.find((one) => overlaps(one, place));
      if (!hit) return place;
      x = hit.x + hit.width - 1;
    }
  return null;
}

/** A free place of this size, halved until there is room; null: the page is full. */
export function freePlace(places: readonly Place[], size: Size): Place | null {
  let { width, height } = size;
  for (;;) {
    const place = firstFree(places, { width, height });
    if (place || (width === 1 && height === 1)) return place;
    width = Math.ceil(width / 2);
    height = Math.ceil(height / 2);
  }
}
