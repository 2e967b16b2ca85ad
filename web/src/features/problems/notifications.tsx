import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { type ReactNode, useState } from "react";
import { allActionsQuery } from "~/api/actions";
import { type Alert, eventAlertsQuery } from "~/api/alerts";
import { explain } from "~/api/errors";
import { type Escalation, escalationsQuery } from "~/api/escalations";
import { type Explanation, explanationQuery } from "~/api/explanations";
import { allows, session } from "~/api/session-store";
import { DeliveryMark, mediaTypeOf, recipientOf } from "~/shared/alerts";
import { QueryError, StaleError } from "~/shared/fallback";
import { Button } from "~/ui/button";
import { Dot } from "~/ui/severity";
import { SkeletonRows } from "~/ui/state";
import { type Delivery, deliveryOf, occasionOf, summaryOf, withheldWords } from "~/util/alerts";
import { nextWords } from "~/util/escalations";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { formatClock } from "~/util/time";
import { useMediaTypeNames } from "./explain-action";
import { texts } from "./texts";

/** Rows before "Show all". */
const SHORT = 5;

/** Names of actions, for those who may read them. */
function useActionNames(): ReadonlyMap<string, string> {
  const { data = [] } = useQuery({
    ...allActionsQuery(),
    enabled: (session()?.type ?? 0) >= 2,
  });
  return new Map(data.map((action) => [action.actionid, action.name]));
}

/** A point of the time line. */
function Moment({ tone, children }: { tone: Delivery["tone"]; children: ReactNode }) {
  return (
    <li className="relative border-l-2 pb-3.5 pl-4 last:border-transparent last:pb-0">
      <span className="absolute top-1.5 -left-[5px] flex rounded-full ring-3 ring-raised">
        <Dot tone={tone} />
      </span>
      {children}
    </li>
  );
}

interface RowProps {
  alert: Alert;
  action: string | undefined;
  /** The message that tells of a withheld one. */
  carrier: Alert | undefined;
}

/** Why a message was withheld, and when it was told. */
function Withheld({ alert, carrier }: Pick<RowProps, "alert" | "carrier">) {
  const why = withheldWords(alert);
  if (!why) return null;
  const told = carrier && texts.toldAt(formatClock(Number(carrier.clock)));
  return (
    <p className="text-xs break-words text-soft">
      {why}. {told ?? (alert.carrierid !== "0" && texts.toldByAnother)}
    </p>
  );
}

function Row({ alert, action, carrier }: RowProps) {
  const media = mediaTypeOf(alert);
  const details = [occasionOf(alert), alert.sendto.replaceAll("\n", ", "), action]
    .filter(Boolean)
    .join(" · ");
  return (
    <Moment tone={deliveryOf(alert).tone}>
      <p className="flex flex-wrap items-baseline gap-x-2">
        <span className="min-w-0 font-medium break-words">{recipientOf(alert)}</span>
        {media && <span className="text-soft">{texts.byMedia(media)}</span>}
        <span className="ml-auto text-xs">
          <DeliveryMark alert={alert} />
        </span>
      </p>
      <p className="flex flex-wrap gap-x-2 text-xs text-soft">
        <span className="tabular">{formatClock(Number(alert.clock))}</span>
        <span className="min-w-0 break-all">{details}</span>
      </p>
      <Withheld alert={alert} carrier={carrier} />
      {alert.error && <p className="text-xs break-words text-bad-ink">{alert.error}</p>}
      {(alert.subject || alert.message) && (
        <details className="text-xs">
          <summary className="cursor-pointer break-words text-soft">
            {alert.subject || texts.message}
          </summary>
          <p className="mt-1 rounded-md bg-sunken px-2 py-1.5 break-words whitespace-pre-wrap">
            {alert.message}
          </p>
        </details>
      )}
    </Moment>
  );
}

/** Who gets a message in a step; undefined: unknown. */
function recipientsOf(
  { actionid, steps }: Escalation,
  explanation: Explanation | undefined,
  mediaTypes: ReadonlyMap<string, string>,
): string[] | undefined {
  const action = explanation?.actions.find((one) => one.actionid === actionid);
  const ids = steps[0]?.operationids ?? [];
  const operations = action?.operations.filter((one) => ids.includes(one.operationid)) ?? [];
  // Others run scripts.
  if (!action || operations.length < ids.length) return undefined;
  const cases = operations.flatMap(({ users }) => users.filter((one) => one.verdict === "sent"));
  const names = cases.map(({ username, mediatypeid }) => {
    const media = mediaTypes.get(mediatypeid);
    return media ? `${username} ${texts.byMedia(media)}` : username;
  });
  const unique = [...new Set(names)];
  return unique.length === 0 && session()?.type !== 3 ? undefined : unique;
}

