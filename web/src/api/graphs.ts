import { queryOptions } from "@tanstack/react-query";
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
