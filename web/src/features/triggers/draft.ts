import type { Members } from "~/api/methods";
import { CorrelationMode, Discover, ProblemMode, RecoveryMode, Status } from "~/api/schema";
import type { ConfigTrigger } from "~/api/trigger-config";
import { checkExpression } from "~/util/expression";
import { oneOf } from "~/util/one-of";
import { type Tag, tagParams } from "~/util/tags";

/** A trigger as the form holds it. */
export interface TriggerDraft {
  name: string;
  eventName: string;
  opdata: string;
  severity: string;
  expression: string;
  /** 0 when the expression is no longer true, 1 by the recovery expression, 2 never by itself. */
  recoveryMode: string;
  recovery: string;
  multiple: boolean;
  correlationTag: string;
  correlate: boolean;
  manualClose: boolean;
  url: string;
  urlName: string;
  comments: string;
  enabled: boolean;
  discover: boolean;
  tags: Tag[];
  dependencies: string[];
}

export function draftOf(trigger: ConfigTrigger | null): TriggerDraft {
  return {
    name: trigger?.description ?? "",
    eventName: trigger?.event_name ?? "",
    opdata: trigger?.opdata ?? "",
    severity: trigger?.priority ?? "3",
    expression: trigger?.expression ?? "",
    recoveryMode: trigger?.recovery_mode ?? "0",
    recovery: trigger?.recovery_expression ?? "",
    multiple: trigger?.type === ProblemMode.Multiple,
    correlate: trigger?.correlation_mode === CorrelationMode.ByTag,
    correlationTag: trigger?.correlation_tag ?? "",
    manualClose: trigger?.manual_close === "1",
    url: trigger?.url ?? "",
    urlName: trigger?.url_name ?? "",
    comments: trigger?.comments ?? "",
    enabled: trigger?.status !== Status.Disabled,
    discover: trigger?.discover !== Discover.No,
    tags: trigger?.tags ?? [],
    dependencies: trigger?.dependencies.map((other) => other.triggerid) ?? [],
  };
}

/** What is wrong with a draft, by field. */
export function problemsOf(draft: TriggerDraft): Record<string, string> {
  const problems: Record<string, string> = {};
  if (!draft.name.trim()) problems.name = "Enter a name.";
  if (!draft.expression.trim()) problems.expression = "Enter an expression.";
  const problem = checkExpression(draft.expression).problem;
  if (problem) problems.expression = problem.what;
  if (draft.recoveryMode === RecoveryMode.RecoveryExpression) {
    if (!draft.recovery.trim()) problems.recovery = "Enter a recovery expression.";
    const other = checkExpression(draft.recovery).problem;
    if (other) problems.recovery = other.what;
  }
  if (draft.correlate && !draft.correlationTag.trim()) {
    problems.correlationTag = "Enter the tag for matching.";
  }
  return problems;
}

/** The draft as the create and update methods take it. */
export function triggerParams(
  draft: TriggerDraft,
  inherited: boolean,
  prototype: boolean,
): Members<"trigger" | "triggerprototype"> {
  const own = {
    priority: oneOf(draft.severity, ["0", "1", "2", "3", "4", "5"]),
    status: draft.enabled ? "0" : "1",
    comments: draft.comments,
    url: draft.url.trim(),
    url_name: draft.urlName.trim(),
    tags: tagParams(draft.tags),
    dependencies: draft.dependencies.map((triggerid) => ({ triggerid })),
    discover: prototype ? (draft.discover ? "0" : "1") : undefined,
  } satisfies Members<"triggerprototype">;
  if (inherited) return own;
  const correlate = draft.correlate && draft.recoveryMode !== RecoveryMode.None;
  return {
    ...own,
    description: draft.name.trim(),
    event_name: draft.eventName.trim(),
    opdata: draft.opdata.trim(),
    expression: draft.expression.trim(),
    recovery_mode: oneOf(draft.recoveryMode, ["0", "1", "2"]),
    recovery_expression:
      draft.recoveryMode === RecoveryMode.RecoveryExpression ? draft.recovery.trim() : "",
    type: draft.multiple ? "1" : "0",
    correlation_mode: correlate ? "1" : "0",
    correlation_tag: correlate ? draft.correlationTag.trim() : "",
    manual_close: draft.manualClose ? "1" : "0",
  };
}
