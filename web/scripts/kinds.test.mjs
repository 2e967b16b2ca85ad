import { expect, test } from "vitest";
import { comparisons } from "./kinds.mjs";

test("comparisons of kinds with numbers are found", () => {
  const source = `
    const off = host?.status === "1" || "0" !== item.state;
    const daily = repeat !== "2";
  `;
  expect(comparisons(source, "ts")).toEqual([
    'host?.status === "1"',
    '"0" !== item.state',
    'repeat !== "2"',
  ]);
});

test("names of kinds, ids and flags of the protocol are left alone", () => {
  const source = `
    const on = host.status === Status.Enabled && host.proxyid !== "0" && iface.main === "1";
    const known = event.type === "added";
  `;
  expect(comparisons(source, "ts")).toEqual([]);
});
