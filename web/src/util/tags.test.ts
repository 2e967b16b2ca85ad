import { expect, it } from "vitest";
import { parseTagFilter, parseTagFilters, tagFilterText, tagsThatFit, tagText } from "./tags";

const cases: [string, ReturnType<typeof parseTagFilter>][] = [
  ["site", { tag: "site", value: "", operator: 4 }],
  ["!site", { tag: "site", value: "", operator: 5 }],
  ["site=riga", { tag: "site", value: "riga", operator: 1 }],
  ["site: riga", { tag: "site", value: "riga", operator: 1 }],
  ["site~ri", { tag: "site", value: "ri", operator: 0 }],
  ["site!=riga", { tag: "site", value: "riga", operator: 3 }],
  ["site!~ri", { tag: "site", value: "ri", operator: 2 }],
  ["url=http://x", { tag: "url", value: "http://x", operator: 1 }],
  ["", null],
  ["=x", null],
];
it.each(cases)("%s", (text, filter) => {
  expect(parseTagFilter(text)).toEqual(filter);
});

it("reads lists and leaves out what it cannot read", () => {
  expect(parseTagFilters("a=1, ,b")).toHaveLength(2);
  expect(tagText({ tag: "a", value: "1" })).toBe("a: 1");
  expect(tagText({ tag: "a", value: "" })).toBe("a");
});

it("writes filters that find a tag", () => {
  const typed = (tag: string, value: string) => parseTagFilter(tagFilterText({ tag, value }));
  expect(typed("site", "riga")).toEqual({ tag: "site", value: "riga", operator: 1 });
  expect(typed("site", "")).toEqual({ tag: "site", value: "", operator: 4 });
});

const LONG = "component: application";
const fits: [string[], number, number | undefined, number][] = [
  [[], 3, 100, 0],
  [[LONG, LONG], 3, undefined, 2],
  [[LONG, LONG, LONG, LONG], 3, undefined, 3],
  [[LONG, LONG, LONG], 3, 176, 3],
  [[LONG, LONG, LONG], 3, 175, 2],
  [[LONG, LONG, LONG], 3, 120, 1],
  [[LONG, LONG], 3, 10, 1],
  [["a", "b", "c"], 3, 104, 3],
  [["a", "b", "c"], 3, 103, 2],
  [["a", "b", "c", "d"], 3, 104, 2],
];
it.each(fits)("%j, at most %d, in %s pixels", (texts, max, room, count) => {
  expect(tagsThatFit(texts, max, room)).toBe(count);
});
