import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** An escalation that has not ended. */
export interface Running {
  escalationid: string;
  /** The last step that was done; "0": none yet. */
  step: string;
  /** "step", "pause" or "recovery": what it waits for. */
  waits_for: string;
  /** Unix seconds until which it waits; "0": unknown. */
  until: string;
  /** What holds it back now: see `PAUSES` in `util/escalations.ts`. */
  pauses: string[];
  /** A more severe problem that it waits for; "0": none. */
  inhibited_by?: string;
  /** Why it will be cancelled when its next step is due; empty: it will not. */
  stopped: string;
}

/** Operations that will run if nothing changes. */
export interface NextStep {
  step: string;
  /** Unix seconds. */
  at: string;
  operationids: string[];
}

/** An action at work on a problem. */
export interface Escalation extends Running {
  eventid: string;
  actionid: string;
  /** Of the action. */
  name: string;
  steps: NextStep[];
}

/** The server does not name actions that the user may not view. */
export const withName = <A extends { name: string }>(action: A): A => ({
  ...action,
  name: action.name || "An action that you may not view",
});

/** Steps are due without a notice on the stream. */
const POLL_MS = 10_000;

/** What the actions of a problem do next. */
export const escalationsQuery = (eventid: string) =>
  queryOptions({
    queryKey: ["escalations", eventid],
    queryFn: async ({ signal }): Promise<Escalation[]> => {
      const found = await rpc("escalation.get", { eventids: [eventid] }, signal);
      return found.map(withName);
    },
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });
