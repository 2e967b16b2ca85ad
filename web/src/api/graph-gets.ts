import type { ByHost, Get, HostRow, Ids, Many, Optional, Row } from "./gets";
import type * as schema from "./schema";

interface OfGraphs {
  selectGraphItems: Many<"gitems", schema.GraphItem>;
  selectHosts: Many<"hosts", HostRow>;
}

type ByGraph = ByHost & { graphids?: Ids; expandName?: boolean };

/** What each `get` of graphs and nodes of the server reads. */
export interface GraphGets {
  "graph.get": Get<
    Row<schema.Graph>,
    OfGraphs & { selectGraphDiscovery: Optional<"graphDiscovery", { parent_graphid: string }> },
    ByGraph
  >;
  "graphprototype.get": Get<Row<schema.GraphPrototype>, OfGraphs, ByGraph>;
  "hanode.get": Get<schema.HaNode, unknown, { ha_nodeids?: Ids }>;
}
