import { describe, expect, it } from "vitest";
import type { Action } from "~/api/actions";
import { conditionWords } from "~/util/actions";
import { actionDraft, actionParams, actionProblems, newCondition } from "./draft";
import { newOperation, nextStep } from "./operation-draft";

const agents = {
  ...actionDraft(null, "2"),
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
const problems = {
  ...actionDraft(null, "0"),
  name: "Problems",
  operations: [{ ...newOperation("0"), users: ["3"] }],
};

describe("an action's draft", () => {
  it("gives each operation what it needs", () => {
    expect(actionParams(agents, "2")).toEqual({
      name: "Linux",
      status: "0",
      filter: {
        evaltype: "0",
        formula: undefined,
        conditions: [{ conditiontype: "24", operator: "2", value: "linux" }],
      },
      operations: [
        { operationtype: "2" },
        { operationtype: "4", opgroup: [{ groupid: "5" }] },
        { operationtype: "13", optag: [{ tag: "a", value: "" }] },
        { operationtype: "10", opinventory: { inventory_mode: "1" } },
      ],
    });
  });
  it("tells the end and changes to all involved at first", () => {
    expect(actionParams(problems, "0")).toMatchObject({
      esc_period: "1h",
      pause_suppressed: "1",
      operations: [
        {
          operationtype: "0",
          esc_period: "0",
          esc_step_from: "1",
          esc_step_to: "1",
          opconditions: [],
          opmessage: { default_msg: "1", mediatypeid: "0" },
          opmessage_usr: [{ userid: "3" }],
        },
      ],
      recovery_operations: [{ operationtype: "11", opmessage: { default_msg: "1" } }],
      update_operations: [{ operationtype: "12", opmessage: { default_msg: "1" } }],
    });
    expect(actionParams({ ...problems }, "3")).not.toHaveProperty("update_operations");
    expect(actionParams({ ...problems }, "3")).not.toHaveProperty("pause_suppressed");
  });
  it("keeps what the form does not edit", () => {
    const stored = {
      operationtype: "1",
      esc_period: "2m",
      esc_step_from: "2",
      esc_step_to: "0",
      evaltype: "1",
      opconditions: ["0", "1"].map((value) => ({ conditiontype: "14", operator: "0", value })),
      opcommand: { scriptid: "9" },
      opcommand_hst: [{ hostid: "0" }],
      opcommand_grp: [{ groupid: "4" }],
    };
    const action = {
      ...problems,
      filter: { evaltype: "0", formula: "", eval_formula: "", conditions: [] },
      esc_period: "1h",
      operations: [stored],
      recovery_operations: [],
      update_operations: [],
    } as unknown as Action;
    expect(actionParams(actionDraft(action, "0"), "0").operations).toEqual([stored]);
  });
  it("runs a script where it is told to", () => {
    const run = { ...newOperation("1"), script: "9" };
    const operation = (next: Partial<typeof run>, source: "0" | "4" = "0") => {
      const draft = { ...problems, operations: [{ ...run, ...next }] };
      return {
        wrong: actionProblems(draft, source).operations0,
        sent: (actionParams(draft, source).operations as Record<string, unknown>[])[0],
      };
    };
    expect(operation({ targetHosts: ["7"] }).sent).toMatchObject({
      opcommand: { scriptid: "9" },
      opcommand_hst: [{ hostid: "0" }, { hostid: "7" }],
      opcommand_grp: undefined,
    });
    expect(operation({ script: "" }).wrong).toBe("Choose a script.");
    expect(operation({ currentHost: false }).wrong).toBe("Choose where the script runs.");
    expect(operation({ currentHost: false, targetGroups: ["4"] }).wrong).toBeUndefined();
    const service = operation({ currentHost: true }, "4");
    expect(service.wrong).toBeUndefined();
    expect(service.sent).toMatchObject({ opcommand: { scriptid: "9" } });
    expect(service.sent).not.toHaveProperty("opcommand_hst");
  });
  it("names conditions where a formula joins them", () => {
    const params = actionParams({ ...agents, evaltype: "3", formula: " not A " }, "2");
    expect(params).toMatchObject({
      filter: { formula: "not A", conditions: [{ formulaid: "A" }] },
    });
  });
  it("gives conditions only the values that they have", () => {
    const conditions = [
      { conditiontype: "16", operator: "11", value: "" },
      { conditiontype: "26", operator: "0", value: "", value2: "scope" },
    ];
    expect(actionProblems({ ...problems, conditions }, "0")).toEqual({});
    expect(actionParams({ ...problems, conditions }, "0")).toMatchObject({
      filter: {
        conditions: [
          { conditiontype: "16", value: undefined },
          { value: "", value2: "scope" },
        ],
      },
    });
  });
  it("continues after the last step", () => {
    expect(nextStep([])).toBe("1");
    expect(nextStep([{ ...newOperation("0"), from: "2", to: "4" }])).toBe("5");
  });
  it.each([
    [{ name: "" }, "name"],
    [{ evaltype: "3" }, "formula"],
    [{ conditions: [newCondition("2")] }, "condition0"],
    [{ operations: [] }, "operations"],
    [{ operations: [newOperation("4")] }, "operations0"],
    [{ operations: [newOperation("6")] }, "operations0"],
    [{ operations: [newOperation("13")] }, "operations0"],
  ])("of agents: %o", (change, field) => {
    expect(Object.keys(actionProblems({ ...agents, ...change }, "2"))).toEqual([field]);
  });
  const message = problems.operations[0] ?? newOperation("0");
  it.each([
    [{ period: "10s" }, "period"],
    [{ conditions: [newCondition("0", "26")] }, "condition0"],
    [{ operations: [newOperation("0")] }, "operations0"],
    [{ operations: [{ ...message, from: "0" }] }, "operations0"],
    [{ operations: [{ ...message, from: "3", to: "2" }] }, "operations0"],
    [{ operations: [{ ...message, period: "1s" }] }, "operations0"],
    [{ operations: [{ ...message, ownText: true }] }, "operations0"],
    [{ recoveries: [newOperation("0")] }, "recoveries0"],
    [{ operations: [], recoveries: [], updates: [] }, "operations"],
  ])("of problems: %o", (change, field) => {
    expect(Object.keys(actionProblems({ ...problems, ...change }, "0"))).toEqual([field]);
  });
});

describe("conditions in words", () => {
  const names = new Map([
    ["rule 7", "Office"],
    ["group 4", "Shop"],
  ]);
  it.each([
    ["1", { conditiontype: "18", operator: "1", value: "7" }, "Discovery rule is not Office"],
    ["1", { conditiontype: "10", operator: "0", value: "3" }, "Discovery status is lost"],
    ["1", { conditiontype: "7", operator: "0", value: "10.0.0.0/8" }, "Address is 10.0.0.0/8"],
    ["0", { conditiontype: "0", operator: "0", value: "4" }, "Host group is Shop"],
    [
      "0",
      { conditiontype: "4", operator: "5", value: "3" },
      "Trigger severity is at least Average",
    ],
    ["0", { conditiontype: "16", operator: "11", value: "" }, "Problem is suppressed: no"],
    [
      "0",
      { conditiontype: "26", operator: "2", value: "db", value2: "scope" },
      "Value of tag scope contains db",
    ],
    ["4", { conditiontype: "28", operator: "3", value: "x" }, "Service name does not contain x"],
    [
      "3",
      { conditiontype: "23", operator: "0", value: "2" },
      "Event type is discovery rule is not supported",
    ],
    ["2", { conditiontype: "20", operator: "0", value: "5" }, "Condition 20 is 5"],
  ] as const)("%s %o", (source, condition, words) =>
    expect(conditionWords(source, condition, names)).toBe(words),
  );
});
