import { formatDuration } from "./time";

interface Waiting {
  next_step: string;
  nextcheck: string;
  paused: string;
}

const PAUSES: Record<string, string> = {
  suppressed: "Paused while the problem is suppressed",
  symptom: "Paused while the problem is a symptom",
};

/** When an escalation goes on, in words. What is unknown is never shown as planned. */
export function nextWords(escalation: Waiting, now: number): string {
  const { next_step, nextcheck, paused } = escalation;
  const at = Number(nextcheck);
  if (paused) {
    const why = PAUSES[paused] ?? `Paused: ${paused}`;
    return at > now ? `${why}, for ${formatDuration(at - now)}` : why;
  }
  if (next_step === "0") return "No further steps before the end";
  if (!(at > 0)) return "Next, at an unknown time";
  return at > now ? `In ${formatDuration(at - now)}` : "Due now";
}
