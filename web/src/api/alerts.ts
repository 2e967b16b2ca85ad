import { queryOptions } from "@tanstack/react-query";
import { rpc, rpcCount } from "./client";
import type { GetParams, Gets } from "./gets";
import type { AlertOwn } from "./own-fields";

/** A message to a user or a command, as `alert.get` shows it. */
export interface AlertRow extends AlertOwn {
  alertid: string;
  actionid: string;
  /** The event of the message: of a recovery message the recovery. */
  eventid: string;
  /** Of recovery messages: the problem's event. */
  p_eventid: string;
  /** Of messages about an update: the update. */
  acknowledgeid: string;
  userid: string;
  mediatypeid: string;
  clock: string;
  sendto: string;
  subject: string;
  message: string;
  status: string;
  /** Failed attempts. */
  retries: string;
  error: string;
  esc_step: string;
  alerttype: string;
}

const SHOWN = {
  output: [
    "alertid",
    "actionid",
    "eventid",
    "p_eventid",
    "acknowledgeid",
    "userid",
    "mediatypeid",
    "clock",
    "sendto",
    "subject",
    "message",
    "status",
    "retries",
    "error",
    "esc_step",
    "alerttype",
    "withheld",
    "carrierid",
  ],
  selectUsers: ["userid", "username", "name", "surname"],
  selectMediatypes: ["mediatypeid", "name"],
} as const;

export interface Alert extends AlertRow {
  users: { userid: string; username: string; name: string; surname: string }[];
  mediatypes: { mediatypeid: string; name: string }[];
}

/** Delivery goes on after the event, without a notice on the stream. */
const POLL_MS = 10_000;
/** Rows of one problem that are read. */
const EVENT_ALERTS_MAX = 500;

export interface EventAlerts {
  alerts: Alert[];
  /** There are no older ones. */
  complete: boolean;
}

/** All messages and commands of a problem: of its start, its updates and its end, the newest first. */
export const eventAlertsQuery = (eventid: string, recovery: string | undefined) =>
  queryOptions({
    queryKey: ["alerts", "event", eventid, recovery ?? ""],
    queryFn: async ({ signal }): Promise<EventAlerts> => {
      const eventids = recovery && recovery !== "0" ? [eventid, recovery] : [eventid];
      const rows = await rpc(
        "alert.get",
        {
          ...SHOWN,
          eventids,
          sortfield: ["clock", "alertid"],
          sortorder: "DESC",
          limit: EVENT_ALERTS_MAX,
        },
        signal,
      );
      // A recovery can end several problems.
      const alerts = rows.filter((row) => row.eventid === eventid || row.p_eventid === eventid);
      return { alerts, complete: rows.length < EVENT_ALERTS_MAX };
    },
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });

/** One alert, with its recipient. */
export const alertQuery = (alertid: string) =>
  queryOptions({
    queryKey: ["alerts", "one", alertid],
    queryFn: async ({ signal }): Promise<Alert | null> =>
      (await rpc("alert.get", { ...SHOWN, alertids: [alertid] }, signal))[0] ?? null,
    enabled: alertid !== "",
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });

/** What narrows the action log. */
export interface AlertFilter {
  eventsource: number;
  /** Kinds of the objects of these events. */
  eventobject?: number;
  statuses?: readonly string[];
  /** Why messages were withheld. */
  reasons?: readonly string[];
  text?: string;
  userids?: readonly string[];
  actionids?: readonly string[];
  mediatypeids?: readonly string[];
  eventids?: readonly string[];
  from?: number;
  till?: number;
}

/** What narrows; the members that are read are the same for all lists. */
type Narrowing = Omit<GetParams<"alert.get">, "output" | keyof Gets["alert.get"]["selects"]>;

function narrowed(filter: AlertFilter): Narrowing {
  const ids = (values: readonly string[] | undefined) => (values?.length ? values : undefined);
  return {
    eventsource: filter.eventsource,
    eventobject: filter.eventobject,
    filter: {
      ...(filter.statuses?.length ? { status: filter.statuses } : {}),
      ...(filter.reasons?.length ? { withheld: filter.reasons } : {}),
    },
    search: filter.text
      ? { subject: filter.text, message: filter.text, sendto: filter.text }
      : undefined,
    searchByAny: filter.text ? true : undefined,
    userids: ids(filter.userids),
    actionids: ids(filter.actionids),
    mediatypeids: ids(filter.mediatypeids),
    eventids: ids(filter.eventids),
    time_from: filter.from,
    time_till: filter.till,
  };
}

export const alertCountQuery = (filter: AlertFilter) =>
  queryOptions({
    queryKey: ["alerts", "total", filter],
    queryFn: ({ signal }) => rpcCount("alert.get", narrowed(filter), signal),
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });

/** The newest rows of the action log. */
export const alertsQuery = (filter: AlertFilter, limit: number) =>
  queryOptions({
    queryKey: ["alerts", "rows", filter, limit],
    queryFn: ({ signal }): Promise<Alert[]> =>
      rpc(
        "alert.get",
        {
          ...SHOWN,
          ...narrowed(filter),
          sortfield: ["clock", "alertid"],
          sortorder: "DESC",
          limit,
        },
        signal,
      ),
    // While more rows of the same filter are read, those before stay.
    placeholderData: (rows, query) =>
      JSON.stringify(query?.queryKey[2]) === JSON.stringify(filter) ? rows : undefined,
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });
