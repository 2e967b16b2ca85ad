import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import type { GraphItem } from "./schema";

/** What is shown of a graph's item. */
export type GraphItemRow = Pick<
  GraphItem,
  "itemid" | "drawtype" | "sortorder" | "color" | "yaxisside"
>;

const ROW = {
  output: ["graphid", "name", "graphtype"],
  expandName: true,
  selectGraphItems: ["itemid", "drawtype", "sortorder", "color", "yaxisside"],
  sortfield: "name",
} as const;

/** Graphs by their ids. */
export const graphsQuery = (graphids: readonly string[]) =>
  queryOptions({
    queryKey: ["graphs", "ids", graphids],
    queryFn: ({ signal }) => rpc("graph.get", { ...ROW, graphids }, signal),
    enabled: graphids.length > 0,
    meta: { live: "config" },
  });

/** The graphs of a host. */
export const hostGraphsQuery = (hostid: string) =>
  queryOptions({
    queryKey: ["graphs", hostid],
    queryFn: ({ signal }) => rpc("graph.get", { ...ROW, hostids: [hostid] }, signal),
    meta: { live: "config" },
  });

const FOUND = {
  output: ["graphid", "name"],
  selectHosts: ["hostid", "name"],
  sortfield: "name",
} as const;

const searched = (text: string, ownerid: string | undefined) =>
  ({
    ...FOUND,
    hostids: ownerid ? [ownerid] : undefined,
    search: text ? { name: text } : undefined,
    limit: 20,
  }) as const;

/** A handful of graphs by name, of all hosts or of one host or template. */
export const graphSearchQuery = (text: string, ownerid?: string) =>
  queryOptions({
    queryKey: ["graphs", "search", text, ownerid],
    queryFn: ({ signal }) => rpc("graph.get", searched(text, ownerid), signal),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** A handful of graph prototypes by name, of all hosts or of one host or template. */
export const graphPrototypeSearchQuery = (text: string, ownerid?: string) =>
  queryOptions({
    queryKey: ["graph prototypes", "search", text, ownerid],
    queryFn: ({ signal }) => rpc("graphprototype.get", searched(text, ownerid), signal),
    placeholderData: keepPreviousData,
    staleTime: 10_000,
  });

/** Names of graphs with their hosts. */
export const graphNamesQuery = (graphids: readonly string[]) =>
  queryOptions({
    queryKey: ["graphs", "names", graphids],
    queryFn: ({ signal }) => rpc("graph.get", { ...FOUND, graphids }, signal),
    enabled: graphids.length > 0,
    staleTime: 60_000,
  });

/** Names of graph prototypes with their hosts. */
export const graphPrototypeNamesQuery = (graphids: readonly string[]) =>
  queryOptions({
    queryKey: ["graph prototypes", "names", graphids],
    queryFn: ({ signal }) => rpc("graphprototype.get", { ...FOUND, graphids }, signal),
    enabled: graphids.length > 0,
    staleTime: 60_000,
  });
