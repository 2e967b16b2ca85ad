import { describe, expect, it } from "vitest";
import { stagesOf } from "./escalation";
import { newOperation } from "./operation-draft";

const op = (from: number, to: number, period = "") => ({
  ...newOperation("0"),
  from: String(from),
  to: String(to),
  period,
  subject: `${from}-${to}`,
});
const words = (operations: ReturnType<typeof op>[], period = "10m") =>
  stagesOf(operations, period).map(
    ({ from, to, after, every, operations: here }) =>
      `${from}..${to ?? ""} +${after} /${every}: ${here.map((one) => one.subject).join(" ")}`,
  );

describe("stages of an escalation", () => {
  it.each([
    ["nothing", [], []],
    ["a step", [op(1, 1)], ["1..1 +0 /600: 1-1"]],
    ["an empty first step", [op(2, 2)], ["2..2 +600 /600: 2-2"]],
    ["repeats", [op(1, 3)], ["1..3 +0 /600: 1-3"]],
    ["no end", [op(2, 0)], ["2.. +600 /600: 2-0"]],
    [
      "an own duration moves later steps",
      [op(1, 1, "60"), op(2, 2)],
      ["1..1 +0 /60: 1-1", "2..2 +60 /600: 2-2"],
    ],
    [
      "the shortest duration counts",
      [op(1, 1, "2h"), op(1, 2, "1h")],
      ["1..1 +0 /3600: 1-1 1-2", "2..2 +3600 /3600: 1-2"],
    ],
    [
      "overlapping steps",
      [op(1, 2), op(2, 0)],
      ["1..1 +0 /600: 1-2", "2..2 +600 /600: 1-2 2-0", "3.. +1200 /600: 2-0"],
    ],
    [
      "a macro hides later times",
      [op(1, 1, "{$WAIT}"), op(2, 2)],
      ["1..1 +0 /null: 1-1", "2..2 +null /600: 2-2"],
    ],
    ["steps that are being typed", [op(3, 1)], []],
  ])("%s", (_, operations, expected) => {
    expect(words(operations)).toEqual(expected);
  });
});
