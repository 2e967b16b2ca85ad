import { describe, expect, it } from "vitest";
import { macroProblem, macrosIn, parseMacro, resolveMacro, substitute } from "./macros";

describe("parseMacro", () => {
  const cases: [string, object | null][] = [
    ["{$A}", { name: "A", regex: false }],
    ["{$CPU.MAX_1}", { name: "CPU.MAX_1", regex: false }],
    ["{$A:/tmp}", { name: "A", context: "/tmp", regex: false }],
    ['{$A:"/t}mp"}', { name: "A", context: "/t}mp", regex: false }],
    ['{$A:"a\\"b"}', { name: "A", context: 'a"b', regex: false }],
    ['{$A:regex:"^/(a|b)$"}', { name: "A", context: "^/(a|b)$", regex: true }],
    ["{$a}", null],
    ["{$}", null],
    ["$A", null],
    ['{$A:"open}', null],
  ];
  it.each(cases)("%s", (text, expected) => {
    expect(parseMacro(text)).toEqual(expected);
    expect(macroProblem(text) === undefined).toBe(expected !== null);
  });
});

it("finds the macros of texts", () => {
  expect(macrosIn(['a{$A} {$B:"x}y"}', "{$A}{#FS} {$C:z}"])).toEqual([
    "{$A}",
    '{$B:"x}y"}',
    "{$C:z}",
  ]);
  expect(macrosIn(["{#FS}{$A}"], true)).toEqual(["{$A}", "{#FS}"]);
});

describe("resolveMacro", () => {
  const macro = (name: string, value: string) => ({ macro: name, value, type: "0" });
  const levels = [
    { from: "", macros: [macro("{$A}", "host")] },
    { from: "T", macros: [macro("{$A}", "t"), macro("{$A:/tmp}", "tmp"), macro("{$B}", "b")] },
    { from: "global", macros: [macro('{$A:regex:"^/var"}', "var"), macro("{$G}", "g")] },
  ];
  const cases: [string, string | undefined][] = [
    ["{$A}", "host"],
    ["{$A:/tmp}", "tmp"],
    ['{$A:"/tmp"}', "tmp"],
    ["{$A:/var/log}", "var"],
    ["{$A:other}", "host"],
    ["{$B}", "b"],
    ["{$G}", "g"],
    ["{$NO}", undefined],
  ];
  it.each(cases)("%s", (use, value) => {
    expect(resolveMacro(use, levels)?.definition.value).toBe(value);
  });
});

it("replaces what has a value", () => {
  const values = new Map([
    ["{$A}", "1"],
    ["{#FS}", "/tmp"],
  ]);
  expect(substitute("x{$A}y{$B}[{#FS}]", values)).toBe("x1y{$B}[/tmp]");
});
