import { describe, expect, it } from "vitest";
import { conditionWords } from "~/util/actions";
import { actionDraft, actionParams, actionProblems, newCondition, newOperation } from "./draft";

const draft = {
  ...actionDraft(null),
  name: "Linux",
  conditions: [{ conditiontype: "24", operator: "2", value: "linux" }],
  operations: [
    newOperation("2"),
    { ...newOperation("4"), groups: ["5"] },
    {
      ...newOperation("13"),
      tags: [
        { tag: "a", value: "" },
        { tag: "", value: "x" },
      ],
    },
    newOperation("10"),
  ],
};

describe("an action's draft", () => {
  it("gives each operation what it needs", () => {
    expect(actionParams(draft)).toEqual({
      name: "Linux",
      status: "0",
      filter: {
        evaltype: "0",
        formula: undefined,
        conditions: [{ conditiontype: "24", operator: "2", value: "linux", formulaid: undefined }],
      },
      operations: [
        { operationtype: "2" },
        { operationtype: "4", opgroup: [{ groupid: "5" }] },
        { operationtype: "13", optag: [{ tag: "a", value: "" }] },
        { operationtype: "10", opinventory: { inventory_mode: "1" } },
      ],
    });
  });
  it("names conditions where a formula joins them", () => {
    const params = actionParams({ ...draft, evaltype: "3", formula: " not A " });
    expect(params).toMatchObject({
      filter: { formula: "not A", conditions: [{ formulaid: "A" }] },
    });
  });
  it.each([
    [{ name: "" }, "name"],
    [{ evaltype: "3" }, "formula"],
    [{ conditions: [newCondition("2")] }, "condition0"],
    [{ operations: [] }, "operations"],
    [{ operations: [newOperation("4")] }, "operation0"],
    [{ operations: [newOperation("6")] }, "operation0"],
    [{ operations: [newOperation("13")] }, "operation0"],
  ])("%o", (change, field) => {
    expect(Object.keys(actionProblems({ ...draft, ...change }))).toEqual([field]);
  });
});

describe("conditions in words", () => {
  const names = new Map([["rule 7", "Office"]]);
  it.each([
    [{ conditiontype: "18", operator: "1", value: "7" }, "Discovery rule is not Office"],
    [{ conditiontype: "10", operator: "0", value: "3" }, "Discovery status is lost"],
    [{ conditiontype: "7", operator: "0", value: "10.0.0.0/8" }, "Address is 10.0.0.0/8"],
  ])("%o", (condition, words) => expect(conditionWords("1", condition, names)).toBe(words));
});
