import { operationName, operationNeed } from "~/util/actions";
import { plural } from "~/util/format";
import { onCallWords } from "~/util/oncall";
import { formatDuration } from "~/util/time";
import type { Stage } from "./escalation";
import type { RecipientNames } from "./names";
import type { OperationDraft } from "./operation-draft";

/** Who an operation tells. */
export function recipients(operation: OperationDraft, names: RecipientNames): string[] {
  if (operationNeed(operation.type) === "involved") return ["All involved"];
  return [
    ...operation.onCall
      .filter(({ scheduleid }) => scheduleid)
      .map(({ scheduleid, who }) => onCallWords(who, names.schedule(scheduleid))),
    ...operation.userGroups.map(names.group),
    ...operation.users.map(names.user),
  ];
}

/** By what: a media type, or all that its recipients have. */
export function by(operation: OperationDraft, names: RecipientNames): string {
  if (operation.mediaType !== "0") return names.mediaType(operation.mediaType);
  return operationNeed(operation.type) === "involved" ? "the same media" : "all their media";
}

/** Which problems an operation is for, if not all. */
export function onlyIf({ acknowledged }: OperationDraft): string | undefined {
  if (acknowledged === "0") return "only while unacknowledged";
  return acknowledged === "1" ? "only if acknowledged" : undefined;
}

/** Which script runs, and on how many other hosts and groups. */
export function scriptWords(operation: OperationDraft, names: RecipientNames): string {
  const { script, currentHost, targetHosts, targetGroups } = operation;
  if (!script) return "Run a script";
  const where = [
    currentHost && "the host",
    targetHosts.length > 0 && plural(targetHosts.length, "host"),
    targetGroups.length > 0 && plural(targetGroups.length, "host group"),
  ].filter(Boolean);
  const on = where.length > 0 ? ` on ${where.join(", ")}` : "";
  return `Run ${names.script(script)}${on}`;
}

/** An operation as one text, for lists: "Ann, On call by Chat". */
export function operationWords(operation: OperationDraft, names: RecipientNames): string {
  const need = operationNeed(operation.type);
  if (need === "command") return scriptWords(operation, names);
  if (need !== "message" && need !== "involved") return operationName(operation.type);
  const who = recipients(operation, names).join(", ");
  return operation.mediaType === "0" ? who : `${who} by ${by(operation, names)}`;
}

/** When a stage begins: "At once", "After 1h". */
export function whenWords({ after }: Stage): string {
  if (after === null) return "Later";
  return after === 0 ? "At once" : `After ${formatDuration(after)}`;
}

/** Which steps: "Step 2", "Steps 2–4", "Steps from 5". */
export function stepWords({ from, to }: Stage): string {
  if (to === null) return `Steps from ${from}`;
  return from === to ? `Step ${from}` : `Steps ${from}–${to}`;
}

/** How a stage repeats; nothing for a single step. */
export function repeatWords({ from, to, every }: Stage): string | undefined {
  if (from === to) return undefined;
  const pace = every === null ? "at an interval of a macro" : `every ${formatDuration(every)}`;
  return to === null ? `${pace}, until the problem ends` : `${pace}, ${to - from + 1} times`;
}
