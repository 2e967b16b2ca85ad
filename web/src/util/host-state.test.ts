import { expect, test } from "vitest";
import { countsInWords, type HostTone, stateInWords, toneOf, worstOf } from "./host-state";

const NONE = [0, 0, 0, 0, 0, 0];

test("a host is green only if it has values and no problems", () => {
  const rows: [Parameters<typeof toneOf>[0], boolean, HostTone, string][] = [
    [undefined, true, "off", "Loading"],
    [{ data: false, problems: NONE }, true, "off", "No data"],
    [{ data: true, problems: NONE }, true, "good", "No problems"],
    [{ data: true, problems: NONE }, false, "off", "Not monitored"],
    [{ data: false, problems: [0, 0, 1, 0, 0, 0] }, true, 2, "1 warning"],
    [{ data: true, problems: [0, 0, 1, 1, 0, 0] }, true, 3, "1 average, 1 warning"],
  ];
  for (const [state, monitored, tone, words] of rows) {
    expect(toneOf(state, monitored)).toBe(tone);
    expect(stateInWords(state, monitored)).toBe(words);
  }
});

test("problems are counted by severity", () => {
  expect(worstOf(NONE)).toBe(null);
  expect(worstOf([3, 0, 2, 0, 0, 0])).toBe(2);
  expect(countsInWords([1, 0, 0, 2, 0, 50])).toBe("50 disaster, 2 average, 1 not classified");
});
