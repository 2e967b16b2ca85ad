import { expect, test } from "vitest";
import { newCorrelationCondition } from "~/util/correlation";
import { closesAnyOld, correlationDraft, correlationParams, correlationProblems } from "./draft";

const pair = { ...newCorrelationCondition("3"), oldtag: "app", newtag: "app" };
const draft = { ...correlationDraft(null), name: "Up again", conditions: [pair] };

test("conditions are sent with the members of their type", () => {
  const conditions = [
    pair,
    { ...newCorrelationCondition("2"), operator: "1", groupid: "4" },
    { ...newCorrelationCondition("5"), tag: "state", value: "up", operator: "2" },
  ];
  expect(correlationProblems({ ...draft, conditions })).toEqual({});
  expect(correlationParams({ ...draft, conditions })).toEqual({
    name: "Up again",
    description: "",
    status: "0",
    filter: {
      evaltype: "0",
      conditions: [
        { type: "3", oldtag: "app", newtag: "app" },
        { type: "2", operator: "1", groupid: "4" },
        { type: "5", tag: "state", operator: "2", value: "up" },
      ],
    },
    operations: [{ type: "0" }],
  });
});

test("a formula names its conditions", () => {
  const params = correlationParams({ ...draft, evaltype: "3", formula: " A " });
  expect(params.filter).toEqual({
    evaltype: "3",
    formula: "A",
    conditions: [{ type: "3", oldtag: "app", newtag: "app", formulaid: "A" }],
  });
});

test("what is missing is named by its field", () => {
  const wrong = { ...draft, conditions: [newCorrelationCondition()], closeOld: false };
  expect(correlationProblems(wrong)).toEqual({
    condition0: "Complete condition A.",
    operations: "Choose at least one operation.",
  });
});

test("closing old problems of any kind is noticed", () => {
  expect(closesAnyOld(draft)).toBe(false);
  const about = { ...newCorrelationCondition("1"), tag: "state" };
  expect(closesAnyOld({ ...draft, conditions: [about] })).toBe(true);
  expect(closesAnyOld({ ...draft, conditions: [about], closeOld: false })).toBe(false);
});
