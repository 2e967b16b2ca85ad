// @vitest-environment happy-dom
import { cleanup, fireEvent, render, screen } from "@testing-library/react";
import { afterEach, expect, test, vi } from "vitest";
import { Pick } from "./pick";

afterEach(cleanup);

const option = (label: string) => ({ value: label, label });

test("Enter waits for the options of the text", () => {
  const onChange = vi.fn();
  const picker = (labels: string[], busy: boolean) => (
    <Pick
      label="Hosts"
      values={[]}
      options={labels.map(option)}
      onChange={onChange}
      onSearch={() => undefined}
      busy={busy}
    />
  );
  const { rerender } = render(picker(["alpha", "beta"], false));
  fireEvent.click(screen.getByRole("button", { name: "Hosts" }));
  const box = screen.getByRole("textbox", { name: "Search hosts" });
  fireEvent.change(box, { target: { value: "beta" } });
  rerender(picker(["alpha", "beta"], true));
  fireEvent.keyDown(box, { key: "Enter" });
  expect(onChange).not.toHaveBeenCalled();
  rerender(picker(["beta"], false));
  expect(onChange.mock.calls).toEqual([[["beta"]]]);
});

test("typing on takes back an Enter", () => {
  const onChange = vi.fn();
  const picker = (busy: boolean) => (
    <Pick
      label="Hosts"
      values={[]}
      options={[option("alpha")]}
      onChange={onChange}
      onSearch={() => undefined}
      busy={busy}
    />
  );
  const { rerender } = render(picker(true));
  fireEvent.click(screen.getByRole("button", { name: "Hosts" }));
  const box = screen.getByRole("textbox", { name: "Search hosts" });
  fireEvent.keyDown(box, { key: "Enter" });
  fireEvent.change(box, { target: { value: "a" } });
  rerender(picker(false));
  expect(onChange).not.toHaveBeenCalled();
});

test.each(["Escape", "a click elsewhere", "a click on an option"])("%s revokes an Enter", (way) => {
  const onChange = vi.fn();
  const picker = (busy: boolean) => (
    <Pick
      label="Hosts"
      values={[]}
      options={[option("alpha"), option("beta")]}
      onChange={onChange}
      onSearch={() => undefined}
      busy={busy}
    />
  );
  const { rerender } = render(picker(true));
  fireEvent.click(screen.getByRole("button", { name: "Hosts" }));
  fireEvent.keyDown(screen.getByRole("textbox"), { key: "Enter" });
  if (way === "Escape") fireEvent.keyDown(document.body, { key: "Escape" });
  else if (way === "a click elsewhere") fireEvent.pointerDown(document.body);
  else {
    const beta = screen.getByRole("option", { name: "beta" });
    beta.focus();
    fireEvent.click(beta);
  }
  const before = onChange.mock.calls.length;
  rerender(picker(false));
  expect(onChange.mock.calls.length).toBe(before);
});
