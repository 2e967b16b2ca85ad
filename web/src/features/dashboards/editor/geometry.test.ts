import { expect, test } from "vitest";
import {
  arranged,
  COLUMNS,
  freePlace,
  movedInside,
  overlaps,
  type Place,
  ROWS,
  sizedInside,
} from "./geometry";

const place = (x: number, y: number, width: number, height: number): Place => ({
  x,
  y,
  width,
  height,
});
const widget = (key: string, at: Place) => ({ key, place: at });

test("neighbours do not overlap", () => {
  expect(overlaps(place(0, 0, 2, 2), place(2, 0, 2, 2))).toBe(false);
  expect(overlaps(place(0, 0, 2, 2), place(1, 1, 2, 2))).toBe(true);
});

test("moving and resizing ends on the grid", () => {
  expect(movedInside(place(70, -3, 10, 4))).toEqual(place(COLUMNS - 10, 0, 10, 4));
  expect(sizedInside(place(60, 60, 30, 0))).toEqual(place(60, 60, 12, 1));
});

test("covered widgets move down and push others", () => {
  const [a, b, c, free] = [
    widget("a", place(0, 0, 10, 2)),
    widget("b", place(10, 0, 10, 2)),
    widget("c", place(10, 2, 10, 2)),
    widget("free", place(40, 0, 5, 5)),
  ] as const;
  const after = arranged([a, b, c, free], "a", place(5, 0, 10, 3));
  expect(after?.map((one) => one.place)).toEqual([
    place(5, 0, 10, 3),
    place(10, 3, 10, 2),
    place(10, 5, 10, 2),
    place(40, 0, 5, 5),
  ]);
  expect(after?.[3]).toBe(free);
});

test("a move that pushes a widget off the grid is refused", () => {
  const widgets = [widget("a", place(0, 0, 72, 2)), widget("b", place(0, 2, 72, ROWS - 2))];
  expect(arranged(widgets, "a", place(0, 0, 72, 3))).toBeNull();
});

test("a new widget gets a free place, a smaller one if there is no other", () => {
  expect(freePlace([], { width: 36, height: 5 })).toEqual(place(0, 0, 36, 5));
  expect(freePlace([place(0, 0, 36, 5)], { width: 36, height: 5 })).toEqual(place(36, 0, 36, 5));
  expect(freePlace([place(0, 0, 40, 5)], { width: 36, height: 5 })).toEqual(place(0, 5, 36, 5));
  const almost = [place(0, 0, 72, ROWS - 1), place(0, ROWS - 1, 60, 1)];
  expect(freePlace(almost, { width: 36, height: 5 })).toEqual(place(60, ROWS - 1, 5, 1));
  expect(freePlace([place(0, 0, COLUMNS, ROWS)], { width: 3, height: 3 })).toBeNull();
});
