import { expect, test } from "vitest";
import { nextWords } from "./escalations";

const one = { waits_for: "step", until: "1000", pauses: [] as string[], stopped: "" };

test.each([
  [one, 700, "In 5m"],
  [one, 1_000, "Due now"],
  [{ ...one, until: "0" }, 700, "Next, at an unknown time"],
  [{ ...one, waits_for: "recovery", until: "0" }, 700, "No further steps before the end"],
  [
    { ...one, waits_for: "pause", until: "0", pauses: ["symptom"] },
    700,
    "Paused while the problem is a symptom",
  ],
  [
    { ...one, waits_for: "pause", pauses: ["suppressed", "dependency"] },
    940,
    "Paused while the problem is suppressed and a trigger that its trigger depends on has a problem, for 1m",
  ],
  [{ ...one, pauses: ["clock"] }, 2_000, "Paused while clock"],
  [{ ...one, waits_for: "pause", until: "0" }, 700, "Paused"],
  [{ ...one, stopped: "trigger is disabled" }, 700, "Will be cancelled: trigger is disabled"],
])("%o at %i", (escalation, now, words) => {
  expect(nextWords(escalation, now)).toBe(words);
});
