import { queryOptions } from "@tanstack/react-query";
import { SEVERITIES, type Severity, toSeverity } from "~/util/severity";
import type { Tag } from "~/util/tags";
import { rpc, rpcEventGroups } from "./client";
import { pollInterval } from "./live";

/** Bits of `event.acknowledge`'s action. */
export const ACTION = {
  close: 1,
  acknowledge: 2,
  message: 4,
  severity: 8,
  unacknowledge: 16,
  suppress: 32,
  unsuppress: 64,
} as const;

/** One update of a problem by a user. `action` is a sum of the bits above (128 and 256 too). */
export interface Acknowledge {
  acknowledgeid: string;
  userid: string;
  username?: string;
  name?: string;
  surname?: string;
  clock: string;
  message: string;
  action: string;
  old_severity: string;
  new_severity: string;
}

export interface EventDetail {
  eventid: string;
  objectid: string;
  clock: string;
  r_eventid: string;
  name: string;
  severity: string;
  acknowledged: string;
  opdata: string;
  tags: Tag[];
  acknowledges: Acknowledge[];
  hosts: { hostid: string; name: string }[];
}

export const eventQuery = (eventid: string) =>
  queryOptions({
    queryKey: ["events", "one", eventid],
    queryFn: async ({ signal }) => {
      const rows = await rpc(
        "event.get",
        {
          output: "extend",
          eventids: [eventid],
          selectTags: ["tag", "value"],
          selectAcknowledges: "extend",
          selectHosts: ["hostid", "name"],
        },
        signal,
      );
      return rows[0] ?? null;
    },
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** A change of a trigger's state. `value`: 1 problem, 0 resolved. */
export interface Change {
  eventid: string;
  clock: string;
  value: string;
  name: string;
  severity: string;
  hosts: { hostid: string; name: string }[];
}

export const lastChangesQuery = (limit: number, hostid?: string) =>
  queryOptions({
    queryKey: ["events", "changes", limit, hostid ?? ""],
    queryFn: ({ signal }) =>
      rpc(
        "event.get",
        {
          output: ["eventid", "clock", "value", "name", "severity"],
          selectHosts: ["hostid", "name"],
          hostids: hostid ? [hostid] : undefined,
          source: 0,
          object: 0,
          sortfield: ["clock", "eventid"],
          sortorder: "DESC",
          limit,
        },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** Problems that started, by steps of time. */
export interface Starts {
  /** Unix time of the first step; steps have equal lengths. */
  from: number;
  step: number;
  /** For each step, the number by severity. */
  counts: number[][];
}

/** How many problems started in each of the last `steps` steps of so many seconds, up to now. */
export const startsQuery = (steps: number, step: number) =>
  queryOptions({
    queryKey: ["events", "starts", steps, step],
    queryFn: async ({ signal }): Promise<Starts> => {
      // The last step holds the current minute.
      const till = Math.floor(Date.now() / 60_000 + 1) * 60;
      const from = till - steps * step;
      const groups = await rpcEventGroups(
        { source: 0, object: 0, value: 1, time_from: from, time_till: till - 1 },
        step,
        signal,
      );
      const counts = Array.from({ length: steps }, () => SEVERITIES.map(() => 0));
      for (const { clock, severity, rowscount } of groups) {
        const bucket = counts[(Number(clock) - from) / step];
        if (bucket) bucket[toSeverity(severity)] = Number(rowscount);
      }
      return { from, step, counts };
    },
    refetchInterval: 30_000,
    meta: { live: "problems" },
  });

/** Earlier events of the same trigger. */
export const triggerEventsQuery = (triggerid: string, limit: number) =>
  queryOptions({
    queryKey: ["events", "trigger", triggerid, limit],
    queryFn: ({ signal }) =>
      rpc(
        "event.get",
        {
          output: ["eventid", "clock", "value", "name", "severity"],
          source: 0,
          object: 0,
          objectids: [triggerid],
          sortfield: ["clock", "eventid"],
          sortorder: "DESC",
          limit,
        },
        signal,
      ),
    enabled: triggerid !== "",
    meta: { live: "problems" },
  });

export interface Update {
  acknowledge?: boolean;
  unacknowledge?: boolean;
  message?: string;
  severity?: Severity;
  close?: boolean;
  /** Unix seconds until which the problem is suppressed; 0 = until it is resolved. */
  suppressUntil?: number;
  unsuppress?: boolean;
}

/** What `event.acknowledge` takes. */
export interface Acknowledgement {
  eventids: string[];
  /** A sum of the bits of `ACTION`. */
  action: number;
  message?: string;
  severity?: Severity;
  suppress_until?: number;
}

/** The parameters of `event.acknowledge` for an update. */
export function updateParams(eventids: string[], update: Update): Acknowledgement {
  let action = 0;
  if (update.close) action |= ACTION.close;
  if (update.acknowledge) action |= ACTION.acknowledge;
  if (update.unacknowledge) action |= ACTION.unacknowledge;
  if (update.message) action |= ACTION.message;
  if (update.severity !== undefined) action |= ACTION.severity;
  if (update.suppressUntil !== undefined) action |= ACTION.suppress;
  if (update.unsuppress) action |= ACTION.unsuppress;
  return {
    eventids,
    action,
    message: update.message || undefined,
    severity: update.severity,
    suppress_until: update.suppressUntil,
  };
}

const BATCH = 1000;

/** What an update did. */
export interface UpdateResult {
  updated: number;
  /** Not closed, because their triggers do not allow it. */
  notClosable: number;
  /** Not updated: their number and the first error. */
  failed: number;
  error?: unknown;
}

/** Which of these problems have triggers that allow manual closing. */
async function closable(eventids: string[]): Promise<Set<string>> {
  const events = await rpc("event.get", {
    output: ["eventid", "objectid"],
    eventids,
  });
  const triggers = await rpc("trigger.get", {
    output: ["triggerid"],
    triggerids: [...new Set(events.map((event) => event.objectid))],
    filter: { manual_close: 1 },
  });
  const allowed = new Set(triggers.map((trigger) => trigger.triggerid));
  return new Set(events.filter((e) => allowed.has(e.objectid)).map((e) => e.eventid));
}

/**
 * Updates problems, in batches that keep each request small. "Close" is sent only where the trigger
 * allows it; a batch that fails does not stop the others.
 */
export async function updateProblems(eventids: string[], update: Update): Promise<UpdateResult> {
  const result: UpdateResult = { updated: 0, notClosable: 0, failed: 0 };
  const send = async (ids: string[], change: Update) => {
    const params = updateParams(ids, change);
    if (ids.length === 0 || params.action === 0) return;
    try {
      await rpc("event.acknowledge", params);
      result.updated += ids.length;
    } catch (error) {
      result.failed += ids.length;
      result.error ??= error;
    }
  };
  for (let at = 0; at < eventids.length; at += BATCH) {
    const batch = eventids.slice(at, at + BATCH);
    if (!update.close) {
      await send(batch, update);
      continue;
    }
    const may = await closable(batch);
    const others = batch.filter((id) => !may.has(id));
    result.notClosable += others.length;
    await send(
      batch.filter((id) => may.has(id)),
      update,
    );
    await send(others, { ...update, close: false });
  }
  return result;
}
