// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { topOf } from "./top-hosts";

const rows = [
  { host: "a", rank: 1 },
  { host: "b", rank: null },
  { host: "c", rank: 10 },
];

test("hosts without a value come last, in either order", () => {
  expect(topOf(rows, 10, false).map(({ host }) => host)).toEqual(["c", "a", "b"]);
  expect(topOf(rows, 10, true).map(({ host }) => host)).toEqual(["a", "c", "b"]);
  expect(topOf(rows, 1, false).map(({ host }) => host)).toEqual(["c"]);
});

test("names are ordered as words", () => {
  const names = ["web 10", "web 2"].map((host) => ({ host, rank: host }));
  expect(topOf(names, 10, false).map(({ host }) => host)).toEqual(["web 2", "web 10"]);
});
