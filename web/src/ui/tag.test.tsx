// @vitest-environment happy-dom
import { act, cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { TagList } from "./tag";

/** Tells the observed lists how wide they are; happy-dom lays nothing out. */
const layout = vi.hoisted(() => {
  const state = { resize: (_: number) => undefined as undefined };
  globalThis.ResizeObserver = class {
    private readonly seen = new Set<Element>();
    constructor(report: ResizeObserverCallback) {
      state.resize = (width) => {
        const entries = [...this.seen].map((target) => ({ target, contentRect: { width } }));
        report(entries as never, this);
        return undefined;
      };
    }
    observe(target: Element) {
      this.seen.add(target);
    }
    unobserve(target: Element) {
      this.seen.delete(target);
    }
    disconnect() {
      this.seen.clear();
    }
  };
  return state;
});

afterEach(cleanup);

const TAGS = ["cpu", "memory", "network", "disk", "site"].map((tag) => ({ tag, value: "a" }));
const shown = () => TAGS.filter(({ tag }) => screen.queryByText(`${tag}: a`)).length;
const listOf = (props: object = {}) => render(<TagList tags={TAGS} max={4} {...props} />);

test.each([
  [1_000, 4, "+1"],
  [150, 2, "+3"],
  [60, 1, "+4"],
])("a list of %i px shows %i of 5 tags and %s", (width, count, rest) => {
  listOf();
  act(() => layout.resize(width));
  expect(shown()).toBe(count);
  expect(screen.getByText(rest)).toBeTruthy();
});

test("a list that has room for all tags has no +n", () => {
  listOf({ max: 9 });
  act(() => layout.resize(1_000));
  expect(shown()).toBe(5);
  expect(screen.queryByText(/^\+/)).toBeNull();
});

test("the tooltip of a cut list has all tags", () => {
  listOf();
  act(() => layout.resize(60));
  const list = document.querySelector("[data-tags]");
  expect(list?.getAttribute("title")?.split("\n")).toHaveLength(5);
});

test("a list that wraps does not depend on its width", () => {
  listOf({ wrap: true });
  act(() => layout.resize(60));
  expect(shown()).toBe(4);
});
