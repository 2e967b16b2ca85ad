import { describe, expect, it } from "vitest";
import { joinParams, newParams, STEP_KINDS, splitParams } from "./preprocessing";

describe("parameters of steps", () => {
  const cases: [type: string, params: string, parts: string[]][] = [
    ["5", "([0-9]+)\n\\1", ["([0-9]+)", "\\1"]],
    ["21", "var a = 1;\nreturn a;", ["var a = 1;\nreturn a;"]],
    ["25", "a\n", ["a", ""]],
    ["13", "\n100", ["", "100"]],
    ["9", "", []],
    ["24", ',\n"\n1', [",", '"', "1"]],
    ["22", "m\nvalue\n", ["m", "value", ""]],
    ["29", "{#A}\n1.3.6\n0", ["{#A}\n1.3.6\n0"]],
  ];
  it.each(cases)("type %s splits and joins back", (type, params, parts) => {
    expect(splitParams(type, params)).toEqual(parts);
    expect(joinParams(type, parts)).toBe(params);
  });
  it("fills choices of a new step", () => {
    expect(newParams("28")).toBe("\n0");
    expect(newParams("30")).toBe("1");
    expect(newParams("19")).toBe("");
  });
  it("knows every kind once", () => {
    const types = STEP_KINDS.map((kind) => Number(kind.type)).sort((a, b) => a - b);
    expect(types).toEqual(Array.from({ length: 30 }, (_, i) => i + 1));
  });
});
