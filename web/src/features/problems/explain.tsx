import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useId, useState } from "react";
import { type ExplainedAction, explanationQuery } from "~/api/explanations";
import { allows, session } from "~/api/session-store";
import { QueryError, StaleError } from "~/shared/fallback";
import { Button, buttonClass } from "~/ui/button";
import { Dot } from "~/ui/severity";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatCount } from "~/util/format";
import type { Severity } from "~/util/severity";
import { formatClock } from "~/util/time";
import { answerFor, byStanding } from "~/util/verdicts";
import { ExplainedActionCard } from "./explain-action";
import { texts } from "./texts";

/** Actions before "Show all". */
const SHORT = 10;

const mayEditActions = () => (session()?.type ?? 0) >= 2 && allows("configuration.trigger_actions");

function NoActions() {
  return (
    <Empty
      icon="play"
      title={texts.noActions}
      className="py-6!"
      action={
        mayEditActions() && (
          <Link to="/actions/new" search={{}} className={buttonClass("plain", true)}>
            {texts.createAction}
          </Link>
        )
      }
    >
      {texts.withoutActions}
    </Empty>
  );
}

interface AnswerProps {
  actions: readonly ExplainedAction[];
  severity: Severity | undefined;
}

/** The answer for the signed-in user. */
function Answer({ actions, severity }: AnswerProps) {
  const { tone, what, todo } = answerFor(session()?.userid ?? "", actions, severity);
  return (
    <div className="flex gap-2 rounded-md bg-sunken px-3 py-2">
      <span className="pt-0.5">
        <Dot tone={tone} />
      </span>
      <div className="min-w-0">
        <p className="font-medium break-words">{what}</p>
        {todo && <p className="break-words text-soft">{todo}</p>}
      </div>
    </div>
  );
}

interface ExplanationProps {
  eventid: string;
  severity: Severity | undefined;
}

function Explanation({ eventid, severity }: ExplanationProps) {
  const query = useQuery(explanationQuery(eventid));
  const { data, error, refetch } = query;
  const [all, setAll] = useState(false);
  if (!data)
    return error ? (
      <QueryError error={error} onRetry={() => void refetch()} />
    ) : (
      <SkeletonRows rows={3} />
    );
  if (data.actions.length === 0) return <NoActions />;
  const sorted = byStanding(data.actions);
  const shown = all ? sorted : sorted.slice(0, SHORT);
  return (
    <>
      <StaleError query={query} />
      <Answer actions={data.actions} severity={severity} />
      <ul aria-label={texts.actions} className="flex flex-col gap-2">
        {shown.map((action) => (
          <li key={action.actionid}>
            <ExplainedActionCard action={action} severity={severity} mayEdit={mayEditActions()} />
          </li>
        ))}
      </ul>
      {sorted.length > shown.length && (
        <Button small className="self-start" onClick={() => setAll(true)}>
          {texts.showAllActions(formatCount(sorted.length))}
        </Button>
      )}
      <p className="text-xs text-soft">{texts.explainedAt(formatClock(Number(data.clock)))}</p>
    </>
  );
}

/** "Why was I (not) notified?": actions, recipients and reasons, on demand. */
export function Explain({ eventid, severity }: ExplanationProps) {
  const [open, setOpen] = useState(false);
  const id = useId();
  return (
    <div className="pt-3">
      <Button
        small
        icon={open ? "down" : "right"}
        aria-expanded={open}
        aria-controls={open ? id : undefined}
        onClick={() => setOpen(!open)}
      >
        {texts.whyNotified}
      </Button>
      {open && (
        <section id={id} aria-label={texts.whyNotified} className="flex flex-col gap-3 pt-3">
          <Explanation key={eventid} eventid={eventid} severity={severity} />
        </section>
      )}
    </div>
  );
}
