import { queryOptions } from "@tanstack/react-query";
import { type Severity, toSeverity } from "~/util/severity";
import { rpc } from "./client";
import { pollInterval } from "./live";

export interface TriggerRow {
  triggerid: string;
  description: string;
  expression: string;
  recovery_expression: string;
  recovery_mode: string;
  priority: string;
  status: string;
  value: string;
  manual_close: string;
  comments: string;
  templateid: string;
}

const ROW = {
  output: [
    "triggerid",
    "description",
    "expression",
    "recovery_expression",
    "recovery_mode",
    "priority",
    "status",
    "value",
    "manual_close",
    "comments",
    "templateid",
  ],
  expandExpression: true,
  sortfield: "description",
};

/** Triggers of a host or template, expressions written out. */
export const triggersQuery = (hostid: string, template = false) =>
  queryOptions({
    queryKey: ["triggers", hostid],
    queryFn: ({ signal }) =>
      rpc<TriggerRow[]>(
        "trigger.get",
        { ...ROW, [template ? "templateids" : "hostids"]: [hostid], expandDescription: !template },
        signal,
      ),
    meta: { live: "config" },
  });

export const triggerQuery = (triggerid: string) =>
  queryOptions({
    queryKey: ["triggers", "one", triggerid],
    queryFn: async ({ signal }) => {
      const rows = await rpc<
        (TriggerRow & {
          url: string;
          url_name: string;
          items: { itemid: string; name: string; value_type: string }[];
        })[]
      >(
        "trigger.get",
        {
          ...ROW,
          output: [...ROW.output, "url", "url_name"],
          triggerids: [triggerid],
          selectItems: ["itemid", "name", "value_type"],
          expandComment: true,
          expandDescription: true,
          expandUrl: true,
        },
        signal,
      );
      return rows[0] ?? null;
    },
    enabled: triggerid !== "",
  });

/** A host in trouble: its worst severity and how many triggers say so. */
export interface HostState {
  hostid: string;
  name: string;
  severity: Severity;
  problems: number;
}

interface FiredTrigger {
  priority: string;
  hosts: { hostid: string; name: string }[];
}

export function worstPerHost(triggers: FiredTrigger[]): HostState[] {
  const states = new Map<string, HostState>();
  for (const trigger of triggers) {
    const severity = toSeverity(trigger.priority);
    for (const host of trigger.hosts) {
      const state = states.get(host.hostid);
      if (!state) states.set(host.hostid, { ...host, severity, problems: 1 });
      else {
        state.problems++;
        if (severity > state.severity) state.severity = severity;
      }
    }
  }
  return [...states.values()].sort(
    (a, b) => b.severity - a.severity || b.problems - a.problems || a.name.localeCompare(b.name),
  );
}

const FIRED = {
  output: ["triggerid", "priority"],
  selectHosts: ["hostid", "name"],
  filter: { value: 1 },
  monitored: true,
};

/** Hosts with problems, the worst first. */
export const hostStatesQuery = (hostids?: string[]) =>
  queryOptions({
    queryKey: ["problems", "hosts", hostids ?? "all"],
    queryFn: async ({ signal }) =>
      worstPerHost(
        await rpc<FiredTrigger[]>(
          "trigger.get",
          { ...FIRED, hostids, sortfield: "priority", sortorder: "DESC", limit: 5000 },
          signal,
        ),
      ),
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
