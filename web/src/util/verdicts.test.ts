import { describe, expect, it, test } from "vitest";
import { answerFor, byStanding, byUser, judged, standingOf } from "./verdicts";

const of = (userid: string, verdict: string, mediatypeid = "1") => ({
  userid,
  username: `user${userid}`,
  mediatypeid,
  verdict,
});
const missed = {
  name: "Night",
  enabled: "1",
  applies: "1",
  conditions: [] as unknown[],
  escalation: null as object | null,
  alertids: [] as string[],
  operations: [{ users: [of("1", "sent")] }],
};
const action = { ...missed, escalation: {} as object | null };

test.each([
  ["sent", "good", "Gets the message."],
  ["no_media", "bad", "The user has no medium for this message, so it fails."],
  ["severity", "off", "The medium does not take severity Warning."],
  ["period", "off", "Outside the active times of the medium."],
  ["toString", "off", "Unknown: toString."],
  ["later", "off", "Unknown: later."],
])("verdict %s", (word, tone, what) => {
  expect(judged(word, 2)).toMatchObject({ tone, what });
});

test("without a known severity none is named", () => {
  expect(judged("severity").what).toBe("The medium does not take the trigger's severity.");
});

test("users are grouped: who reads first, then who is notified", () => {
  const cases = [
    of("3", "no_right"),
    of("2", "sent"),
    of("1", "severity"),
    of("1", "other_media_type", "2"),
    of("2", "period", "2"),
    of("4", "other_media_type"),
  ];
  const shown = byUser(cases, "1").map((user) => user.map(({ verdict }) => verdict));
  expect(shown).toEqual([["severity"], ["sent", "period"], ["no_right"], ["other_media_type"]]);
});

test("actions at work come first", () => {
  const off = { ...missed, name: "off", enabled: "0" };
  const all = [
    { ...off, name: "off and unfit", applies: "0" },
    { ...missed, name: "unfit", applies: "0" },
    off,
    { ...missed, name: "missed" },
    { ...missed, name: "ended", alertids: ["7"] },
    { ...missed, name: "running", escalation: {} },
  ];
  expect(all.map(standingOf)).toEqual(["off", "unfit", "off", "missed", "ended", "running"]);
  const names = ["running", "ended", "missed", "off", "unfit", "off and unfit"];
  expect(byStanding(all).map(({ name }) => name)).toEqual(names);
});

describe("the answer for a user", () => {
  const whatOf = (own: string, ...actions: (typeof action)[]) => answerFor(own, actions, 3).what;
  it("names the actions whose messages the user gets", () => {
    expect(whatOf("1", action, { ...action, name: "Day" })).toBe(
      "You get messages of: Night, Day.",
    );
  });
  it("does not count actions that do not apply", () => {
    const unfit = { ...missed, applies: "0" };
    const off = { ...missed, enabled: "0" };
    expect(whatOf("1", unfit, off)).toMatch(/^No action applies/);
    // Conditions that were met at first count until the end.
    expect(whatOf("1", { ...unfit, escalation: {} })).toBe("You get messages of: Night.");
  });
  it("does not promise messages without an escalation", () => {
    expect(answerFor("1", [missed], 3)).toMatchObject({
      tone: "warn",
      what: "You get no messages: no escalation is running of Night.",
    });
    expect(whatOf("1", missed, { ...action, name: "Day" })).toBe("You get messages of: Day.");
    const silent = { ...missed, operations: [{ users: [of("1", "period")] }] };
    expect(whatOf("1", silent)).toMatch(/Outside the active times/);
  });
  it("gives each reason once", () => {
    const users = [of("1", "severity"), of("1", "severity", "2"), of("2", "sent")];
    const silent = { ...action, operations: [{ users }, { users }] };
    expect(answerFor("1", [silent], 3)).toEqual({
      tone: "off",
      what: "You get no messages. The medium does not take severity Average.",
      todo: "Select the severity in the medium of the user.",
    });
  });
  it("says that no operation names the user", () => {
    expect(whatOf("9", action)).toMatch(/no operation names you/);
  });
});
