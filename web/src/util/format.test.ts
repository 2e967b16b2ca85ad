import { describe, expect, it } from "vitest";
import { formatCount, formatNumber, formatUnits, formatValue, mapValue, plural } from "./format";

describe("formatUnits", () => {
  const cases: [number, string, string][] = [
    [0, "", "0"],
    [0, "s", "0 s"],
    [1, "", "1"],
    [1234, "", "1.23 K"],
    [1024, "B", "1 KB"],
    [1536, "B", "1.5 KB"],
    [1000, "bps", "1 Kbps"],
    [1048576, "Bps", "1 MBps"],
    [999, "bps", "999 bps"],
    [12.5, "%", "12.5 %"],
    [12345, "%", "12345 %"],
    [2500, "rpm", "2500 rpm"],
    [1500, "ms", "1500 ms"],
    [0.0005, "s", "500 µs"],
    [0.25, "s", "250 ms"],
    [12, "s", "12 s"],
    [90, "s", "1m 30s"],
    [-90, "s", "-1m 30s"],
    [200_000, "uptime", "2d 7h"],
    [0, "unixtime", "never"],
    [123456, "!B", "123456 B"],
    [-2048, "B", "-2 KB"],
    [3.2e12, "Hz", "3.2 THz"],
  ];
  it.each(cases)("%d %s is %s", (value, units, text) => {
    expect(formatUnits(value, units)).toBe(text);
  });
});

describe("formatNumber", () => {
  const cases: [number, string][] = [
    [0.001234, "0.00123"],
    [0.1, "0.1"],
    [1.005, "1"],
    [99.999, "100"],
    [123.456, "123.5"],
    [1e-9, "1.00e-9"],
    [1e18, "1.00e+18"],
    [-0.5, "-0.5"],
  ];
  it.each(cases)("%d is %s", (value, text) => {
    expect(formatNumber(value)).toBe(text);
  });
});

describe("mapValue", () => {
  const map = [
    { type: "0", value: "1", newvalue: "Up" },
    { type: "3", value: "10-20, 35", newvalue: "odd" },
    { type: "1", value: "100", newvalue: "many" },
    { type: "2", value: "-1", newvalue: "negative" },
    { type: "4", value: "^abc", newvalue: "letters" },
    { type: "4", value: "(", newvalue: "broken" },
    { type: "5", value: "", newvalue: "else" },
  ];
  const cases: [string, string][] = [
    ["1", "Up"],
    ["1.0", "Up"],
    ["15", "odd"],
    ["35", "odd"],
    ["36", "else"],
    ["500", "many"],
    ["-7", "negative"],
    ["abcdef", "letters"],
    ["zzz", "else"],
  ];
  it.each(cases)("%s is %s", (value, word) => {
    expect(mapValue(map, value)).toBe(word);
  });
  it("has no word for an empty text", () => {
    const zero = [
      { type: "0", value: "0", newvalue: "zero" },
      { type: "2", value: "5", newvalue: "small" },
    ];
    expect(mapValue(zero, "")).toBeNull();
    expect(mapValue(zero, "letters")).toBeNull();
  });
  it("compares 64-bit integers exactly", () => {
    const large = [
      { type: "0", value: "18446744073709551614", newvalue: "other" },
      { type: "1", value: "18446744073709551615", newvalue: "largest" },
    ];
    expect(mapValue(large, "18446744073709551615")).toBe("largest");
    expect(mapValue(large, "18446744073709551613")).toBeNull();
  });
  it("understands inline flags of PCRE", () => {
    const map = [{ type: "4", value: "(?i)^down", newvalue: "Down" }];
    expect(mapValue(map, "DOWN since 10:00")).toBe("Down");
  });
  it("says nothing without a match", () => {
    expect(mapValue(map.slice(0, 1), "2")).toBeNull();
  });
});

describe("formatValue", () => {
  it("keeps the raw value beside a mapped one", () => {
    const mappings = [{ type: "0", value: "0", newvalue: "Down" }];
    expect(formatValue("0", { value_type: "3", units: "", mappings })).toBe("Down (0)");
  });
  it("leaves text alone", () => {
    expect(formatValue("1024", { value_type: "4", units: "B" })).toBe("1024");
  });
  it("scales numbers", () => {
    expect(formatValue("1024", { value_type: "3", units: "B" })).toBe("1 KB");
  });
});

it("counts", () => {
  expect(formatCount(1234567)).toBe("1\u202f234\u202f567");
  expect(plural(1, "host")).toBe("1 host");
  expect(plural(2, "entry", "entries")).toBe("2 entries");
});
