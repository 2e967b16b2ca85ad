// @vitest-environment happy-dom
import { expect, test } from "vitest";
import { tallyOf } from "./availability";

const host = (active_available: string, ...interfaces: [string, string][]) => ({
  hostid: "1",
  active_available,
  interfaces: interfaces.map(([type, available]) => ({ type, available })),
});

test("a host counts once, and unknown is never available", () => {
  const hosts = [
    host("0", ["1", "1"]),
    host("0", ["1", "1"], ["1", "0"]),
    host("0", ["1", "1"], ["1", "2"]),
    host("0", ["1", "2"]),
    host("1"),
    host("0", ["2", "1"]),
  ];
  expect(tallyOf(hosts, ["1"])).toEqual({
    available: 1,
    unavailable: 1,
    mixed: 1,
    unknown: 1,
    total: 4,
  });
  expect(tallyOf(hosts, ["1", "2", "5"])).toMatchObject({ available: 3, total: 6 });
});
