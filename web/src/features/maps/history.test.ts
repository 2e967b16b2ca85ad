import { expect, test } from "vitest";
import type { Steps } from "~/shared/forms/use-steps";
import { changed, mapDraft, type Plane, withElement, withoutElement } from "./draft";
import { afterChange } from "./history";

const element = {
  elementtype: "0",
  elements: [],
  iconid_off: "1",
  label: "",
  x: 0,
  y: 0,
  tags: [],
};

/** The steps after a sequence of planes. */
function stepsOf(...planes: Plane[]): Steps<Plane> {
  let steps: Steps<Plane> = { past: [], future: [], field: null };
  for (const [n, after] of planes.slice(1).entries())
    steps = afterChange(steps, planes[n] ?? after, after);
  return steps;
}

const [first] = withElement(mapDraft(null), element);
const [both] = withElement(first, element);

test("consecutive changes of a label are undone in one step", () => {
  const a = changed(both, "new1", { label: "a" });
  const ab = changed(a, "new1", { label: "ab" });
  expect(stepsOf(both, a, ab).past).toEqual([both]);
  const other = changed(ab, "new2", { label: "a" });
  const moved = changed(other, "new2", { x: 50 });
  expect(stepsOf(both, a, ab, other, moved).past).toEqual([both, ab, other]);
});

test("other changes are a step each", () => {
  expect(stepsOf(first, both, withoutElement(both, "new2")).past).toHaveLength(2);
  const one = changed(both, "new1", { elements: [{ hostid: "1" }] });
  const two = changed(one, "new1", { elements: [{ hostid: "2" }] });
  expect(stepsOf(both, one, two).past).toEqual([both, one]);
});
