import { describe, expect, it } from "vitest";
import { delayedItems } from "./queue";

const item = (more: object) => ({
  itemid: "1",
  name: "n",
  key_: "k",
  delay: "1m",
  type: "0",
  lastclock: "1000",
  hosts: [{ hostid: "9", name: "h" }],
  interfaces: [{ available: "1", error: "" }],
  preprocessing: [],
  ...more,
});

describe("delayedItems", () => {
  const cases: [string, object, number, boolean][] = [
    ["in time", {}, 1060, false],
    ["the ordinary spread", {}, 1069, false],
    ["late", {}, 1071, true],
    ["a longer interval", { delay: "1h" }, 1071, false],
    ["flexible parts are left aside", { delay: "1m;50s/1-7" }, 1100, true],
    ["a macro as interval cannot be judged", { delay: "{$D}" }, 9999, false],
    ["silent on purpose", { preprocessing: [{ type: "20" }] }, 9999, false],
    ["never a value", { lastclock: "0" }, 1000, true],
  ];
  it.each(cases)("%s", (_, more, now, expected) => {
    expect(delayedItems([item(more)], now)).toHaveLength(expected ? 1 : 0);
  });
  it("says why and puts the latest first", () => {
    const list = delayedItems(
      [
        item({ itemid: "a", lastclock: "0" }),
        item({ itemid: "b", lastclock: "900" }),
        item({ itemid: "c", lastclock: "500", interfaces: [{ available: "2", error: "refused" }] }),
      ],
      1100,
    );
    expect(list.map((i) => i.itemid)).toEqual(["c", "b", "a"]);
    expect(list.map((i) => i.reason)).toEqual([
      "refused",
      "The answer is overdue",
      "No value has come yet",
    ]);
    expect(list[0]?.late).toBe(540);
  });
});
