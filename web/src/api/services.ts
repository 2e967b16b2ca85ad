import { queryOptions } from "@tanstack/react-query";
import type { Tag } from "~/util/tags";
import { rpc, rpcCount } from "./client";
import type { GetParams, Gets } from "./gets";
import { pollInterval } from "./live";

/** A tag condition. `operator`: 0 equals, 2 contains. */
export interface TagCondition extends Tag {
  operator: string;
}

export interface StatusRule {
  /** See `RULES` in `util/services.ts`. */
  type: string;
  limit_value: string;
  limit_status: string;
  new_status: string;
}

export interface ServiceRow {
  serviceid: string;
  name: string;
  /** "-1" OK, else a severity. */
  status: string;
  algorithm: string;
  sortorder: string;
  weight: string;
  propagation_rule: string;
  propagation_value: string;
  description: string;
  created_at: string;
  /** The role allows only reading it. */
  readonly: boolean;
}

export interface ServiceRef {
  serviceid: string;
  name: string;
}

/** A problem that causes the status. */
export interface ProblemEvent {
  eventid: string;
  name: string;
  severity: string;
}

/** A service as the form and the API's `create` have it. */
export interface ServiceInput {
  name: string;
  algorithm: string;
  sortorder: string;
  weight: string;
  propagation_rule: string;
  propagation_value: string;
  description: string;
  tags: Tag[];
  problem_tags: TagCondition[];
  status_rules: StatusRule[];
  parents: { serviceid: string }[];
  children: { serviceid: string }[];
}

const SHOWN = {
  output: ["serviceid", "name", "status", "readonly", "description"],
  selectChildren: "count",
  selectTags: ["tag", "value"],
  selectProblemEvents: ["eventid", "name", "severity"],
} as const;

/** A row of the tree. */
export interface ServiceNode extends ServiceRef {
  status: string;
  readonly: boolean;
  description: string;
  /** Their number. */
  children: string;
  tags: Tag[];
  problem_events: ProblemEvent[];
}

/** Services of one level, or of one search, that are read. */
export const LEVEL_MAX = 1_000;

/** What narrows the services; without any the tree is shown. */
export interface ServiceFilter {
  text?: string;
  /** Only services with problems. */
  problems?: boolean;
  tags?: readonly { tag: string; value: string; operator: number }[];
}

const SEVERITIES = ["0", "1", "2", "3", "4", "5"];

function narrowed(
  filter: ServiceFilter,
): Omit<GetParams<"service.get">, "output" | keyof Gets["service.get"]["selects"]> {
  return {
    search: filter.text ? { name: filter.text } : undefined,
    filter: filter.problems ? { status: SEVERITIES } : undefined,
    tags: filter.tags?.length ? filter.tags : undefined,
  };
}

/** The services below another; "0": those at the top. */
export const childServicesQuery = (parentid: string) =>
  queryOptions({
    queryKey: ["services", "below", parentid],
    queryFn: ({ signal }): Promise<ServiceNode[]> =>
      rpc(
        "service.get",
        {
          ...SHOWN,
          parentids: parentid,
          sortfield: ["sortorder", "name"],
          limit: LEVEL_MAX,
        },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** Services by a search, without their tree. */
export const foundServicesQuery = (filter: ServiceFilter) =>
  queryOptions({
    queryKey: ["services", "found", filter],
    queryFn: ({ signal }): Promise<ServiceNode[]> =>
      rpc(
        "service.get",
        { ...SHOWN, ...narrowed(filter), sortfield: "name", limit: LEVEL_MAX },
        signal,
      ),
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

export const serviceCountQuery = (filter: ServiceFilter) =>
  queryOptions({
    queryKey: ["services", "total", filter],
    queryFn: ({ signal }) => rpcCount("service.get", narrowed(filter), signal),
    refetchInterval: pollInterval,
    meta: { live: "problems" },
  });

/** A few services by a part of their names, for choices. */
export const serviceSearchQuery = (text: string) =>
  queryOptions({
    queryKey: ["services", "search", text],
    queryFn: ({ signal }): Promise<ServiceRef[]> =>
      rpc(
        "service.get",
        {
          output: ["serviceid", "name"],
          search: text ? { name: text } : undefined,
          sortfield: "name",
          limit: 20,
        },
        signal,
      ),
    placeholderData: (before) => before,
    meta: { live: "config" },
  });

/** Names of services by their ids. */
export const serviceNamesQuery = (serviceids: readonly string[]) =>
  queryOptions({
    queryKey: ["services", "names", serviceids],
    queryFn: ({ signal }): Promise<ServiceRef[]> =>
      rpc("service.get", { output: ["serviceid", "name"], serviceids }, signal),
    enabled: serviceids.length > 0,
    meta: { live: "config" },
  });

export interface Service extends ServiceRow {
  parents: ServiceRef[];
  children: ServiceRef[];
  tags: Tag[];
  problem_tags: TagCondition[];
  status_rules: StatusRule[];
}

export const serviceQuery = (serviceid: string) =>
  queryOptions({
    queryKey: ["services", "one", serviceid],
    queryFn: async ({ signal }): Promise<Service | null> =>
      (
        await rpc(
          "service.get",
          {
            output: [
              "serviceid",
              "name",
              "status",
              "algorithm",
              "sortorder",
              "weight",
              "propagation_rule",
              "propagation_value",
              "description",
              "created_at",
              "readonly",
            ],
            serviceids: serviceid,
            selectParents: ["serviceid", "name"],
            selectChildren: ["serviceid", "name"],
            selectTags: ["tag", "value"],
            selectProblemTags: ["tag", "operator", "value"],
            selectStatusRules: ["type", "limit_value", "limit_status", "new_status"],
          },
          signal,
        )
      )[0] ?? null,
    meta: { live: "config" },
  });

/** Creates a service, or changes the one given. */
export function saveService(serviceid: string | null, service: ServiceInput): Promise<unknown> {
  if (!serviceid) return rpc("service.create", service);
  return rpc("service.update", { serviceid, ...service });
}

export function deleteServices(serviceids: string[]): Promise<unknown> {
  return rpc("service.delete", serviceids);
}

/** The services that an agreement covers: some of them by name, and the number of all. */
export function slaServices(
  slaid: string,
  offset: number,
  limit: number,
  signal: AbortSignal,
): Promise<ServiceRef[]> {
  return rpc(
    "service.get",
    { output: ["serviceid", "name"], slaids: slaid, sortfield: "name", offset, limit },
    signal,
  );
}

export const slaServiceCountQuery = (slaid: string) =>
  queryOptions({
    queryKey: ["services", "of agreement", slaid],
    queryFn: ({ signal }) => rpcCount("service.get", { slaids: slaid }, signal),
    enabled: slaid !== "",
    meta: { live: "config" },
  });
