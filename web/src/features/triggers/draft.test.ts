import { describe, expect, it } from "vitest";
import { draftOf, problemsOf, type TriggerDraft, triggerParams } from "./draft";

const draft = (more: Partial<TriggerDraft> = {}): TriggerDraft => ({
  ...draftOf(null),
  name: "Load is high",
  expression: "last(/web/load)>5",
  ...more,
});

describe("problemsOf", () => {
  const cases: [Partial<TriggerDraft>, string[]][] = [
    [{}, []],
    [{ name: " " }, ["name"]],
    [{ expression: "" }, ["expression"]],
    [{ expression: "last(/web/load" }, ["expression"]],
    [{ recoveryMode: "1" }, ["recovery"]],
    [{ recoveryMode: "1", recovery: "last(/web/load)<" }, ["recovery"]],
    [{ recoveryMode: "0", recovery: "nonsense" }, []],
    [{ correlate: true }, ["correlationTag"]],
  ];
  it.each(cases)("%j", (more, fields) => {
    expect(Object.keys(problemsOf(draft(more)))).toEqual(fields);
  });
});

describe("triggerParams", () => {
  it("clears what the chosen mode has no use for", () => {
    const params = triggerParams(draft({ recovery: "last(/web/load)<1" }), false, false);
    expect(params).toMatchObject({ recovery_expression: "", correlation_tag: "" });
    expect(params).toMatchObject({ discover: undefined });
  });
  it("leaves alone what a template decides", () => {
    const params = triggerParams(draft({ dependencies: ["7"] }), true, true);
    expect(params).not.toHaveProperty("expression");
    expect(params).toMatchObject({ dependencies: [{ triggerid: "7" }], discover: "0" });
  });
});
