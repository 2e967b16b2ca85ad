import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { type Severity, toSeverity } from "~/util/severity";
import type { Tag, TagFilter } from "~/util/tags";
import { rpc, rpcCount } from "./client";
import type { GetParams } from "./gets";
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
  /** One of the tags suffices. */
  anyTag?: boolean;
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
  /** "0": the item has no value yet. */
  lastclock: string;
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

/** What open problems are grouped by. */
export type Grouping =
  | { groupBy: "host" | "group" | "name" }
  | { groupBy: "tag"; groupTag: string };

/** Open problems that have something in common. */
export interface ProblemGroup {
  /** Id of the host or host group, name of the problems, or value of the tag ("": without the tag). */
  key: string;
  name: string;
  /** Numbers of problems by severity, 0 to 5. */
  severities: number[];
  count: number;
  unacknowledged: number;
  /** When the oldest and the newest problem began, unix seconds. */
  first: number;
  last: number;
}

export interface RawProblemGroup {
  key: string;
  name: string;
  severities: string[];
  rowscount: string;
  unacknowledged: string;
  first_clock: string;
  last_clock: string;
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

/** Rows that can be selected and changed together. */
export const SELECT_MAX = 1000;

function narrowed(filter: ProblemFilter) {
  return {
    source: 0,
    object: 0,
    severities: filter.severities?.length ? filter.severities : undefined,
    groupids: filter.groupids?.length ? filter.groupids : undefined,
    hostids: filter.hostids?.length ? filter.hostids : undefined,
    objectids: filter.triggerids?.length ? filter.triggerids : undefined,
    tags: filter.tags?.length ? filter.tags : undefined,
    evaltype: filter.anyTag ? 2 : undefined,
    acknowledged: filter.acknowledged,
    suppressed: filter.suppressed,
    search: filter.text ? { name: filter.text } : undefined,
  } satisfies GetParams<"problem.get">;
}

function getParams(filter: ProblemFilter): [method: "event.get" | "problem.get", params: object] {
  if (filter.mode === "history") {
    return [
      "event.get",
      { ...narrowed(filter), value: 1, time_from: filter.from, time_till: filter.till },
    ];
  }
  return ["problem.get", { ...narrowed(filter), recent: filter.mode === "recent" }];
}

/** The ids of a window of the list; the server sorts and cuts. */
export async function problemIds(
  filter: ProblemFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<string[]> {
  const [method, params] = getParams(filter);
  const rows = await rpc(
    method,
    {
      ...params,
      output: ["eventid"],
      sortfield: filter.sort === "severity" ? ["severity", "eventid"] : ["eventid"],
      sortorder: "DESC",
      limit,
      offset: offset || undefined,
    },
    signal,
  );
  return rows.map((row) => row.eventid);
}

/** The rows of a window of the list, in order. */
export async function problemWindow(
  filter: ProblemFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<ProblemRow[]> {
  const ids = await problemIds(filter, offset, limit, signal);
  if (ids.length === 0) return [];
  const rows = await fetchProblemRows(filter.mode, ids, signal);
  const byId = new Map(rows.map((row) => [row.eventid, row]));
  return ids.map((id) => byId.get(id)).filter((row): row is ProblemRow => row !== undefined);
}

/** How many problems match. */
export const problemCountQuery = (filter: ProblemFilter) =>
  queryOptions({
    queryKey: ["problems", "count", { ...filter, sort: undefined }],
    queryFn: ({ signal }) => {
      const [method, params] = getParams(filter);
      return rpcCount(method, params, signal);
    },
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
  const events = await rpc("event.get", { output: ["eventid", "clock"], eventids: ids }, signal);
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
  } as const;
  const raw: RawProblem[] =
    mode === "history"
      ? await rpc("event.get", { ...common, value: 1 }, signal)
      : await rpc("problem.get", { ...common, recent: true }, signal);
  const triggerids = [...new Set(raw.map((row) => row.objectid))];
  const [triggers, recovered] = await Promise.all([
    triggerids.length
      ? rpc(
          "trigger.get",
          {
            output: ["triggerid", "manual_close"],
            triggerids,
            selectHosts: ["hostid", "name"],
            selectItems: ["itemid", "name", "lastvalue", "lastclock", "units", "value_type"],
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

/** Groups that the page shows; further ones are counted. */
const GROUPS_MAX = 1000;

/** The groups of open problems, the one with the gravest problems first, and how many groups there are. */
export const problemGroupsQuery = (filter: ProblemFilter, grouping: Grouping) =>
  queryOptions({
    queryKey: ["problems", "groups", filter, grouping],
    queryFn: async ({ signal }): Promise<{ total: number; groups: ProblemGroup[] }> => {
      const [, params] = getParams(filter);
      const answer = await rpc(
        "problem.groups",
        { ...params, ...grouping, recent: false, limit: GROUPS_MAX },
        signal,
      );
      const groups = answer.groups.map((group) => ({
        key: group.key,
        name: group.name,
        severities: group.severities.map(Number),
        count: Number(group.rowscount),
        unacknowledged: Number(group.unacknowledged),
        first: Number(group.first_clock),
        last: Number(group.last_clock),
      }));
      return { total: Number(answer.rowscount), groups };
    },
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** Rows of the newest problems, for short lists. */
export const newestProblemsQuery = (filter: ProblemFilter, limit: number) =>
  queryOptions({
    queryKey: ["problems", "newest", filter, limit],
    queryFn: ({ signal }) => problemWindow(filter, 0, limit, signal),
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
    queryFn: async ({ signal }) =>
      (await rpc("problem.counts", { suppressed: false }, signal)).map(Number),
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** Newest problems whose tags are offered as choices. */
const TAGGED_MAX = 300;

/** Names of tags that recent problems have. */
export const problemTagNamesQuery = () =>
  queryOptions({
    queryKey: ["problems", "tag names"],
    queryFn: async ({ signal }): Promise<string[]> => {
      const rows = await rpc(
        "problem.get",
        {
          output: ["eventid"],
          selectTags: ["tag"],
          sortfield: "eventid",
          sortorder: "DESC",
          limit: TAGGED_MAX,
        },
        signal,
      );
      const names = new Set(rows.flatMap((row) => row.tags.map(({ tag }) => tag)));
      return [...names].sort((a, b) => a.localeCompare(b));
    },
    staleTime: 60_000,
  });
