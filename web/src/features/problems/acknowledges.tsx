import { ACTION, type Acknowledge } from "~/api/events";
import { severityName, toSeverity } from "~/util/severity";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

/** What an update did, in words. */
export function actionWords(entry: Acknowledge): string[] {
  const bits = Number(entry.action);
  const words: string[] = [];
  if (bits & ACTION.close) words.push(texts.closedTheProblem);
  if (bits & ACTION.acknowledge) words.push("acknowledged");
  if (bits & ACTION.unacknowledge) words.push(texts.unacknowledgedTheProblem);
  if (bits & ACTION.severity) {
    const from = severityName(toSeverity(entry.old_severity));
    words.push(texts.changedSeverityFromTo(from, severityName(toSeverity(entry.new_severity))));
  }
  if (bits & ACTION.suppress) words.push("suppressed");
  if (bits & ACTION.unsuppress) words.push("unsuppressed");
  if (bits & 128) words.push(texts.convertedToCause);
  if (bits & 256) words.push(texts.convertedToSymptom);
  if (words.length === 0 && bits & ACTION.message) words.push("wrote");
  return words;
}

/** Messages and actions, the newest first. */
export function History({ entries }: { entries: readonly Acknowledge[] }) {
  if (entries.length === 0) {
    return <p className="text-soft">{texts.noMessagesOrActions}</p>;
  }
  return (
    <ol className="flex flex-col gap-3">
      {entries.map((entry) => {
        const name =
          [entry.name, entry.surname].filter(Boolean).join(" ") || entry.username || "Unknown user";
        return (
          <li key={entry.acknowledgeid} className="border-l-2 pl-3">
            <p className="text-xs text-soft">
              <span className="font-medium text-ink">{name}</span> {actionWords(entry).join(", ")}
              <span className="text-faint"> · {formatClock(Number(entry.clock))}</span>
            </p>
            {entry.message && (
              <p className="mt-0.5 break-words whitespace-pre-wrap">{entry.message}</p>
            )}
          </li>
        );
      })}
    </ol>
  );
}
