import { describe, expect, it } from "vitest";
import { learntWords } from "./learnt";

describe("what was learnt about a trigger", () => {
  const calm = { flapping: "0", changes: "0", until: "0" };
  const learnt = { problems: "12", within: "180", typical: "95", share: "92", ...calm };
  it.each([
    [{}, "92 % of its problems end within 3m, of 12 ended problems."],
    [
      { share: "50" },
      "Its problems do not usually end soon: 50 % within 3m, of 12 ended problems.",
    ],
    [{ problems: "1", within: "0" }, "Too few problems to learn from: 1 ended problem."],
    [{ problems: "0", within: "0" }, "Too few problems to learn from: 0 ended problems."],
  ])("%o", (change, line) => {
    expect(learntWords({ ...learnt, ...change }).lines[0]).toBe(line);
  });
  it("has no typical duration without problems", () => {
    expect(learntWords(learnt).lines[1]).toBe("Typical duration: 1m 35s.");
    expect(learntWords({ ...learnt, typical: "0" }).lines).toHaveLength(1);
  });
  it("knows flapping only if the server says so", () => {
    expect(learntWords(learnt).flapping).toBeUndefined();
    const flaps = { flapping: "1", changes: "7", until: "1800000000" };
    expect(learntWords({ ...learnt, ...flaps }).flapping).toEqual({
      changes: 7,
      until: 1_800_000_000,
    });
  });
});
