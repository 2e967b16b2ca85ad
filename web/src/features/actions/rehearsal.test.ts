import { expect, test } from "vitest";
import type { Rehearsal, RehearsedUser } from "~/api/rehearsals";
import {
  busiestWords,
  byMessages,
  gapWords,
  isCut,
  nobodyWords,
  problemWords,
  stepWords,
  stoppedWords,
  withheldWords,
} from "./rehearsal";

const rehearsal: Rehearsal = {
  time_from: "0",
  time_till: "100",
  problems: "20",
  fitting: "6",
  stopped_at: "0",
  users: [],
  messages: [],
};
const user: RehearsedUser = {
  userid: "1",
  username: "ann",
  messages: "9",
  at_night: "4",
  busiest_hour: { clock: "3600", messages: "5" },
  failed: "0",
  withheld: [{ reason: "period", messages: "1200" }],
  sent: "12",
};

test.each([
  [{}, "20 problems, of which 6 meet the conditions."],
  [{ problems: "1", fitting: "1" }, "1 problem, of which 1 meets the conditions."],
  [{ problems: "0", fitting: "0" }, "There were no problems in this time range."],
])("problems %o", (change, words) => {
  expect(problemWords({ ...rehearsal, ...change })).toBe(words);
});

test("nobody would have been notified for a reason", () => {
  expect(nobodyWords(rehearsal)).toMatch(/no messages to users whom/);
  expect(nobodyWords({ ...rehearsal, fitting: "0" })).toMatch(/No problem meets/);
});

test("a rehearsal that stopped early says so", () => {
  expect(stoppedWords(rehearsal)).toBeUndefined();
  expect(stoppedWords({ ...rehearsal, stopped_at: "100" })).toMatch(/Only those until 1970-01-01/);
});

test("users with most messages come first, failed ones too", () => {
  const failing = { ...user, username: "bea", messages: "0", failed: "10" };
  const quiet = { ...user, username: "aaron", messages: "0" };
  const names = byMessages([quiet, user, failing]).map(({ username }) => username);
  expect(names).toEqual(["bea", "ann", "aaron"]);
});

test("figures of a user", () => {
  expect(busiestWords(user)).toMatch(/^5 from 1970-01-01 \d\d:00$/);
  expect(busiestWords({ ...user, busiest_hour: { clock: "0", messages: "0" } })).toBe("");
  expect(withheldWords(user)).toEqual(["1\u202f200: Outside the active times of the medium."]);
  const withheld = ["grouped", "storm", "inhibited", "transient", "flapping"].map((reason) => ({
    reason,
    messages: "2",
  }));
  expect(withheldWords({ ...user, withheld }).filter((words) => /Unknown/.test(words))).toEqual([]);
});

test("messages are about a step, the end or an update", () => {
  const message = { mode: "problem", step: "2" } as Rehearsal["messages"][number];
  const modes = ["problem", "recovery", "update"];
  const words = modes.map((mode) => stepWords({ ...message, mode }));
  expect(words).toEqual(["Step 2", "Recovery", "Update"]);
  expect(stepWords({ ...message, tells: "3" })).toBe("Summary of 3 messages");
  expect(isCut(rehearsal)).toBe(false);
  expect(isCut({ ...rehearsal, messages: Array(1000).fill(message) })).toBe(true);
});

test("messages that reach nobody are counted by schedule", () => {
  expect(gapWords(rehearsal)).toEqual([]);
  expect(gapWords({ ...rehearsal, gaps: [{ name: "Linux", messages: "12" }] })).toEqual([
    "12 messages to nobody: nobody is on call in Linux.",
  ]);
});
