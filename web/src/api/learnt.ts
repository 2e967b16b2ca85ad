import { queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";

/** What the last problems of a trigger show. Numbers are texts. */
export interface Learnt {
  triggerid: string;
  /** Problems that ended by themselves, of the last 50. */
  problems: string;
  /** Seconds within which most of them ended; "0": there are too few. */
  within: string;
  /** Seconds of the median; "0": there is none. */
  typical: string;
  /** Per cent that ended within `within`. */
  share: string;
  /** "1": the trigger is flapping. */
  flapping: string;
  /** If it is flapping: how often a problem opened or ended in the last 30 minutes. */
  changes: string;
  /** Unix seconds until which it is flapping if nothing changes. */
  until: string;
}

export interface LearntMethods {
  "trigger.learnt": { params: { triggerids: string[] }; result: Learnt[] };
}

const POLL_MS = 30_000;

export const learntQuery = (triggerid: string) =>
  queryOptions({
    queryKey: ["learnt", triggerid],
    queryFn: async ({ signal }): Promise<Learnt | null> =>
      (await rpc("trigger.learnt", { triggerids: [triggerid] }, signal))[0] ?? null,
    refetchInterval: POLL_MS,
    meta: { live: "problems" },
  });
