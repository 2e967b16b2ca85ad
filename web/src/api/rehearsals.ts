import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { Members } from "./methods";

export interface RehearsalParams {
  /** Parameters of `action.create`. */
  action: Members<"action">;
  time_from: number;
  time_till: number;
}

/** What one user would have got. Numbers are texts. */
export interface RehearsedUser {
  userid: string;
  username: string;
  messages: string;
  /** Between 22:00 and 6:00 in the user's time zone. */
  at_night: string;
  /** The hour with most messages. */
  busiest_hour: { clock: string; messages: string };
  failed: string;
  withheld: { reason: string; messages: string }[];
  /** Messages that the user got in fact, from all actions. */
  sent: string;
}

export interface RehearsedMessage {
  clock: string;
  eventid: string;
  /** "problem", "recovery" or "update". */
  mode: string;
  step: string;
  userid: string;
  /** "0": the user has no medium. */
  mediatypeid: string;
  sendto: string;
  /** A verdict, or why the message would have been withheld. */
  verdict: string;
  /** Messages that a summary summarises; "0": it is none. */
  tells?: string;
}

/** What an action would have sent about the problems of a time range. */
export interface Rehearsal {
  time_from: string;
  time_till: string;
  problems: string;
  /** Those that meet the conditions. */
  fitting: string;
  /** The last second that counts, if there are too many problems or messages; "0": all count. */
  stopped_at: string;
  users: RehearsedUser[];
  /** Messages at times at which nobody is on call, by schedule. */
  gaps?: { name: string; messages: string }[];
  /** The first messages. */
  messages: RehearsedMessage[];
}

/** Names differ, so that the action in the form is no obstacle to its own rehearsal. */
const nameNow = () => `Rehearsal ${Date.now().toString(36)}`;

/** What the action would have sent within these seconds before now. Running it takes the server a while. */
export const rehearsalQuery = (action: Members<"action">, seconds: number) =>
  queryOptions({
    queryKey: ["rehearsals", action, seconds],
    queryFn: ({ signal }): Promise<Rehearsal> => {
      const now = Math.floor(Date.now() / 1000);
      const params = {
        action: { ...action, name: nameNow() },
        time_from: now - seconds,
        time_till: now,
      };
      return rpc("action.rehearse", params, signal);
    },
    staleTime: Number.POSITIVE_INFINITY,
    gcTime: 0,
    retry: false,
  });

/** Names of problems by the ids of their events. */
export const problemNamesQuery = (eventids: readonly string[]) =>
  queryOptions({
    queryKey: ["events", "names", eventids],
    queryFn: async ({ signal }): Promise<ReadonlyMap<string, string>> => {
      const rows = await rpc(
        "event.get",
        { output: ["eventid", "name"], eventids: [...eventids] },
        signal,
      );
      return new Map(rows.map((row) => [row.eventid, row.name]));
    },
    enabled: eventids.length > 0,
  });
