import { expect, test } from "vitest";
import { Propagation } from "~/util/services";
import { NEW_RULE, serviceDraft, serviceParams, serviceProblems } from "./draft";

const draft = { ...serviceDraft(null, "7"), name: "Shop" };

test("a new service is sent below its parent", () => {
  expect(serviceProblems(draft)).toEqual({});
  expect(serviceParams(draft)).toEqual({
    name: "Shop",
    description: "",
    sortorder: "0",
    weight: "0",
    algorithm: "2",
    propagation_rule: "0",
    propagation_value: "0",
    tags: [],
    problem_tags: [],
    status_rules: [],
    parents: [{ serviceid: "7" }],
    children: [],
  });
});

test("the value of the propagation belongs to its rule", () => {
  const value = (propagation: string) =>
    serviceParams({ ...draft, propagation, by: "2", fixed: "4" }).propagation_value;
  expect(value(Propagation.Increase)).toBe("2");
  expect(value(Propagation.Fixed)).toBe("4");
  expect(value(Propagation.Ignore)).toBe("0");
});

test("limits of rules are percentages or numbers", () => {
  const rules = [
    { ...NEW_RULE, type: "1", limit_value: "101" },
    { ...NEW_RULE, type: "4", limit_value: "101" },
    { ...NEW_RULE, limit_value: "0" },
  ];
  expect(Object.keys(serviceProblems({ ...draft, rules }))).toEqual(["rule0", "rule2"]);
});

test("a service has problem tags or children", () => {
  const problemTags = [{ tag: "scope", operator: "0", value: "" }];
  expect(serviceProblems({ ...draft, problemTags })).toEqual({});
  const both = { ...draft, problemTags, children: ["8"] };
  expect(serviceProblems(both)).toHaveProperty("problemTags");
});

test("a service cannot be above and below another", () => {
  expect(serviceProblems({ ...draft, children: ["7"] })).toHaveProperty("children");
});
