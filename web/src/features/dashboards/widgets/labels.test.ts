import { expect, test } from "vitest";
import { expandLabel, inOne, type Labelled, writeNumber, writeValue } from "./labels";

const item: Labelled = {
  name: "CPU 3: utilization of core",
  key_: "system.cpu[3]",
  value_type: "0",
  units: "%",
  lastvalue: "12.3456",
  lastclock: "1",
  hosts: [{ name: "web 1" }],
};

test("labels show the item and its host", () => {
  expect(expandLabel("{HOST.NAME}: {ITEM.NAME}", item)).toBe("web 1: CPU 3: utilization of core");
});

test("regsub keeps the groups of the output, and nothing without a match", () => {
  const label = String.raw`Core {{ITEM.NAME}.regsub("^CPU (\d+): (\w+)","\1 \2")}`;
  expect(expandLabel(label, item)).toBe("Core 3 utilization");
  expect(expandLabel(String.raw`{{ITEM.NAME}.regsub("^x(.)","\1")}`, item)).toBe("");
  expect(expandLabel(String.raw`{{ITEM.NAME}.iregsub("^cpu (\d)","\1")}`, item)).toBe("3");
});

test("commas and brackets in a quoted pattern belong to it", () => {
  const label = String.raw`{{ITEM.KEY}.regsub("cpu\[([0-9,]+)\]","<\1>")}`;
  expect(expandLabel(label, item)).toBe("<3>");
});

test("fmtnum takes the digits of the raw value", () => {
  expect(expandLabel("{{ITEM.LASTVALUE}.fmtnum(2)}", item)).toBe("12.35");
});

test("macros that are unknown here stay, a missing value is unknown", () => {
  expect(expandLabel("{HOST.IP} {$LIMIT}", item)).toBe("{HOST.IP} {$LIMIT}");
  expect(expandLabel("{ITEM.LASTVALUE}", { ...item, lastclock: "0" })).toBe("*UNKNOWN*");
});

test("digits, units and prefixes of a value", () => {
  expect(inOne(writeNumber(1536, "B", { decimals: 1 }))).toBe("1.5 KB");
  expect(inOne(writeNumber(2_500_000, "", { decimals: 1 }))).toBe("2500000");
  expect(inOne(writeNumber(2_500_000, "bps", { decimals: 1 }))).toBe("2.5 Mbps");
  expect(inOne(writeNumber(42.126, "%", { decimals: 2 }))).toBe("42.13 %");
  expect(writeNumber(42, "%", { decimals: 0, bare: true })).toEqual({ value: "42", units: "" });
  expect(inOne(writeNumber(90, "s", { decimals: 0 }))).toBe("1m 30s");
  expect(inOne(writeNumber(5, "B", { decimals: 0, units: "!rpm" }))).toBe("5 rpm");
});

test("an item without a value has none, a mapped one its word", () => {
  expect(writeValue({ ...item, lastclock: "0" })).toBeNull();
  const mappings = [{ type: "0", value: "1", newvalue: "Up" }];
  const up = { ...item, value_type: "3", lastvalue: "1", mappings };
  expect(writeValue(up, { decimals: 0 })).toEqual({ value: "Up (1)", units: "" });
});
