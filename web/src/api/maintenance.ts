import { keepPreviousData, type QueryClient, queryOptions } from "@tanstack/react-query";
import type { Period, Schedule } from "~/util/maintenance";
import { type SilenceTarget, silenceName, silenceParams, silenceTags } from "~/util/silence";
import type { Tag } from "~/util/tags";
import { rpc, rpcCount } from "./client";
import type { GetParams, Gets, MaintenanceState, Period as RawPeriod } from "./gets";
import { pollInterval } from "./live";
import type { Members } from "./methods";
import { EvalType, MaintenanceType } from "./schema";
import { allows, session } from "./session-store";
import { serverZone } from "./zone";

/** `operator`: 0 equals, 2 contains. */
export interface MaintenanceTag extends Tag {
  operator: string;
}

export interface Maintenance extends Schedule {
  maintenanceid: string;
  name: string;
  /** Values are not collected while it runs. */
  noData: boolean;
  tags: MaintenanceTag[];
}

/** With what it covers. */
export interface MaintenanceDetail extends Maintenance {
  description: string;
  /** One tag that fits is enough, instead of one of each name. */
  anyTag: boolean;
  hosts: { hostid: string; name: string }[];
  groups: { groupid: string; name: string }[];
}

interface Raw {
  maintenanceid: string;
  name: string;
  maintenance_type: string;
  description: string;
  active_since: string;
  active_till: string;
  tags_evaltype: string;
  timeperiods: RawPeriod[];
  tags: MaintenanceTag[];
  hosts?: MaintenanceDetail["hosts"];
  hostgroups?: MaintenanceDetail["groups"];
}

function periodOf(raw: RawPeriod): Period {
  return {
    repeat: raw.timeperiod_type,
    every: Number(raw.every),
    months: Number(raw.month),
    weekdays: Number(raw.dayofweek),
    day: Number(raw.day),
    startTime: Number(raw.start_time),
    length: Number(raw.period),
    startDate: Number(raw.start_date),
  };
}

function detailOf(raw: Raw, zone?: string): MaintenanceDetail {
  return {
    maintenanceid: raw.maintenanceid,
    name: raw.name,
    noData: raw.maintenance_type === MaintenanceType.WithoutData,
    description: raw.description,
    since: Number(raw.active_since),
    till: Number(raw.active_till),
    periods: raw.timeperiods.map(periodOf),
    tags: raw.tags,
    anyTag: raw.tags_evaltype === EvalType.Or,
    hosts: raw.hosts ?? [],
    groups: raw.hostgroups ?? [],
    zone,
  };
}

const SCHEDULE = {
  output: "extend",
  selectTimeperiods: "extend",
  selectTags: "extend",
} as const;
const COVERED = {
  selectHosts: ["hostid", "name"],
  selectHostGroups: ["groupid", "name"],
} as const;

/** What the list of maintenances is narrowed by. */
export interface MaintenanceFilter {
  text?: string;
  /** All states: in the order of their times. */
  states: readonly MaintenanceState[];
  hostids?: readonly string[];
  groupids?: readonly string[];
}

function narrowed({ text, states, hostids, groupids }: MaintenanceFilter) {
  return {
    states,
    hostids: hostids?.length ? hostids : undefined,
    groupids: groupids?.length ? groupids : undefined,
    search: text ? { name: text } : undefined,
  } satisfies GetParams<"maintenance.get">;
}

/** How many maintenances match. */
export const maintenanceTotalQuery = (filter: MaintenanceFilter) =>
  queryOptions({
    queryKey: ["maintenances", "total", filter],
    queryFn: ({ signal }) => rpcCount("maintenance.get", narrowed(filter), signal),
    placeholderData: keepPreviousData,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });

/** What narrows, sorts and limits; the members that are read are the same for all lists. */
type Narrowing = Omit<
  GetParams<"maintenance.get">,
  "output" | keyof Gets["maintenance.get"]["selects"]
>;

/** Maintenances with their schedules; `covered`: with their hosts and groups, too. */
async function fetchRows(
  client: QueryClient,
  params: Narrowing,
  covered: boolean,
  signal?: AbortSignal,
): Promise<MaintenanceDetail[]> {
  const [raw, zone] = await Promise.all([
    covered
      ? rpc("maintenance.get", { ...SCHEDULE, ...COVERED, ...params }, signal)
      : rpc("maintenance.get", { ...SCHEDULE, ...params }, signal),
    serverZone(client),
  ]);
  return raw.map((one) => detailOf(one, zone));
}

