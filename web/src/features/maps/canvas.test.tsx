// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Canvas } from "./canvas";
import { mapDraft, withElement } from "./draft";

afterEach(cleanup);

const element = {
  elementtype: "0",
  elements: [],
  iconid_off: "1",
  label: "",
  x: 0,
  y: 0,
  tags: [],
};

/** A canvas with one element. */
function canvas() {
  const [plane] = withElement(mapDraft(null), element);
  const calls = { onSelect: vi.fn(), onMove: vi.fn(), onRemove: vi.fn() };
  render(
    <Canvas
      draft={{ ...mapDraft(null), ...plane }}
      pictures={new Map()}
      nameOf={() => "web"}
      selected={null}
      {...calls}
    />,
  );
  const button = screen.getByRole("button");
  button.setPointerCapture = () => undefined;
  return { ...calls, button };
}

test.each([
  [0, 1],
  [2, 0],
])("button %i of the pointer moves an element %i times", (number, times) => {
  const { button, onMove } = canvas();
  fireEvent.pointerDown(button, { button: number, clientX: 0, clientY: 0 });
  fireEvent.pointerMove(button, { clientX: 100, clientY: 50 });
  fireEvent.pointerUp(button);
  expect(onMove).toHaveBeenCalledTimes(times);
});

test("the focus is on the plane after an element is removed", () => {
  const { button, onRemove } = canvas();
  button.focus();
  fireEvent.keyDown(button, { key: "Delete" });
  expect(onRemove).toHaveBeenCalledWith("new1");
  expect(document.activeElement).toBe(screen.getByRole("region"));
});
