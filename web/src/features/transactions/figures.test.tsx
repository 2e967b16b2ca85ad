// @vitest-environment happy-dom
import { cleanup, render, screen } from "@testing-library/react";
import { afterEach, expect, test } from "vitest";
import { Bars } from "./figures";

afterEach(cleanup);

test.each([
  ["494000", "Bars of 494 ms,"],
  ["20000000", "Bars of 20 s,"],
  ["7200000000", "Bars of 2h,"],
])("bars of %s microseconds name their width", (width, words) => {
  const bars = [{ count: "3", faults: "1", total: "9" }];
  render(<Bars histogram={{ from: "1700000000000000", width, bars }} onRange={() => undefined} />);
  expect(screen.getByText(/^Bars of/).textContent).toContain(words);
});
