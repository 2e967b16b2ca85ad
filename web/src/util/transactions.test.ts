import { expect, test } from "vitest";
import { filterFault, formatMicros, fullBar, narrowed, widths } from "./transactions";

const record = (response: number, transfer: number) => ({
  client_rtt: "0",
  connect: "0",
  response: String(response),
  transfer: String(transfer),
  total: String(response + transfer),
});

test.each([
  [0, "0 µs"],
  [935, "935 µs"],
  [1_180, "1.18 ms"],
  [58_900, "58.9 ms"],
  [963_400, "963 ms"],
  [999_600, "1.00 s"],
  [75_000_000, "75.0 s"],
])("%d microseconds are %s", (us, text) => {
  expect(formatMicros(us)).toBe(text);
});

test("one outlier does not set the scale of the bars, and its own bar is full", () => {
  const records = [...Array.from({ length: 9 }, () => record(30, 10)), record(3_000, 1_000)];
  const full = fullBar(records);
  expect(full).toBe(40);
  expect(widths(record(10, 10), full)).toEqual([
    ["response", 25],
    ["transfer", 25],
  ]);
  expect(widths(record(3_000, 1_000), full)).toEqual([
    ["response", 75],
    ["transfer", 25],
  ]);
  expect(fullBar([])).toBe(0);
  expect(widths(record(0, 0), 0)).toEqual([]);
});

test("the wrong part of a filter is found by its position in characters", () => {
  const error = (text: string) => `Invalid parameter "/filter": ${text}.`;
  expect(
    filterFault("host=😀 nix=5 a=1", error('no column is named "nix", at character 8: "nix=5"')),
  ).toEqual({ text: 'No column is named "nix".', parts: ["host=😀 ", "nix=5", " a=1"] });
  expect(
    filterFault('host="x', error('a quote is not closed, at character 1: "host="x"'))?.parts,
  ).toEqual(["", 'host="x', ""]);
  expect(filterFault("", "Other searches of transactions are running.")).toBeNull();
});

test.each([
  ["", "server", "app1", "server=app1"],
  ["status=5xx ", "path", "/a b", 'status=5xx path="/a b"'],
  ["", "user_agent", "a,b", 'user_agent="a,b"'],
  ["", "path", '/say "no"', 'path^="/say "'],
  ["", "fault", "", 'fault=""'],
])("%j narrowed to %s %j", (filter, column, value, wanted) => {
  expect(narrowed(filter, column, value)).toBe(wanted);
});
