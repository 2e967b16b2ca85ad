import { queryOptions } from "@tanstack/react-query";
import { rpc, rpcCount } from "./client";
import type { GetParams } from "./gets";
import { pollInterval } from "./live";

const OUTPUT = [
  "auditid",
  "userid",
  "username",
  "clock",
  "ip",
  "action",
  "resourcetype",
  "resourceid",
  "resourcename",
  "recordsetid",
  "details",
] as const;

/** An entry of the audit log. */
export interface AuditEntry {
  auditid: string;
  /** "0": the server, or an unknown user. */
  userid: string;
  /** The name at that time. */
  username: string;
  clock: string;
  ip: string;
  action: string;
  resourcetype: string;
  resourceid: string;
  resourcename: string;
  /** Entries of one call have the same. */
  recordsetid: string;
  /** JSON; "": none. */
  details: string;
}

/** What narrows the audit log. */
export interface AuditFilter {
  /** A part of the name of the object. */
  text?: string;
  userids?: readonly string[];
  actions?: readonly string[];
  resourcetypes?: readonly string[];
  resourceid?: string;
  recordsetid?: string;
  /** Unix seconds. */
  from?: number;
  till?: number;
}

function narrowed(filter: AuditFilter) {
  const { text, userids, actions, resourcetypes, resourceid, recordsetid } = filter;
  return {
    userids: userids?.length ? userids : undefined,
    search: text ? { resourcename: text } : undefined,
    filter: {
      ...(actions?.length ? { action: actions } : {}),
      ...(resourcetypes?.length ? { resourcetype: resourcetypes } : {}),
      ...(resourceid ? { resourceid } : {}),
      ...(recordsetid ? { recordsetid } : {}),
    },
    time_from: filter.from,
    time_till: filter.till,
  } satisfies GetParams<"auditlog.get">;
}

/** How many entries match. */
export const auditCountQuery = (filter: AuditFilter) =>
  queryOptions({
    queryKey: ["audit", "total", filter],
    queryFn: ({ signal }) => rpcCount("auditlog.get", narrowed(filter), signal),
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** A window of the matching entries, the newest first. */
export function auditWindow(
  filter: AuditFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<AuditEntry[]> {
  return rpc(
    "auditlog.get",
    {
      ...narrowed(filter),
      output: OUTPUT,
      sortfield: ["clock", "auditid"],
      sortorder: "DESC",
      offset: offset || undefined,
      limit,
    },
    signal,
  );
}

/** One entry. */
export const auditEntryQuery = (auditid: string) =>
  queryOptions({
    queryKey: ["audit", "one", auditid],
    queryFn: async ({ signal }): Promise<AuditEntry | null> => {
      const rows = await rpc("auditlog.get", { auditids: [auditid], output: OUTPUT }, signal);
      return rows[0] ?? null;
    },
    enabled: auditid !== "",
    staleTime: Number.POSITIVE_INFINITY,
  });
