import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** Someone whom the next step of an escalation notifies, or a script that it runs. */
export interface EscalationTarget {
  /** The user with their name, or the script. */
  name: string;
  /** Empty: of scripts. */
  mediatype: string;
}

/** An action at work on a problem. */
export interface Escalation {
  escalationid: string;
  eventid: string;
  actionid: string;
  /** Of the action. */
  name: string;
  /** The last step that was done; "0": none yet. */
  esc_step: string;
  /** "0": there is no further one. */
  next_step: string;
  /** Unix seconds of the next step; "0": it has no time. */
  nextcheck: string;
  /** Why it waits: "suppressed", "symptom" or other words; empty: it does not. */
  paused: string;
  /** Of the next step. */
  recipients: EscalationTarget[];
}

/** Steps are due without a notice on the stream. */
const POLL_MS = 10_000;

/** What the actions of a problem do next. */
export const escalationsQuery = (eventid: string) =>
  queryOptions({
    queryKey: ["escalations", eventid],
    queryFn: ({ signal }): Promise<Escalation[]> =>
      rpc("escalation.get", { eventids: [eventid] }, signal),
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });
