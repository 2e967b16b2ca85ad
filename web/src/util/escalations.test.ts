import { expect, test } from "vitest";
import { nextWords } from "./escalations";

const one = { next_step: "2", nextcheck: "1000", paused: "" };

test.each([
  [one, 700, "In 5m"],
  [one, 1_000, "Due now"],
  [{ ...one, nextcheck: "0" }, 700, "Next, at an unknown time"],
  [{ ...one, next_step: "0" }, 700, "No further steps before the end"],
  [{ ...one, paused: "symptom", nextcheck: "0" }, 700, "Paused while the problem is a symptom"],
  [{ ...one, paused: "suppressed" }, 940, "Paused while the problem is suppressed, for 1m"],
  [{ ...one, paused: "clock" }, 2_000, "Paused: clock"],
])("%o at %i", (escalation, now, words) => {
  expect(nextWords(escalation, now)).toBe(words);
});
