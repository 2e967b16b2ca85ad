import type { Rehearsal, RehearsedMessage, RehearsedUser } from "~/api/rehearsals";
import { formatCount, plural } from "~/util/format";
import { formatClock } from "~/util/time";
import { judged } from "~/util/verdicts";

const DAY_S = 86_400;

/** Time ranges to choose from: id, name, seconds before now. */
export const SPANS = [
  ["day", "Last day", DAY_S],
  ["week", "Last 7 days", 7 * DAY_S],
  ["month", "Last 30 days", 30 * DAY_S],
] as const;

export type SpanId = (typeof SPANS)[number][0];

/** Messages that the server lists at most. */
const LISTED_MAX = 1_000;

/** What was looked at: "1 234 problems, of which 56 meet the conditions". */
export function problemWords({ problems, fitting }: Rehearsal): string {
  const all = Number(problems);
  if (all === 0) return "There were no problems in this time range.";
  const fit = Number(fitting);
  const verb = fit === 1 ? "meets" : "meet";
  return `${plural(all, "problem")}, of which ${formatCount(fit)} ${verb} the conditions.`;
}

/** Why there are no messages for anybody. */
export function nobodyWords({ fitting }: Rehearsal): string {
  return Number(fitting) === 0
    ? "No problem meets the conditions, so nobody would have been notified."
    : "The action would have sent no messages to users whom you can view.";
}

/** Where the rehearsal stopped; nothing if all counts. */
export function stoppedWords({ stopped_at }: Rehearsal): string | undefined {
  const at = Number(stopped_at);
  if (!(at > 0)) return undefined;
  return `The time range has too many problems or messages. Only those until ${formatClock(at)} count. Choose a shorter range, or longer steps.`;
}

/** Messages that reach nobody, by schedule. */
export const gapWords = ({ gaps = [] }: Rehearsal): string[] =>
  gaps.map(
    ({ name, messages }) =>
      `${plural(Number(messages), "message")} to nobody: nobody is on call in ${name}.`,
  );

/** Users with most messages first; failed ones count too. */
export function byMessages(users: readonly RehearsedUser[]): RehearsedUser[] {
  const all = ({ messages, failed }: RehearsedUser) => Number(messages) + Number(failed);
  return [...users].sort((a, b) => all(b) - all(a) || a.username.localeCompare(b.username));
}

/** The busiest hour and its messages; nothing for users without messages. */
export function busiestWords({ busiest_hour }: RehearsedUser): string {
  const { clock, messages } = busiest_hour;
  if (messages === "0") return "";
  return `${formatCount(Number(messages))} from ${formatClock(Number(clock), "minute")}`;
}

/** Messages that were not sent by themselves, by reason: "9: Outside the active times of the medium." */
export const withheldWords = ({ withheld }: RehearsedUser): string[] =>
  withheld.map(
    ({ reason, messages }) => `${formatCount(Number(messages))}: ${judged(reason).what}`,
  );

/** What a message is about. */
export function stepWords({ mode, step, tells = "0" }: RehearsedMessage): string {
  if (tells !== "0") return `Summary of ${plural(Number(tells), "message")}`;
  if (mode === "recovery") return "Recovery";
  return mode === "update" ? "Update" : `Step ${step}`;
}

/** Whether there were more messages than the server lists. */
export const isCut = ({ messages }: Rehearsal) => messages.length >= LISTED_MAX;
