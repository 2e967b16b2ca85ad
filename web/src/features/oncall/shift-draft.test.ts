import { describe, expect, it } from "vitest";
import type { Shift } from "~/util/oncall";
import {
  choosesUser,
  keyOf,
  maySwap,
  mayTouch,
  overrideParams,
  type Rights,
  shiftDraft,
  shiftProblem,
} from "./shift-draft";
import { texts } from "./texts";

const HOUR_S = 3_600;
const NOW = 1_795_000_000;
const shift = (userid: string, from: number, to: number): Shift => ({
  scheduleid: "4",
  userid,
  from: NOW + from * HOUR_S,
  to: NOW + to * HOUR_S,
  layer: 0,
  overrideid: "0",
  isGap: userid === "0",
});
const member: Rights = { own: "1", change: false, member: true };
const admin: Rights = { ...member, change: true, member: false };
const stranger: Rights = { ...member, member: false };
const [own, other, gap] = [shift("1", 2, 9), shift("2", 9, 12), shift("0", 12, 13)];

describe("what users may do about a shift", () => {
  it.each([
    ["a member", "the own one", member, own, true, true, true],
    ["a member", "another's", member, other, true, false, false],
    ["a member", "a gap", member, gap, true, false, false],
    ["an administrator", "another's", admin, other, true, true, true],
    ["an administrator", "a gap", admin, gap, true, false, true],
    ["a stranger", "another's", stranger, other, false, false, false],
  ])("%s: %s", (_, __, rights, of, touches, swaps, chooses) => {
    expect([mayTouch(of, rights, NOW), maySwap(of, rights), choosesUser(of, rights)]).toEqual([
      touches,
      swaps,
      chooses,
    ]);
  });
  it("leaves the past as it was", () => {
    expect(mayTouch(own, admin, own.to)).toBe(false);
  });
});

describe("a change of a shift", () => {
  it("is for the rest of a shift that has begun", () => {
    const running = shift("1", -3, 4);
    const draft = { ...shiftDraft(running, "cover", member, NOW), userid: "2" };
    const { from, to } = overrideParams(draft, running, []);
    expect([from - NOW >= 0 && from - NOW < 60, to]).toEqual([true, running.to]);
    expect(shiftProblem(draft, running, member, NOW)).toBeUndefined();
  });
  it("is taking over unless the shift is the own one", () => {
    expect(shiftDraft(other, "swap", member, NOW)).toMatchObject({ kind: "cover", userid: "1" });
    expect(shiftDraft(own, "swap", member, NOW)).toMatchObject({ kind: "swap", userid: "" });
    expect(shiftDraft(gap, "swap", admin, NOW)).toMatchObject({ kind: "cover", userid: "" });
  });
  it("gives the other shift of a swap", () => {
    const draft = { ...shiftDraft(own, "swap", member, NOW), exchange: keyOf(other) };
    expect(overrideParams(draft, own, [gap, other])).toEqual({
      scheduleid: "4",
      userid: "2",
      from: own.from,
      to: own.to,
      swap: { from: other.from, to: other.to },
    });
  });
  it.each([
    [{}, texts.chooseAUser],
    [{ kind: "swap" as const }, texts.chooseAShift],
    [{ userid: "2", to: "" }, texts.chooseATime],
    [{ userid: "2", from: "2027-01-01T00:00" }, texts.chooseATime],
    [{ userid: "2", to: "2027-01-01T00:00" }, texts.notYourTime],
    [{ userid: "2", from: "2026-01-01T00:00", to: "2026-01-02T00:00" }, texts.inThePast],
  ])("%o is refused", (change, problem) => {
    const draft = { ...shiftDraft(own, "cover", member, NOW), ...change };
    expect(shiftProblem(draft, own, member, NOW)).toBe(problem);
  });
  it("may be longer for those who may change the schedule", () => {
    const draft = { ...shiftDraft(own, "cover", admin, NOW), userid: "2", to: "2027-01-01T00:00" };
    expect(shiftProblem(draft, own, admin, NOW)).toBeUndefined();
  });
});
