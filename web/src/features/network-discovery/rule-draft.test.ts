import { describe, expect, it } from "vitest";
import { newCheck, ruleDraft, ruleParams, ruleProblems, withoutCheck } from "./rule-draft";

const draft = {
  ...ruleDraft(null),
  name: "net",
  checks: [newCheck("12"), newCheck("9"), newCheck("4")],
  unique: "1",
  host: "1",
  visible: "ip",
};

describe("a rule's draft", () => {
  it("says which check names hosts and tells them apart", () => {
    const checks = (ruleParams(draft) as { dchecks: Record<string, string>[] }).dchecks;
    expect(checks.map((c) => [c.uniq, c.host_source, c.name_source])).toEqual([
      ["0", "1", "2"],
      ["1", "3", "2"],
      ["0", "1", "2"],
    ]);
  });
  it("reads back what it wrote", () => {
    const rule = { ...ruleParams(draft), druleid: "1", error: "", dhosts: "0" };
    const again = ruleDraft({ ...rule, concurrency_max: "0" } as never);
    expect([again.unique, again.host, again.visible]).toEqual(["1", "1", "ip"]);
  });
  it("decides otherwise when the check goes", () => {
    const less = withoutCheck(draft, 1);
    expect([less.checks.length, less.unique, less.host]).toEqual([2, "ip", "dns"]);
    expect(withoutCheck(draft, 0).unique).toBe("0");
    expect(withoutCheck(draft, 2).unique).toBe("1");
  });
  it.each([
    [{ name: " " }, "name"],
    [{ iprange: "x" }, "iprange"],
    [{ delay: "often" }, "delay"],
    [{ concurrency: "1000" }, "concurrency"],
    [{ checks: [] }, "checks"],
    [{ checks: [{ ...newCheck("8"), ports: "" }] }, "check0"],
    [{ checks: [{ ...newCheck("9"), key_: " " }] }, "check0"],
  ])("%o", (change, field) => {
    expect(Object.keys(ruleProblems({ ...draft, ...change }))).toEqual([field]);
  });
});
