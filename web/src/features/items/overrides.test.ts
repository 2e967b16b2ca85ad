import { describe, expect, it } from "vitest";
import type { OverrideOperation } from "~/api/item-config";
import {
  changesOf,
  newOperation,
  newOverride,
  onObject,
  overrideParams,
  overrideProblem,
  toggled,
} from "./overrides";
import { filterParams, newCondition } from "./rule-filter";

describe("filters", () => {
  it("names conditions by the first free letter, and keeps names", () => {
    const a = newCondition([]);
    const b = newCondition([a]);
    expect([a.formulaid, b.formulaid]).toEqual(["A", "B"]);
    const conditions = [b];
    for (let n = 0; n < 27; n += 1) conditions.push(newCondition(conditions));
    expect(conditions[1]?.formulaid).toBe("A");
    expect(conditions.at(-1)?.formulaid).toBe("AB");
  });
  it("sends names only with a formula, values only where they are compared", () => {
    const conditions = [
      { macro: " {#B} ", value: "x", operator: "8", formulaid: "B" },
      { macro: "", value: "", operator: "8", formulaid: "C" },
      { macro: "{#A}", value: "y", operator: "12", formulaid: "A" },
    ];
    expect(filterParams({ evaltype: "3", formula: "A or B", conditions })).toEqual({
      evaltype: "3",
      formula: "A or B",
      conditions: [
        { macro: "{#B}", value: "x", operator: "8", formulaid: "B" },
        { macro: "{#A}", value: undefined, operator: "12", formulaid: "A" },
      ],
    });
    expect(filterParams({ evaltype: "1", formula: "A or B", conditions })).toMatchObject({
      formula: undefined,
      conditions: [{ formulaid: undefined }, { formulaid: undefined }],
    });
  });
});

describe("overrides", () => {
  const operation: OverrideOperation = {
    operationobject: "0",
    operator: "2",
    value: "x",
    opstatus: { status: "1" },
    opperiod: { delay: "5m" },
  };
  it("change what fits their objects", () => {
    expect(changesOf("2")).toEqual(["opdiscover"]);
    expect(onObject(operation, "1")).toEqual({
      operationobject: "1",
      operator: "2",
      value: "x",
      opstatus: { status: "1" },
    });
    expect(toggled(operation, "opperiod")).not.toHaveProperty("opperiod");
    expect(toggled(operation, "ophistory")).toMatchObject({ ophistory: { history: "31d" } });
  });
  it("go to the API in their order", () => {
    const tags = [
      { tag: "a", value: "" },
      { tag: " ", value: "x" },
    ];
    const one = { ...newOverride(), name: " one ", operations: [{ ...operation, optag: tags }] };
    expect(overrideParams([one, { ...newOverride(), name: "two", stop: "1" }])).toMatchObject([
      { name: "one", step: "1", operations: [{ optag: [tags[0]], opperiod: { delay: "5m" } }] },
      { name: "two", step: "2", stop: "1", operations: [] },
    ]);
  });
  it("tell what is wrong", () => {
    const named = { ...newOverride(), name: "a" };
    expect(overrideProblem([named])).toBeNull();
    expect(overrideProblem([newOverride()])).toMatch(/Enter a name/);
    expect(overrideProblem([named, named])).toMatch(/same name/);
    const idle = toggled(newOperation(), "opdiscover");
    expect(overrideProblem([{ ...named, operations: [idle] }])).toMatch(/has no effect/);
  });
});
