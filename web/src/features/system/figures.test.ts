import { expect, test } from "vitest";
import type { ItemRow } from "~/api/items";
import { figureOf, startOf } from "./figures";

const NOW = 1_800_000_000;
const item = (next: Partial<ItemRow>) =>
  ({ key_: "zabbix[uptime]", lastvalue: "120", state: "0", ...next }) as ItemRow;
const uptime = (...items: ItemRow[]) => figureOf(items, ["zabbix[uptime]"], NOW);

test("a fresh value counts", () => {
  const figure = uptime(item({ lastclock: String(NOW - 60) }));
  expect(figure).toEqual({ value: "120", clock: NOW - 60 });
  expect(startOf(figure)).toBe(NOW - 180);
});

test.each([
  ["old", item({ lastclock: String(NOW - 301) }), NOW - 301],
  ["missing", item({ lastclock: "0" }), 0],
  ["of an unsupported item", item({ lastclock: String(NOW), state: "1" }), NOW],
])("a value that is %s is unknown", (_, row, clock) => {
  expect(uptime(row)).toEqual({ value: null, clock });
  expect(startOf(uptime(row))).toBeNull();
});

test("a missing item is unknown", () => {
  expect(uptime()).toEqual({ value: null, clock: 0 });
});

test("a lasting value may be old", () => {
  const row = item({ key_: "zabbix[version]", lastvalue: "1.0", lastclock: "5" });
  expect(figureOf([row], ["zabbix[version]"], NOW, true).value).toBe("1.0");
});
