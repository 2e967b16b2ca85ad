import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { SEVERITIES, type Severity, toSeverity } from "~/util/severity";
import type { Tag, TagFilter } from "~/util/tags";
import { rpc, rpcCount } from "./client";
import { pollInterval } from "./live";

/** Open now; open or resolved in the last minutes; or everything that happened in a span of time. */
export type ProblemMode = "open" | "recent" | "history";

export interface ProblemFilter {
  mode: ProblemMode;
  severities?: number[];
  groupids?: string[];
  hostids?: string[];
  triggerids?: string[];
  text?: string;
  tags?: TagFilter[];
  acknowledged?: boolean;
  suppressed?: boolean;
  sort?: "time" | "severity";
  /** Unix seconds; only for the history. */
  from?: number;
  till?: number;
}

export interface ProblemItem {
  itemid: string;
  name: string;
  lastvalue: string;
  units: string;
  value_type: string;
}

/** What suppresses a problem: a maintenance, or a person (`maintenanceid` 0). */
export interface Suppression {
  maintenanceid: string;
  userid: string;
  /** Unix seconds; 0 = until it is resolved. */
  until: number;
}

export interface ProblemRow {
  eventid: string;
  objectid: string;
  clock: number;
  /** Unix seconds of the recovery; 0 while the problem is open. */
  r_clock: number;
  name: string;
  severity: Severity;
  acknowledged: boolean;
  suppressed: boolean;
  suppressions: Suppression[];
  opdata: string;
  tags: Tag[];
  hosts: { hostid: string; name: string }[];
  items: ProblemItem[];
  manualClose: boolean;
}

interface RawProblem {
  eventid: string;
  objectid: string;
  clock: string;
  r_eventid: string;
  r_clock?: string;
  name: string;
  severity: string;
  acknowledged: string;
  suppressed: string;
  suppression_data?: { maintenanceid: string; userid: string; suppress_until: string }[];
  opdata: string;
  tags: Tag[];
}

interface RawTrigger {
  triggerid: string;
  manual_close: string;
  hosts: { hostid: string; name: string }[];
  items: ProblemItem[];
}

interface Spine {
  eventid: string;
  severity: string;
}

/** Rows that are asked for at once before the whole list of ids is known. */
export const HEAD_ROWS = 200;
const IDS_MAX = 200_000;

function narrowed(filter: ProblemFilter): object {
  return {
    source: 0,
    object: 0,
    severities: filter.severities?.length ? filter.severities : undefined,
    groupids: filter.groupids?.length ? filter.groupids : undefined,
    hostids: filter.hostids?.length ? filter.hostids : undefined,
    objectids: filter.triggerids?.length ? filter.triggerids : undefined,
    tags: filter.tags?.length ? filter.tags : undefined,
    acknowledged: filter.acknowledged,
    suppressed: filter.suppressed,
    search: filter.text ? { name: filter.text } : undefined,
  };
}

function getParams(filter: ProblemFilter): [method: string, params: object] {
  if (filter.mode === "history") {
    return [
      "event.get",
      { ...narrowed(filter), value: 1, time_from: filter.from, time_till: filter.till },
    ];
  }
  return ["problem.get", { ...narrowed(filter), recent: filter.mode === "recent" }];
}

/** Order of the ids: newest first, or the most severe first and newest within a severity. */
export function sortSpine(rows: Spine[], sort: ProblemFilter["sort"]): string[] {
  if (sort === "severity") {
    const buckets: string[][] = [[], [], [], [], [], []];
    for (const row of rows) buckets[toSeverity(row.severity)]?.push(row.eventid);
    return buckets.reverse().flat();
  }
  return rows.map((row) => row.eventid);
}

/** The first ids by severity: one short question per severity instead of one over everything. */
async function mostSevere(
  filter: ProblemFilter,
  limit: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const [method, params] = getParams(filter);
  const ids: string[] = [];
  for (const severity of SEVERITIES) {
    if (ids.length >= limit) break;
    if (filter.severities?.length && !filter.severities.includes(severity)) continue;
    const rows = await rpc<Spine[]>(
      method,
      {
        ...params,
        severities: [severity],
        output: ["eventid"],
        sortfield: ["eventid"],
        sortorder: "DESC",
        limit: limit - ids.length,
      },
      signal,
    );
    ids.push(...rows.map((row) => row.eventid));
  }
  return ids;
}

