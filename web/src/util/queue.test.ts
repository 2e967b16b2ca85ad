import { describe, expect, it } from "vitest";
import { type DelayedItem, lateReason, queueLines, slowHosts, sumLines } from "./queue";

describe("queueLines", () => {
  const raw = [
    { itemtype: 0, delay5: 1, delay10: 0, delay30: 0, delay60: 0, delay300: 0, delay600: 0 },
    { itemtype: 20, delay5: 0, delay10: 2, delay30: 0, delay60: 0, delay300: 0, delay600: 5 },
    { itemtype: 3, delay5: 0, delay10: 0, delay30: 0, delay60: 0, delay300: 0, delay600: 0 },
  ];
  it("keeps what is late, the longest first", () => {
    expect(queueLines(raw, "itemtype").map(({ id, total }) => [id, total])).toEqual([
      ["20", 7],
      ["0", 1],
    ]);
    expect(sumLines(queueLines(raw, "itemtype"))).toEqual([1, 2, 0, 0, 0, 5]);
  });
  it("names the server where no proxy is", () => {
    expect(queueLines([{ proxyid: 0, delay5: "3" }], "proxyid")[0]).toMatchObject({
      id: "0",
      total: 3,
    });
  });
});

describe("lateReason", () => {
  const item = { lastclock: "1", state: "0", error: "", hosts: [{}], interfaces: [] };
  const cases: [object, RegExp][] = [
    [{ interfaces: [{ available: "2", error: "timed out" }] }, /^timed out$/],
    [{ interfaces: [{ available: "2", error: "" }] }, /not available/],
    [{ state: "1", error: "no such key" }, /^no such key$/],
    [{ hosts: [{ proxyid: "4" }] }, /proxy/],
    [{ hosts: [{ proxyid: "0" }], lastclock: "0" }, /No value/],
    [{}, /overdue/],
  ];
  it.each(cases)("%j", (more, reason) => {
    expect(lateReason({ ...item, ...more })).toMatch(reason);
  });
});

it("names the slowest devices", () => {
  const late = (hostid: string, due: number, reason: string) =>
    ({ hostid, host: `h${hostid}`, due, reason }) as DelayedItem;
  const items = [late("1", 50, "a"), late("2", 90, "b"), late("2", 40, "c"), late("3", 10, "d")];
  expect(slowHosts(items, 2)).toEqual([
    { hostid: "2", host: "h2", items: 2, due: 40, reason: "c" },
    { hostid: "3", host: "h3", items: 1, due: 10, reason: "d" },
  ]);
});
