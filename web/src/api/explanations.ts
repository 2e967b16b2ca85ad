import { queryOptions } from "@tanstack/react-query";
import type { ActionCondition } from "~/util/actions";
import { rpc } from "./client";
import { type NextStep, type Running, withName } from "./escalations";

/** Whether a user gets a message, or one medium of the user takes it. */
export interface Case {
  userid: string;
  username: string;
  /** "0": it has nothing to do with a single medium. */
  mediatypeid: string;
  sendto: string;
  /** "sent", or why not: a word of the server. */
  verdict: string;
}

/** An on-call schedule of an operation. */
export interface ExplainedSchedule {
  scheduleid: string;
  name: string;
  userids: string[];
  /** "1": nobody is on call. */
  gap: string;
}

export interface ExplainedOperation {
  operationid: string;
  /** "problem", "recovery" or "update": when it runs. */
  mode: string;
  /** "1": the message goes to users who got one before. */
  to_involved: string;
  users: Case[];
  /** Who of each on-call schedule is reached now. */
  oncall?: ExplainedSchedule[];
}

/** `met` "1": the condition is met. */
export type ExplainedCondition = ActionCondition & { met: string };

export interface ExplainedAction {
  actionid: string;
  name: string;
  /** "1": the action is switched on. */
  enabled: string;
  /** "1": all conditions together are met now. */
  applies: string;
  /** Empty for users who may not view actions. */
  conditions: ExplainedCondition[];
  escalation: Running | null;
  steps: NextStep[];
  /** Operations that send messages. */
  operations: ExplainedOperation[];
  /** Messages that were made. */
  alertids: string[];
}

export interface Explanation {
  eventid: string;
  /** Unix seconds of the answer. */
  clock: string;
  actions: ExplainedAction[];
}

/** The server looks at every action and every recipient. */
const POLL_MS = 30_000;

/** Why users are notified of a problem, or not. */
export const explanationQuery = (eventid: string) =>
  queryOptions({
    queryKey: ["explanations", eventid],
    queryFn: async ({ signal }): Promise<Explanation> => {
      const found = await rpc("event.explain", { eventid }, signal);
      return { ...found, actions: found.actions.map(withName) };
    },
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });
