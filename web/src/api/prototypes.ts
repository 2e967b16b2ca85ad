import { keepPreviousData, queryOptions } from "@tanstack/react-query";
import { rpc } from "./client";
import { ITEM_ROW } from "./items";

/** Objects that discovery created on a host of one prototype, by name. */
const DISCOVERED_MAX = 200;

const parentOf = (one: object | readonly unknown[] | undefined, key: string): string =>
  one && !Array.isArray(one) ? String((one as Record<string, unknown>)[key] ?? "") : "";

/** The prototype of this id on a host: itself, or that of the same name. */
async function graphPrototypeOn(id: string, hostid: string | undefined, signal: AbortSignal) {
  const output = ["graphid", "name"] as const;
  const [own] = await rpc(
    "graphprototype.get",
    { output, graphids: id, selectHosts: ["hostid"] },
    signal,
  );
  if (!own) return undefined;
  if (!hostid || own.hosts.some((host) => host.hostid === hostid)) {
    return { graphid: own.graphid, hostid: hostid ?? own.hosts[0]?.hostid ?? "" };
  }
  const [twin] = await rpc(
    "graphprototype.get",
    { output, hostids: hostid, filter: { name: own.name } },
    signal,
  );
  return twin && { graphid: twin.graphid, hostid };
}

/** Graphs that discovery created of a prototype; null: the prototype is not visible. */
export const discoveredGraphsQuery = (graphid: string, hostid: string | undefined) =>
  queryOptions({
    queryKey: ["graphs", "discovered", graphid, hostid ?? ""],
    queryFn: async ({ signal }) => {
      const prototype = await graphPrototypeOn(graphid, hostid, signal);
      if (!prototype) return null;
      const graphs = await rpc(
        "graph.get",
        {
          output: ["graphid", "name", "graphtype"],
          hostids: prototype.hostid,
          filter: { flags: "4" },
          selectGraphDiscovery: ["parent_graphid"],
          sortfield: "name",
        },
        signal,
      );
      return graphs
        .filter((graph) => parentOf(graph.graphDiscovery, "parent_graphid") === prototype.graphid)
        .slice(0, DISCOVERED_MAX)
        .map((graph) => graph.graphid);
    },
    enabled: graphid !== "",
    placeholderData: keepPreviousData,
    meta: { live: "config" },
  });

/** Items that discovery created of a prototype; null: the prototype is not visible. */
export const discoveredItemsQuery = (itemid: string, hostid: string | undefined) =>
  queryOptions({
    queryKey: ["items", "discovered", itemid, hostid ?? ""],
    queryFn: async ({ signal }) => {
      const output = ["itemid", "key_"] as const;
      const [own] = await rpc(
        "itemprototype.get",
        { output, itemids: itemid, selectHosts: ["hostid"] },
        signal,
      );
      if (!own) return null;
      const owner = hostid ?? own.hosts[0]?.hostid ?? "";
      const isOwn = own.hosts.some((host) => host.hostid === owner);
      const [twin] = isOwn
        ? [own]
        : await rpc(
            "itemprototype.get",
            { output, hostids: owner, filter: { key_: own.key_ } },
            signal,
          );
      if (!twin) return null;
      const rows = await rpc(
        "item.get",
        {
          ...ITEM_ROW,
          hostids: owner,
          filter: { flags: "4" },
          selectItemDiscovery: ["parent_itemid"],
          sortfield: "name",
        },
        signal,
      );
      return rows
        .filter((row) => parentOf(row.itemDiscovery, "parent_itemid") === twin.itemid)
        .slice(0, DISCOVERED_MAX)
        .map((row) => row.itemid);
    },
    enabled: itemid !== "",
    placeholderData: keepPreviousData,
    meta: { live: "config" },
  });
