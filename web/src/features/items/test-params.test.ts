import { describe, expect, it } from "vitest";
import type { TestOutcome } from "~/api/item-test";
import type { Owner } from "~/api/owners";
import { draftOf, type ItemDraft } from "./draft";
import { macrosOfTest, shownSteps, type TestInput, testParams } from "./test-params";

const step = (type: string, params = "", handler = "0", handlerParams = "") => ({
  type,
  params,
  error_handler: handler,
  error_handler_params: handlerParams,
});
const draft = (more: Partial<ItemDraft>): ItemDraft => ({
  ...draftOf(null),
  key: "k[{$A}]",
  ...more,
});
const INPUT: TestInput = {
  source: "typed",
  value: "10",
  failed: false,
  error: "",
  previous: "5",
  previousTime: "now-60s",
  macros: new Map([["{$F}", "8"]]),
};
const HOST: Owner = {
  id: "10084",
  host: "web",
  name: "Web",
  template: false,
  interfaces: [
    { interfaceid: "1", type: "1", main: "1", useip: "1", ip: "{$IP}", dns: "", port: "10050" },
  ],
};

describe("testParams", () => {
  it("sends a typed value through steps with macros replaced", () => {
    const params = testParams(draft({ preprocessing: [step("1", "{$F}")] }), "item", INPUT);
    expect(JSON.parse(JSON.stringify(params))).toEqual({
      options: { single: false, state: 0 },
      item: {
        value_type: 3,
        value: "10",
        steps: [{ type: 1, params: "8", error_handler: 0, error_handler_params: "" }],
      },
    });
  });
  it("tells the previous value to steps that compare", () => {
    const params = testParams(draft({ preprocessing: [step("9")] }), "item", INPUT);
    expect(params).toMatchObject({ options: { history: { value: "5", timestamp: "now-60s" } } });
  });
  it("stands for a failed check", () => {
    const input = { ...INPUT, failed: true, error: "no answer" };
    const params = testParams(draft({ preprocessing: [step("26", "-1")] }), "item", input);
    expect(params).toMatchObject({
      options: { state: 1, runtime_error: "no answer" },
      item: { value: "" },
    });
  });
  it("asks a host", () => {
    const macros = new Map([
      ["{$A}", "x"],
      ["{$IP}", "192.0.2.1"],
    ]);
    const input: TestInput = { ...INPUT, source: "host", host: HOST, macros };
    const params = testParams(draft({ key: "k[{$A},{HOST.HOST}]" }), "item", input);
    expect(params).toMatchObject({
      item: { key: "k[x,web]", type: 0 },
      host: { hostid: "10084", interface: { address: "192.0.2.1", port: "10050", useip: 1 } },
    });
    expect(params).not.toHaveProperty("item.value");
  });
});

it("lists the macros that matter", () => {
  const one = draft({ preprocessing: [step("1", "{$F}{#N}")] });
  expect(macrosOfTest(one, "typed")).toEqual(["{$F}", "{#N}"]);
  expect(macrosOfTest(one, "host", HOST)).toEqual(["{$F}", "{#N}", "{$A}", "{$IP}"]);
});

describe("shownSteps", () => {
  const run = (count: number, steps: NonNullable<TestOutcome["preprocessing"]>["steps"]) =>
    shownSteps(count, "in", { preprocessing: { steps } });
  it("hands each result to the next step", () => {
    expect(run(2, [{ result: "a" }, { result: "b" }])).toMatchObject([
      { state: "value", input: "in", output: "a" },
      { state: "value", input: "a", output: "b" },
    ]);
  });
  it("ends at an error", () => {
    expect(run(2, [{ error: { value: "bad" } }])).toMatchObject([
      { state: "error", input: "in", error: "bad" },
      { state: "skipped" },
    ]);
  });
  it("ends at a discarded value", () => {
    expect(run(2, [{ result: null }])).toMatchObject([
      { state: "discarded" },
      { state: "skipped" },
    ]);
  });
  it("tells what error handlers did", () => {
    expect(run(1, [{ action: 1, error: { value: "bad" }, result: null }])).toMatchObject([
      { state: "discarded", error: "bad", handled: "On fail: value discarded" },
    ]);
    expect(run(1, [{ action: 2, error: { value: "bad" }, result: "7" }])).toMatchObject([
      { state: "value", output: "7", handled: "On fail: value set" },
    ]);
    expect(run(1, [{ action: 3, error: { value: "bad" }, failed: "mine" }])).toMatchObject([
      { state: "error", output: "mine", error: "bad" },
    ]);
  });
});
