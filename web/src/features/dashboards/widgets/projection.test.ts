import { expect, test } from "vitest";
import { givenView, graticule, mercator, toPixels, viewOf } from "./projection";

const riga = { latitude: 56.95, longitude: 24.1 };
const tokyo = { latitude: 35.68, longitude: 139.69 };

test("the middle of the world is the crossing of equator and Greenwich", () => {
  expect(mercator({ latitude: 0, longitude: 0 })[0]).toBe(0.5);
  expect(mercator({ latitude: 0, longitude: 0 })[1]).toBeCloseTo(0.5);
  expect(mercator({ latitude: 90, longitude: 180 })[1]).toBeGreaterThanOrEqual(0);
});

test("all places are inside the view, east is right and north is up", () => {
  const view = viewOf([riga, tokyo], 400, 200);
  const [a, b] = [toPixels(riga, view), toPixels(tokyo, view)];
  for (const [x, y] of [a, b]) {
    expect(x).toBeGreaterThan(0);
    expect(x).toBeLessThan(400);
    expect(y).toBeGreaterThan(0);
    expect(y).toBeLessThan(200);
  }
  expect(a[0]).toBeLessThan(b[0]);
  expect(a[1]).toBeLessThan(b[1]);
});

test("a place alone is in the middle", () => {
  const [x, y] = toPixels(riga, viewOf([riga], 400, 200));
  expect([Math.round(x), Math.round(y)]).toEqual([200, 100]);
});

test("a given view has its centre, an unreadable one does not count", () => {
  const view = givenView("56.95,24.1,10", 400, 200);
  if (!view) throw new Error("no view");
  const [x, y] = toPixels(riga, view);
  expect([Math.round(x), Math.round(y)]).toEqual([200, 100]);
  expect(givenView("", 400, 200)).toBeNull();
  expect(givenView("north", 400, 200)).toBeNull();
});

test("there are a few lines at round degrees", () => {
  const lines = graticule(viewOf([riga, tokyo], 400, 200), 400);
  expect(lines.longitudes.length).toBeGreaterThan(2);
  expect(lines.longitudes.length).toBeLessThan(12);
});
