import type { ComponentType } from "react";
import { notApplied } from "./applied";
import { HostAvailability } from "./availability";
import { ClassicGraph, GraphPrototype } from "./classic-graph";
import { Clock } from "./clock";
import { NotApplied, Note, Paced, type WidgetProps } from "./frame";
import { Gauge } from "./gauge";
import { Geomap } from "./geomap";
import { HoneycombWidget } from "./honeycomb";
import { ItemHistory } from "./item-history";
import { ItemValue } from "./item-value";
import { isKind, type Kind } from "./kinds";
import { Favorites, MapTree, MapWidget } from "./maps";
import { HostNavigator, ItemNavigator } from "./navigators";
import { DataOverview, TriggerOverview } from "./overviews";
import { Pie } from "./pie";
import { ProblemHosts, Problems, ProblemsBySeverity, TopTriggers } from "./problems";
import { ActionLog, DiscoveryStatus, SlaReport, SystemInfo, WebMonitoring } from "./reports";
import { SvgGraph } from "./svg-graph";
import { texts } from "./texts";
import { TopHosts } from "./top-hosts";
import { Url } from "./url";

/** What draws each kind. */
const DRAWN: Record<Kind, ComponentType<WidgetProps>> = {
  actionlog: ActionLog,
  clock: Clock,
  dataover: DataOverview,
  discovery: DiscoveryStatus,
  favgraphs: Favorites,
  favmaps: Favorites,
  gauge: Gauge,
  geomap: Geomap,
  graph: ClassicGraph,
  graphprototype: GraphPrototype,
  honeycomb: HoneycombWidget,
  hostavail: HostAvailability,
  hostnavigator: HostNavigator,
  item: ItemValue,
  itemhistory: ItemHistory,
  itemnavigator: ItemNavigator,
  map: MapWidget,
  navtree: MapTree,
  piechart: Pie,
  plaintext: ItemHistory,
  problemhosts: ProblemHosts,
  problems: Problems,
  problemsbysv: ProblemsBySeverity,
  slareport: SlaReport,
  svggraph: SvgGraph,
  systeminfo: SystemInfo,
  tophosts: TopHosts,
  toptriggers: TopTriggers,
  trigover: TriggerOverview,
  url: Url,
  web: WebMonitoring,
};

/** What a widget shows. The bus around it has its host and the signals of the other widgets. */
export function WidgetBody({ widget }: WidgetProps) {
  if (!isKind(widget.type)) return <Note>{texts.unknownKind(widget.type)}</Note>;
  const Drawn = DRAWN[widget.type];
  return (
    <Paced widget={widget}>
      <NotApplied names={notApplied(widget, widget.type)} />
      <Drawn widget={widget} />
    </Paced>
  );
}
