import { expect, test } from "vitest";
import { faults, functions } from "./lengths.mjs";

test("functions are measured from their first line to their closing brace", () => {
  const text = "function a() {\n  if (x) {\n  }\n}\n\nexport const b = () => {\n  return 1;\n};\n";
  expect(functions(text)).toEqual([
    { name: "a", lines: 4 },
    { name: "b", lines: 3 },
  ]);
});

test("a function may not grow past the limit", () => {
  expect(faults([{ name: "x", lines: 120 }])).toEqual([]);
  expect(faults([{ name: "x", lines: 121 }])).toEqual(["x: 121 lines, allowed 120"]);
});