/** The rows of a window of the list; the server sorts by state and time, and cuts. */
export function maintenanceWindow(
  client: QueryClient,
  filter: MaintenanceFilter,
  offset: number,
  limit: number,
  signal?: AbortSignal,
): Promise<MaintenanceDetail[]> {
  const window = { limit, offset: offset || undefined };
  return fetchRows(client, { ...narrowed(filter), ...window }, true, signal);
}

/** The ids of the first matching maintenances, in the order of the list. */
export async function maintenanceIds(filter: MaintenanceFilter, limit: number): Promise<string[]> {
  const rows = await rpc("maintenance.get", {
    output: ["maintenanceid"],
    ...narrowed(filter),
    limit,
  });
  return rows.map((row) => row.maintenanceid);
}

/** Maintenances by id, for the marks of hosts and problems. */
export function maintenancesQuery(ids: readonly string[]) {
  const maintenanceids = [...new Set(ids)].sort();
  return queryOptions({
    queryKey: ["maintenances", "some", maintenanceids],
    queryFn: ({ signal, client }): Promise<Maintenance[]> =>
      fetchRows(client, { maintenanceids }, false, signal),
    enabled: maintenanceids.length > 0,
    placeholderData: keepPreviousData,
    staleTime: 5_000,
    refetchInterval: pollInterval,
    meta: { live: "config" },
  });
}

export const maintenanceQuery = (maintenanceid: string) =>
  queryOptions({
    queryKey: ["maintenances", "one", maintenanceid],
    queryFn: async ({ signal }) => {
      const params = { ...SCHEDULE, ...COVERED, maintenanceids: [maintenanceid] };
      const [raw] = await rpc("maintenance.get", params, signal);
      return raw ? detailOf(raw) : null;
    },
    meta: { live: "config" },
  });

/** Creates a maintenance, or changes the one given; the answer is its id. */
export async function saveMaintenance(
  maintenanceid: string | null,
  members: Members<"maintenance">,
): Promise<string> {
  const { maintenanceids } = maintenanceid
    ? await rpc("maintenance.update", { maintenanceid, ...members })
    : await rpc("maintenance.create", members);
  return maintenanceids[0] ?? "";
}

export function deleteMaintenances(maintenanceids: string[]): Promise<unknown> {
  return rpc("maintenance.delete", maintenanceids);
}

/** Whether the user's type and role allow changing maintenances. */
export function maySilence(): boolean {
  return (session()?.type ?? 0) >= 2 && allows("edit_maintenance");
}

const keyOf = (target: { hosts: readonly { hostid: string }[] }, tags: readonly Tag[]) =>
  JSON.stringify([
    target.hosts.map((host) => host.hostid).sort(),
    tags.map(({ tag, value }) => `${tag}=${value}`).sort(),
  ]);

/**
 * Silences something until then; the answer is the id of the maintenance. What the same user
 * silenced before is set again, so that silences do not pile up.
 */
export async function silence(target: SilenceTarget, until: number, now: number): Promise<string> {
  const username = session()?.username ?? "";
  const base = silenceName(target, username);
  const search = { name: base.slice(0, 100) };
  const params = { ...SCHEDULE, ...COVERED, search, startSearch: true };
  const named = new Map((await rpc("maintenance.get", params)).map((m) => [m.name, m]));
  const wanted = keyOf(target, silenceTags(target));
  for (let again = 1; ; again++) {
    const name = silenceName(target, username, again);
    const old = named.get(name);
    if (old && keyOf({ hosts: old.hosts ?? [] }, old.tags) !== wanted) continue;
    const members = { name, ...silenceParams(target, until, now) };
    return saveMaintenance(old?.maintenanceid ?? null, members);
  }
}

/** How many open problems a silence would cover. */
export const coveredQuery = (target: SilenceTarget) =>
  queryOptions({
    queryKey: ["problems", "covered", target],
    queryFn: ({ signal }) =>
      rpcCount(
        "problem.get",
        {
          source: 0,
          object: 0,
          hostids: target.hosts.map((host) => host.hostid),
          tags: silenceTags(target).map((tag) => ({ ...tag, operator: 1 })),
        },
        signal,
      ),
    meta: { live: "problems" },
  });
