import { describe, expect, it } from "vitest";
import { moved, patched, replaced, without } from "./rows";

describe("rows", () => {
  it("change at one place alone", () => {
    const rows = [
      { name: "a", value: "1" },
      { name: "b", value: "2" },
    ];
    expect(patched(rows, 1, { value: "3" })).toEqual([rows[0], { name: "b", value: "3" }]);
    expect(replaced(["a", "b"], 0, "c")).toEqual(["c", "b"]);
    expect(without(["a", "b", "c"], 1)).toEqual(["a", "c"]);
    expect(patched(rows, -1, { value: "3" })).toEqual(rows);
  });

  it("move to another place", () => {
    expect(moved(["a", "b", "c"], 0, 1)).toEqual(["b", "a", "c"]);
    expect(moved(["a", "b", "c"], 2, 0)).toEqual(["c", "a", "b"]);
    expect(moved(["a", "b"], 0, -1)).toEqual(["a", "b"]);
    expect(moved(["a", "b"], 1, 2)).toEqual(["a", "b"]);
    expect(moved(["a"], 4, 0)).toEqual(["a"]);
  });
});
