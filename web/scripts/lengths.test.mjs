import { expect, test } from "vitest";
import { faults, functions } from "./lengths.mjs";

test("functions are measured from their first line to their closing brace", () => {
  const text = "function a() {\n  if (x) {\n  }\n}\n\nexport const b = () => {\n  return 1;\n};\n";
  expect(functions(text)).toEqual([
    { name: "a", lines: 4 },
    { name: "b", lines: 3 },
  ]);
});

test("a function may not grow past the limit, nor past its entry", () => {
  expect(faults([{ name: "x", lines: 120 }], {})).toEqual([]);
  expect(faults([{ name: "x", lines: 121 }], {})).toEqual(["x: 121 lines, allowed 120"]);
  expect(faults([{ name: "x", lines: 130 }], { x: 130 })).toEqual([]);
  expect(faults([{ name: "x", lines: 131 }], { x: 130 })).toEqual(["x: 131 lines, allowed 130"]);
});

test("an entry that is too high or no longer needed must be corrected", () => {
  expect(faults([{ name: "x", lines: 125 }], { x: 130 })).toEqual(["x: 125 lines, allowed 130"]);
  expect(faults([{ name: "x", lines: 100 }], { x: 130 })).toHaveLength(1);
});
