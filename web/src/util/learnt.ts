import { plural } from "./format";
import { formatDuration } from "./time";

interface Learnt {
  problems: string;
  within: string;
  typical: string;
  share: string;
  flapping: string;
  changes: string;
  until: string;
}

/** Per cent of the problems that must end within a time before messages wait for it. */
const MOST = 80;

/** What was learnt about a trigger, in sentences. */
export function learntWords({ problems, within, typical, share, ...now }: Learnt) {
  const lines: string[] = [];
  const last = plural(Number(problems), "ended problem");
  const time = formatDuration(Number(within));
  if (Number(within) === 0) lines.push(`Too few problems to learn from: ${last}.`);
  else if (Number(share) < MOST)
    lines.push(`Its problems do not usually end soon: ${share} % within ${time}, of ${last}.`);
  else lines.push(`${share} % of its problems end within ${time}, of ${last}.`);
  if (Number(typical) > 0) lines.push(`Typical duration: ${formatDuration(Number(typical))}.`);
  const flapping = { changes: Number(now.changes), until: Number(now.until) };
  return { flapping: now.flapping === "1" ? flapping : undefined, lines };
}
