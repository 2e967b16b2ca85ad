import { expect, test } from "vitest";
import { honeycombLayout, wrapped } from "./hexagons";

test("all cells are inside the width, and as large as the room allows", () => {
  for (const [count, width, height] of [
    [1, 300, 200],
    [7, 300, 200],
    [60, 800, 300],
    [500, 320, 200],
  ] as const) {
    const { radius, places, tall } = honeycombLayout(count, width, height);
    expect(places).toHaveLength(count);
    const half = (radius * Math.sqrt(3)) / 2;
    for (const [x, y] of places) {
      expect(x - half).toBeGreaterThanOrEqual(0);
      expect(x + half).toBeLessThanOrEqual(width);
      expect(y + radius).toBeLessThanOrEqual(tall);
    }
  }
  expect(honeycombLayout(1, 300, 200).radius).toBeGreaterThan(honeycombLayout(60, 300, 200).radius);
});

test("labels break at spaces and end with an ellipsis", () => {
  expect(wrapped("Fan speed sensor", 10, 2)).toEqual(["Fan speed", "sensor"]);
  expect(wrapped("Fan speed sensor of the rack", 10, 2)).toEqual(["Fan speed", "sensor of…"]);
  expect(wrapped("ok", 10, 1)).toEqual(["ok"]);
});
