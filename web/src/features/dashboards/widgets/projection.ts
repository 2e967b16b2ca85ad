export interface Place {
  latitude: number;
  longitude: number;
}

/** The part of the world that a drawing shows, in Web Mercator from 0 to 1. */
export interface View {
  x: number;
  y: number;
  /** Parts of the world for each pixel. */
  scale: number;
}

/** Mercator ends here. */
const LATITUDE_MAX = 85;
const TILE_PX = 256;
const MARGIN = 0.15;
/** One host alone is shown at the scale of a region, not of a street. */
const SPREAD_MIN = 0.01;

const radians = (degrees: number) => (degrees * Math.PI) / 180;

/** A place in Web Mercator: x and y from 0 (west, north) to 1. */
export function mercator({ latitude, longitude }: Place): readonly [x: number, y: number] {
  const bound = Math.max(-LATITUDE_MAX, Math.min(LATITUDE_MAX, latitude));
  const y = Math.log(Math.tan(Math.PI / 4 + radians(bound) / 2));
  return [(longitude + 180) / 360, (1 - y / Math.PI) / 2];
}

/** The view that has all places inside, with a margin. */
export function viewOf(places: readonly Place[], width: number, height: number): View {
  const points = places.map(mercator);
  const [xs, ys] = [points.map(([x]) => x), points.map(([, y]) => y)];
  const [left, right] = [Math.min(...xs), Math.max(...xs)];
  const [top, bottom] = [Math.min(...ys), Math.max(...ys)];
  const scale = Math.max(
    Math.max(right - left, SPREAD_MIN) / (width * (1 - 2 * MARGIN)),
    Math.max(bottom - top, SPREAD_MIN) / (height * (1 - 2 * MARGIN)),
  );
  return {
    x: (left + right) / 2 - (width / 2) * scale,
    y: (top + bottom) / 2 - (height / 2) * scale,
    scale,
  };
}

/** `default_view` of a geomap: `latitude,longitude,zoom`. Null: it cannot be read. */
export function givenView(text: string, width: number, height: number): View | null {
  const [latitude, longitude, zoom = 8] = text
    .split(",")
    .map((part) => Number(part.trim() || Number.NaN));
  if (latitude === undefined || longitude === undefined) return null;
  if (![latitude, longitude, zoom].every(Number.isFinite)) return null;
  const scale = 1 / (TILE_PX * 2 ** zoom);
  const [x, y] = mercator({ latitude, longitude });
  return { x: x - (width / 2) * scale, y: y - (height / 2) * scale, scale };
}

export const toPixels = (place: Place, { x, y, scale }: View): readonly [x: number, y: number] => {
  const [px, py] = mercator(place);
  return [(px - x) / scale, (py - y) / scale];
};

const STEPS = [90, 45, 30, 15, 10, 5, 2, 1, 0.5, 0.2, 0.1, 0.05, 0.02, 0.01];
const LINE_PX = 90;

/** Meridians and parallels of round degrees that are about a hundred pixels apart. */
export function graticule(
  view: View,
  width: number,
): { step: number; longitudes: number[]; latitudes: number[] } {
  const degrees = width * view.scale * 360;
  const step = STEPS.findLast((one) => degrees / one <= Math.max(2, width / LINE_PX)) ?? 90;
  const round = (value: number) => Math.round(value * 100) / 100;
  const count = Math.ceil(degrees / step) + 2;
  const west = Math.floor((view.x * 360 - 180) / step) * step;
  const longitudes = Array.from({ length: count }, (_, n) => round(west + n * step)).filter(
    (one) => Math.abs(one) <= 180,
  );
  const latitudes: number[] = [];
  const half = LATITUDE_MAX - (LATITUDE_MAX % step);
  for (let at = -half; at <= half; at += step) latitudes.push(round(at));
  return { step, longitudes, latitudes };
}
