import { type ReactNode, useState } from "react";
import { FIELD_TYPE, objectsOf, type Widget } from "~/api/dashboards";
import { type GraphItemRow, graphsQuery, hostGraphsQuery } from "~/api/graphs";
import { seriesQuery } from "~/api/history";
import { discoveredGraphsQuery, discoveredItemsQuery } from "~/api/prototypes";
import { twinItemsQuery } from "~/api/widget-items";
import type { LineLook } from "~/charts/palette";
import { Found } from "~/shared/fallback";
import { Button } from "~/ui/button";
import { heardBy, hostFor, useBus } from "./bus";
import { Chart } from "./chart";
import { Note, useAllData, useData, type WidgetProps } from "./frame";
import { stacked } from "./lines";
import { Settings } from "./settings";
import { texts } from "./texts";
import { useRange } from "./use-range";

/** `graphtype` and `drawtype` of graphs. */
const STACKED = "1";
const DRAW = { filled: "1", bold: "2", dots: "3", dashed: "4", gradient: "5" } as const;
const RIGHT = "1";
/** `source_type` of a graph and of prototypes: one item instead of a graph. */
const SIMPLE_ITEM = "1";
const SIMPLE_PROTOTYPE = "3";

interface Shown {
  name: string;
  graphtype: string;
  gitems: readonly GraphItemRow[];
}

function lookOf({ color, drawtype, yaxisside }: GraphItemRow, graphtype: string): LineLook {
  const isFilled = graphtype === STACKED || drawtype === DRAW.filled || drawtype === DRAW.gradient;
  return {
    color: color ? `#${color}` : undefined,
    fill: isFilled ? 0.4 : undefined,
    width: drawtype === DRAW.bold ? 3 : undefined,
    dash: drawtype === DRAW.dashed ? [8, 4] : drawtype === DRAW.dots ? [2, 3] : undefined,
    right: yaxisside === RIGHT,
  };
}

/** The items of a graph over time. */
function Drawn({
  graph,
  widget,
  hostid,
  isLegend,
}: WidgetProps & { graph: Shown; hostid: string | undefined; isLegend: boolean }) {
  const [range, onRange] = useRange(widget);
  const gitems = graph.gitems.toSorted((a, b) => Number(a.sortorder) - Number(b.sortorder));
  const found = useData(
    twinItemsQuery(
      gitems.map((item) => item.itemid),
      hostid,
    ),
  );
  const items = found.data ?? [];
  const results = useAllData(items.map((item) => seriesQuery(item, range)));
  const withHost = new Set(items.map((item) => item.hostid)).size > 1;
  const lines = items.map((item, n) => {
    const gitem = gitems[n];
    const { clocks = [], values = [], low, high } = results[n]?.data ?? {};
    const name = withHost ? `${item.hosts[0]?.name}: ${item.name}` : item.name;
    const look = gitem && lookOf(gitem, graph.graphtype);
    return { id: item.itemid, name, units: item.units, look, clocks, values, low, high };
  });
  if (found.isSuccess && items.length === 0) return <Note>{texts.notVisible}</Note>;
  return (
    <Chart
      label={graph.name || texts.graphOf(items.map((item) => item.name))}
      lines={graph.graphtype === STACKED ? stacked(lines, () => true) : lines}
      range={range}
      onRange={onRange}
      legend={{ shown: isLegend, statistic: false, rows: 3 }}
      error={found.error ?? results.find((result) => result.error)?.error ?? null}
      isLoading={found.isLoading || results.some((result) => result.isPending)}
    />
  );
}

const ofItem = (itemid: string): Shown => ({
  name: "",
  graphtype: "0",
  gitems: [{ itemid, drawtype: "0", sortorder: "0", color: "", yaxisside: "0" }],
});

/** A graph, or that of the same name on another host. */
function GraphOf({
  graphid,
  widget,
  hostid,
}: WidgetProps & { graphid: string; hostid: string | undefined }) {
  const query = useData(graphsQuery([graphid]));
  const others = useData({ ...hostGraphsQuery(hostid ?? ""), enabled: hostid !== undefined });
  const isLegend = Settings.of(widget).flag("show_legend", true);
  return (
    <Found query={query} gone={null}>
      {([graph]) => {
        const twin = hostid && others.data?.find((other) => other.name === graph?.name);
        const shown = twin || graph;
        return shown ? (
          <Drawn graph={shown} widget={widget} hostid={undefined} isLegend={isLegend} />
        ) : (
          <Note>{texts.notVisible}</Note>
        );
      }}
    </Found>
  );
}