/** What an action does next, above what was done. */
function Next({ escalation }: { escalation: Escalation }) {
  const now = useNow();
  const [step] = escalation.steps;
  const explanation = useQuery({ ...explanationQuery(escalation.eventid), enabled: !!step });
  const recipients = recipientsOf(escalation, explanation.data, useMediaTypeNames());
  const due = Number(step?.at);
  const details = [due > 0 && formatClock(due), step && texts.step(step.step), escalation.name];
  const isHeld = escalation.pauses.length > 0 || escalation.stopped !== "";
  return (
    <Moment tone={isHeld ? "warn" : step ? "next" : "off"}>
      <p className="font-medium break-words">{nextWords(escalation, now)}</p>
      {recipients && step && (
        <p className="break-words">{listed(recipients) || texts.nobodyInThisStep}</p>
      )}
      <p className="text-xs break-words text-soft">{details.filter(Boolean).join(" · ")}</p>
      {escalation.inhibited_by && escalation.inhibited_by !== "0" && (
        <Link
          to="/problems"
          search={(old) => ({ ...old, event: escalation.inhibited_by })}
          className="text-xs text-accent-ink hover:underline"
        >
          {texts.inhibitedBy}
        </Link>
      )}
    </Moment>
  );
}

/** The first names, and the number of the others. */
function listed(names: readonly string[]): string {
  const rest = names.length - SHORT;
  const first = names.slice(0, SHORT).join(", ");
  return rest > 0 ? texts.andOthers(first, formatCount(rest)) : first;
}

interface NotificationsProps {
  eventid: string;
  /** The event of the problem's end. */
  recovery: string | undefined;
}

/** The actions at work on the problem; none after its end. */
function useEscalations({ eventid, recovery }: NotificationsProps) {
  const over = recovery !== undefined && recovery !== "0";
  const query = useQuery({ ...escalationsQuery(eventid), enabled: !over });
  return { escalations: (!over && query.data) || [], error: over ? null : query.error };
}

/** Who was notified of the problem, when, by what and with which result, and what happens next. */
export function Notifications({ eventid, recovery }: NotificationsProps) {
  const { escalations, error: unknownNext } = useEscalations({ eventid, recovery });
  const query = useQuery(eventAlertsQuery(eventid, recovery));
  const names = useActionNames();
  const [all, setAll] = useState(false);
  const { data, error, refetch } = query;
  if (!data)
    return error ? (
      <QueryError error={error} onRetry={() => void refetch()} />
    ) : (
      <SkeletonRows rows={2} />
    );
  const { alerts, complete } = data;
  const superAdmin = session()?.type === 3;
  const shown = all ? alerts : alerts.slice(0, SHORT);
  return (
    <div className="flex flex-col gap-3">
      <StaleError query={query} />
      {alerts.length === 0 ? (
        <p>
          <span className="font-medium">{texts.nobodyWasNotified}</span>{" "}
          {!superAdmin && <span className="text-soft">{texts.asFarAsYouMayView}</span>}
        </p>
      ) : (
        <p>{summaryOf(alerts)}</p>
      )}
      {unknownNext && <p className="text-soft">{texts.nextIsUnknown(explain(unknownNext).what)}</p>}
      {alerts.length + escalations.length > 0 && (
        <ol aria-label={texts.notifications} className="pt-0.5 pl-1.5">
          {escalations.map((escalation) => (
            <Next key={escalation.escalationid} escalation={escalation} />
          ))}
          {shown.map((alert) => (
            <Row
              key={alert.alertid}
              alert={alert}
              action={names.get(alert.actionid)}
              carrier={alerts.find(({ alertid }) => alertid === alert.carrierid)}
            />
          ))}
        </ol>
      )}
      {alerts.length > shown.length && (
        <Button small className="self-start" onClick={() => setAll(true)}>
          {texts.showAll(alerts.length)}
        </Button>
      )}
      {!complete && <p className="text-xs text-soft">{texts.olderOnes}</p>}
      {superAdmin && allows("reports.action_log") && alerts.length > 0 && (
        <Link
          to="/alerts"
          search={{ event: [eventid, recovery].filter((id) => id && id !== "0").join(",") }}
          className="self-start text-xs text-accent-ink hover:underline"
        >
          {texts.inTheActionLog}
        </Link>
      )}
    </div>
  );
}
