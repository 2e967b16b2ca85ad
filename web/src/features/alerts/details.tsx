import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { type Alert, alertQuery } from "~/api/alerts";
import { AlertStatus, EventSource } from "~/api/schema";
import { DeliveryMark, mediaTypeOf, recipientOf } from "~/shared/alerts";
import { IconButton } from "~/ui/button";
import { Drawer } from "~/ui/dialog";
import { occasionOf, problemOf, withheldWords } from "~/util/alerts";
import { formatClock, zoneAt } from "~/util/time";
import { texts } from "./texts";

interface DetailsProps {
  alert: Alert;
  /** Source of the event. */
  source: string;
  actionName: (id: string) => string;
  onClose: () => void;
}

function factsOf({ alert, actionName }: DetailsProps): [string, ReactNode][] {
  const clock = Number(alert.clock);
  return [
    [texts.result, <DeliveryMark key="result" alert={alert} />],
    [texts.time, `${formatClock(clock)} ${zoneAt(clock)}`],
    [texts.recipient, recipientOf(alert)],
    [texts.mediaType, mediaTypeOf(alert) ?? texts.none],
    [texts.address, alert.sendto.replaceAll("\n", ", ") || texts.none],
    [
      texts.action,
      <Link
        key="action"
        to="/actions/$actionid/edit"
        params={{ actionid: alert.actionid }}
        className="text-accent-ink hover:underline"
      >
        {actionName(alert.actionid)}
      </Link>,
    ],
    [texts.occasion, occasionOf(alert)],
    [texts.failedAttempts, alert.retries],
    ...withheldFacts(alert),
  ];
}

/** Why a message was withheld, and which one tells of it. */
function withheldFacts(alert: Alert): [string, ReactNode][] {
  const why = withheldWords(alert);
  if (!why) return [];
  const facts: [string, ReactNode][] = [[texts.withheld, why]];
  if (alert.carrierid !== "0")
    facts.push([texts.toldBy, <Carrier key="carrier" alertid={alert.carrierid} />]);
  else if (alert.status === AlertStatus.Withheld) facts.push([texts.toldBy, texts.notToldYet]);
  return facts;
}

/** The way to the message that tells of a withheld one. */
function Carrier({ alertid }: { alertid: string }) {
  const { data } = useQuery(alertQuery(alertid));
  return (
    <Link
      to="/alerts"
      search={(old) => ({ ...old, alert: alertid })}
      className="text-accent-ink hover:underline"
    >
      {data ? (
        <>
          {texts.toldByMessage(formatClock(Number(data.clock)))} <DeliveryMark alert={data} />
        </>
      ) : (
        alertid
      )}
    </Link>
  );
}

/** One message, whole, with its way to the problem. */
export function AlertDetails(props: DetailsProps) {
  const { alert, source, onClose } = props;
  return (
    <Drawer title={texts.alert} onClose={onClose}>
      <header className="flex items-start gap-3 border-b py-3.5 pr-3 pl-5">
        <h2 className="min-w-0 flex-1 text-base font-semibold break-words">
          {alert.subject || texts.message}
        </h2>
        <IconButton icon="close" label={texts.close} onClick={onClose} />
      </header>
      <div className="flex min-h-0 flex-1 flex-col gap-4 overflow-auto px-5 py-4">
        <dl className="grid grid-cols-[7.5rem_1fr] gap-y-1">
          {factsOf(props).map(([name, value]) => (
            <div key={name} className="contents">
              <dt className="text-soft">{name}</dt>
              <dd className="tabular min-w-0 break-words">{value}</dd>
            </div>
          ))}
        </dl>
        {alert.error && (
          <div className="rounded-md bg-bad-soft px-3 py-2 text-bad-ink">
            <p className="text-xs font-medium">
              {alert.status === AlertStatus.Failed ? texts.error : texts.lastError}
            </p>
            <p className="break-words whitespace-pre-wrap">{alert.error}</p>
          </div>
        )}
        {source === EventSource.Trigger && (
          <Link
            to="/problems"
            search={{ show: "history", event: problemOf(alert) }}
            className="self-start text-accent-ink hover:underline"
          >
            {texts.openProblem}
          </Link>
        )}
        <p className="rounded-md bg-sunken px-3 py-2 break-words whitespace-pre-wrap">
          {alert.message}
        </p>
      </div>
    </Drawer>
  );
}
