import type { Alert } from "~/api/alerts";
import { DeliveryMark, mediaTypeOf, recipientOf } from "~/shared/alerts";
import type { Column } from "~/ui/table";
import { occasionOf } from "~/util/alerts";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

const addressesOf = (alert: Alert) => alert.sendto.replaceAll("\n", ", ");

/** A soft text that shows all of itself as a hint. */
function Soft({ children }: { children: string }) {
  return (
    <span className="text-soft" title={children}>
      {children}
    </span>
  );
}

function Recipient({ alert }: { alert: Alert }) {
  const address = addressesOf(alert);
  return (
    <span title={[recipientOf(alert), address].filter(Boolean).join("\n")}>
      {recipientOf(alert)} {address && <span className="text-xs text-soft">{address}</span>}
    </span>
  );
}

function Summary({ alert }: { alert: Alert }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="flex min-w-0 items-center gap-2">
        <span className="min-w-0 flex-1 truncate font-medium">{recipientOf(alert)}</span>
        <span className="text-xs">
          <DeliveryMark alert={alert} />
        </span>
      </span>
      <span className="flex min-w-0 gap-2 text-xs text-soft">
        <span className="tabular shrink-0">{formatClock(Number(alert.clock), "minute")}</span>
        <span className="truncate">{alert.error || alert.subject || alert.message}</span>
      </span>
    </span>
  );
}

export function alertColumns(actionName: (id: string) => string): Column<Alert>[] {
  const wide = (
    id: string,
    header: string,
    width: string,
    cell: Column<Alert>["cell"],
  ): Column<Alert> => ({ id, header, width, cell, on: "wide" });
  return [
    {
      id: "summary",
      header: texts.message,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (alert) => <Summary alert={alert} />,
    },
    wide("time", texts.time, "9.5rem", (alert) => (
      <span className="tabular">{formatClock(Number(alert.clock))}</span>
    )),
    wide("status", texts.status, "11rem", (alert) => <DeliveryMark alert={alert} />),
    wide("recipient", texts.recipient, "minmax(10rem, 1.2fr)", (alert) => (
      <Recipient alert={alert} />
    )),
    wide("media", texts.mediaType, "7rem", (alert) => <Soft>{mediaTypeOf(alert) ?? ""}</Soft>),
    wide("message", texts.message, "minmax(10rem, 1.6fr)", (alert) => (
      <Soft>{alert.subject || alert.message}</Soft>
    )),
    wide("error", texts.error, "minmax(8rem, 1.2fr)", (alert) => (
      <span className="text-bad-ink" title={alert.error}>
        {alert.error}
      </span>
    )),
    wide("action", texts.action, "minmax(8rem, 1fr)", (alert) => (
      <Soft>{`${actionName(alert.actionid)} · ${occasionOf(alert)}`}</Soft>
    )),
  ];
}
