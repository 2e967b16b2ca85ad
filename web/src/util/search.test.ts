import { expect, it } from "vitest";
import { listOf, listTo, parseSearch, pickSearch, replacesEntry, stringifySearch } from "./search";

const cases: [Record<string, unknown>, string][] = [
  [{}, ""],
  [{ a: undefined, b: "" }, ""],
  [{ severity: "5,4", text: "disk full" }, "?severity=5,4&text=disk+full"],
  [{ tag: "site:riga" }, "?tag=site:riga"],
  [{ text: "a&b=c#d?e+f%" }, "?text=a%26b%3Dc%23d%3Fe%2Bf%25"],
  [{ text: "ünï" }, "?text=%C3%BCn%C3%AF"],
];
it.each(cases)("%j", (search, text) => {
  expect(stringifySearch(search)).toBe(text);
});

it.each(cases.slice(2))("comes back: %j", (search, text) => {
  expect(parseSearch(text)).toEqual(search);
});

it("keeps lists short", () => {
  expect(listOf(undefined)).toEqual([]);
  expect(listOf("1,2,,3")).toEqual(["1", "2", "3"]);
  expect(listTo([])).toBeUndefined();
  expect(listTo([5, 4])).toBe("5,4");
});

it("picks known words only", () => {
  expect(pickSearch({ a: 1, b: "x", c: "" }, ["a", "c"])).toEqual({ a: "1" });
});

it.each<[Record<string, string>, object, boolean]>([
  [{}, { text: "d" }, false],
  [{ text: "d" }, { text: "di" }, true],
  [{ text: "di" }, { text: undefined }, false],
  [{}, { event: "5" }, false],
  [{ event: "5" }, { event: "6" }, true],
  [{}, { severity: "5" }, false],
  [{ severity: "5" }, { severity: "5,4" }, false],
  [{}, { sort: "severity" }, true],
  [{ text: "d" }, { text: "d", tags: undefined }, true],
])("%j then %j replaces the entry: %s", (old, next, replaces) => {
  expect(replacesEntry(old, next)).toBe(replaces);
});