/** The first ids in the order shown. */
async function firstIds(filter: ProblemFilter, limit: number, signal?: AbortSignal) {
  if (filter.sort === "severity" && limit < IDS_MAX) return mostSevere(filter, limit, signal);
  const [method, params] = getParams(filter);
  const rows = await rpc<Spine[]>(
    method,
    {
      ...params,
      output: ["eventid", "severity"],
      sortfield: ["eventid"],
      sortorder: "DESC",
      limit,
    },
    signal,
  );
  return sortSpine(rows, filter.sort);
}

/** Ids of the problems that match, in the order shown. `limit` keeps the first answer small. */
export const problemIdsQuery = (filter: ProblemFilter, limit = IDS_MAX) =>
  queryOptions({
    queryKey: ["problems", "ids", filter, limit],
    queryFn: ({ signal }) => firstIds(filter, limit, signal),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

async function recoveryClocks(
  rows: RawProblem[],
  signal?: AbortSignal,
): Promise<Map<string, number>> {
  const ids = rows
    .filter((r) => r.r_clock === undefined && r.r_eventid !== "0")
    .map((r) => r.r_eventid);
  if (ids.length === 0) return new Map();
  const events = await rpc<{ eventid: string; clock: string }[]>(
    "event.get",
    { output: ["eventid", "clock"], eventids: ids },
    signal,
  );
  return new Map(events.map((event) => [event.eventid, Number(event.clock)]));
}

/** The rows of some problems with host, items and recovery; the order is the caller's business. */
export async function fetchProblemRows(
  mode: ProblemMode,
  eventids: string[],
  signal?: AbortSignal,
): Promise<ProblemRow[]> {
  const common = {
    output: "extend",
    eventids,
    selectTags: ["tag", "value"],
    selectSuppressionData: "extend",
  };
  const raw =
    mode === "history"
      ? await rpc<RawProblem[]>("event.get", { ...common, value: 1 }, signal)
      : await rpc<RawProblem[]>("problem.get", { ...common, recent: true }, signal);
  const triggerids = [...new Set(raw.map((row) => row.objectid))];
  const [triggers, recovered] = await Promise.all([
    triggerids.length
      ? rpc<RawTrigger[]>(
          "trigger.get",
          {
            output: ["triggerid", "manual_close"],
            triggerids,
            selectHosts: ["hostid", "name"],
            selectItems: ["itemid", "name", "lastvalue", "units", "value_type"],
          },
          signal,
        )
      : [],
    recoveryClocks(raw, signal),
  ]);
  const byId = new Map(triggers.map((trigger) => [trigger.triggerid, trigger]));
  return raw.map((row) => {
    const trigger = byId.get(row.objectid);
    return {
      eventid: row.eventid,
      objectid: row.objectid,
      clock: Number(row.clock),
      r_clock: Number(row.r_clock ?? 0) || (recovered.get(row.r_eventid) ?? 0),
      name: row.name,
      severity: toSeverity(row.severity),
      acknowledged: row.acknowledged === "1",
      suppressed: row.suppressed === "1",
      suppressions: (row.suppression_data ?? []).map(({ suppress_until, ...by }) => ({
        ...by,
        until: Number(suppress_until),
      })),
      opdata: row.opdata,
      tags: row.tags,
      hosts: trigger?.hosts ?? [],
      items: trigger?.items ?? [],
      manualClose: trigger?.manual_close === "1",
    };
  });
}

/** Rows of the newest problems, for short lists. */
export const newestProblemsQuery = (filter: ProblemFilter, limit: number) =>
  queryOptions({
    queryKey: ["problems", "newest", filter, limit],
    queryFn: async ({ signal }) => {
      const ids = await firstIds(filter, limit, signal);
      if (ids.length === 0) return [];
      const rows = await fetchProblemRows(filter.mode, ids, signal);
      const byId = new Map(rows.map((row) => [row.eventid, row]));
      return ids.map((id) => byId.get(id)).filter((row): row is ProblemRow => row !== undefined);
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** How many problems the list leaves out because they are suppressed. */
export const hiddenCountQuery = (filter: ProblemFilter) =>
  queryOptions({
    queryKey: ["problems", "hidden", filter],
    queryFn: ({ signal }) => {
      const [method, params] = getParams({ ...filter, suppressed: true });
      return rpcCount(method, params, signal);
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** Open problems by severity, index 0 to 5, without suppressed ones. */
export const severityCountsQuery = () =>
  queryOptions({
    queryKey: ["problems", "counts"],
    queryFn: async ({ signal }) => {
      const counts: number[] = [0, 0, 0, 0, 0, 0];
      await Promise.all(
        SEVERITIES.map(async (severity) => {
          const params = { source: 0, object: 0, severities: [severity], suppressed: false };
          counts[severity] = await rpcCount("problem.get", params, signal);
        }),
      );
      return counts;
    },
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });
