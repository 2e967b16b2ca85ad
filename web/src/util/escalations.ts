import { formatDuration } from "./time";

interface Waiting {
  waits_for: string;
  until: string;
  pauses: readonly string[];
  stopped: string;
}

const PAUSES: Record<string, string> = {
  suppressed: "the problem is suppressed",
  symptom: "the problem is a symptom",
  inhibited: "a related, more severe problem is open",
  transient: "the problem may end by itself soon",
  flapping: "the trigger is flapping",
  dependency: "a trigger that its trigger depends on has a problem",
};

/** When an escalation goes on, in words. What is unknown is never shown as planned. */
export function nextWords({ waits_for, until, pauses, stopped }: Waiting, now: number): string {
  const at = Number(until);
  if (stopped) return `Will be cancelled: ${stopped}`;
  if (waits_for === "pause" || pauses.length > 0) {
    const why = pauses.map((pause) => PAUSES[pause] ?? pause).join(" and ");
    const paused = why ? `Paused while ${why}` : "Paused";
    return at > now ? `${paused}, for ${formatDuration(at - now)}` : paused;
  }
  if (waits_for === "recovery") return "No further steps before the end";
  if (!(at > 0)) return "Next, at an unknown time";
  return at > now ? `In ${formatDuration(at - now)}` : "Due now";
}