const isSimple = (widget: Widget, kind: string) => Settings.of(widget).text("source_type") === kind;

/** *Graph (classic)*: a graph of a host, or of one item. */
export function ClassicGraph({ widget }: WidgetProps) {
  const bus = useBus();
  const override = hostFor(bus, widget);
  const heard = heardBy(bus.signals, widget, "itemid", "_itemid");
  const graphid = objectsOf(widget, FIELD_TYPE.graph)[0];
  const itemid = heard.value ?? objectsOf(widget, FIELD_TYPE.item)[0];
  if (heard.source && !heard.value) return <Note>{texts.waitsForItem}</Note>;
  if (override.source && !override.value) return <Note>{texts.waitsForHost}</Note>;
  if (graphid && !isSimple(widget, SIMPLE_ITEM)) {
    return <GraphOf graphid={graphid} widget={widget} hostid={override.value} />;
  }
  if (!itemid) return <Note>{texts.noItems}</Note>;
  return (
    <Drawn
      graph={ofItem(itemid)}
      widget={widget}
      hostid={override.value}
      isLegend={Settings.of(widget).flag("show_legend", true)}
    />
  );
}

/** A page of graphs in columns and rows. */
function Pages({
  ids,
  widget,
  children,
}: WidgetProps & { ids: readonly string[]; children: (id: string) => ReactNode }) {
  const settings = Settings.of(widget);
  const columns = Math.max(1, settings.number("columns", 2));
  const size = columns * Math.max(1, settings.number("rows", 1));
  const [page, setPage] = useState(0);
  const pages = Math.ceil(ids.length / size);
  const at = Math.min(page, pages - 1);
  return (
    <div className="flex min-h-0 flex-1 flex-col">
      <div
        className="grid min-h-0 flex-1 auto-rows-fr gap-2 max-sm:!grid-cols-1"
        style={{ gridTemplateColumns: `repeat(${columns}, minmax(0, 1fr))` }}
      >
        {ids.slice(at * size, at * size + size).map((id) => (
          <div key={id} className="flex min-h-0 min-w-0 flex-col">
            {children(id)}
          </div>
        ))}
      </div>
      {pages > 1 && (
        <div className="flex shrink-0 items-center justify-center gap-2 p-1 text-xs">
          <Button small disabled={at === 0} onClick={() => setPage(at - 1)}>
            {texts.previous}
          </Button>
          <span className="tabular" aria-live="polite">
            {texts.pageOf(at + 1, pages)}
          </span>
          <Button small disabled={at === pages - 1} onClick={() => setPage(at + 1)}>
            {texts.next}
          </Button>
        </div>
      )}
    </div>
  );
}

/** *Graph prototype*: the graphs, or items, that discovery created of a prototype. */
export function GraphPrototype({ widget }: WidgetProps) {
  const bus = useBus();
  const override = hostFor(bus, widget);
  const hostid = override.value ?? bus.pageHost;
  const isItems = isSimple(widget, SIMPLE_PROTOTYPE);
  const id =
    objectsOf(widget, isItems ? FIELD_TYPE.itemPrototype : FIELD_TYPE.graphPrototype)[0] ?? "";
  const graphs = useData({ ...discoveredGraphsQuery(id, hostid), enabled: id !== "" && !isItems });
  const items = useData({ ...discoveredItemsQuery(id, hostid), enabled: id !== "" && isItems });
  const isLegend = Settings.of(widget).flag("show_legend", true);
  if (id === "") return <Note>{texts.noPrototypes}</Note>;
  if (override.source && !override.value) return <Note>{texts.waitsForHost}</Note>;
  return (
    <Found query={isItems ? items : graphs} gone={<Note>{texts.notVisible}</Note>}>
      {(ids) =>
        ids.length === 0 ? (
          <Note>{texts.noDiscovered}</Note>
        ) : (
          <Pages ids={ids} widget={widget}>
            {(one) =>
              isItems ? (
                <Drawn graph={ofItem(one)} widget={widget} hostid={undefined} isLegend={isLegend} />
              ) : (
                <GraphOf graphid={one} widget={widget} hostid={undefined} />
              )
            }
          </Pages>
        )
      }
    </Found>
  );
}
