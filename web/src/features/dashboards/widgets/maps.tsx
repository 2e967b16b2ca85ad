import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { FIELD_TYPE, objectsOf } from "~/api/dashboards";
import { mapQuery } from "~/api/maps";
import { MapView } from "~/features/maps";
import { Found } from "~/shared/fallback";
import { cx } from "~/ui/cx";
import { heardBy, referenceOf, useBus } from "./bus";
import { Note, useData, type WidgetProps } from "./frame";
import { Settings } from "./settings";
import { texts } from "./texts";

/** *Map*: a network map, or that of a navigation tree. */
export function MapWidget({ widget }: WidgetProps) {
  const { signals } = useBus();
  const heard = heardBy(signals, widget, "sysmapid", "_mapid");
  const id = (heard.source ? heard.value : objectsOf(widget, FIELD_TYPE.map)[0]) ?? "";
  const query = useData({ ...mapQuery(id), enabled: id !== "" });
  if (heard.source && id === "") return <Note>{texts.waitsForMap}</Note>;
  if (id === "") return <Note>{texts.notVisible}</Note>;
  return (
    <Found query={query} gone={<Note>{texts.notVisible}</Note>}>
      {(map) => <MapView key={map.sysmapid} map={map} />}
    </Found>
  );
}

export interface TreeNode {
  number: string;
  name: string;
  sysmapid: string;
  nodes: TreeNode[];
}

const NO_PARENT = "0";

/** The tree of `navtree.N.name`, `.parent`, `.order` and `.sysmapid`, whose numbers N begin at 1. */
export function treeOf(widget: WidgetProps["widget"]): TreeNode[] {
  const settings = Settings.of(widget);
  const numbers = [
    ...new Set(widget.fields.flatMap(({ name }) => /^navtree\.(\d+)\./.exec(name)?.[1] ?? [])),
  ];
  const of = (number: string, what: string) => settings.text(`navtree.${number}.${what}`);
  const below = (parent: string, above: readonly string[]): TreeNode[] =>
    numbers
      .filter((number) => (of(number, "parent") || NO_PARENT) === parent && !above.includes(number))
      .sort((a, b) => Number(of(a, "order")) - Number(of(b, "order")) || Number(a) - Number(b))
      .map((number) => ({
        number,
        name: of(number, "name"),
        sysmapid: of(number, "sysmapid"),
        nodes: below(number, [...above, number]),
      }));
  return below(NO_PARENT, []);
}

const firstMap = (nodes: readonly TreeNode[]): string | undefined =>
  nodes.map((node) => node.sysmapid || firstMap(node.nodes)).find(Boolean);

interface NodesProps {
  nodes: readonly TreeNode[];
  selected: string | undefined;
  onSelect: (sysmapid: string) => void;
}

function Nodes({ nodes, selected, onSelect }: NodesProps) {
  return (
    <ul className="pl-3">
      {nodes.map((node) => (
        <li key={node.number}>
          {node.sysmapid ? (
            <button
              type="button"
              aria-current={node.sysmapid === selected || undefined}
              onClick={() => onSelect(node.sysmapid)}
              className={cx(
                "w-full truncate rounded px-2 py-1 text-left text-sm outline-offset-[-2px] hover:bg-hover",
                node.sysmapid === selected && "bg-accent-soft text-accent-ink",
              )}
            >
              {node.name}
            </button>
          ) : (
            <span className="block truncate px-2 py-1 text-sm font-medium">{node.name}</span>
          )}
          {node.nodes.length > 0 && (
            <Nodes nodes={node.nodes} selected={selected} onSelect={onSelect} />
          )}
        </li>
      ))}
    </ul>
  );
}

/** *Map navigation tree*: maps in a tree; the selected one is shown by map widgets. */
export function MapTree({ widget }: WidgetProps) {
  const { signals, send } = useBus();
  const reference = referenceOf(widget) ?? `widget ${widget.widgetid}`;
  const nodes = treeOf(widget);
  const selected = signals.get(reference)?._mapid;
  const first = firstMap(nodes);
  useEffect(() => {
    if (first && !selected) send(reference, { _mapid: first });
  }, [first, selected, reference, send]);
  if (nodes.length === 0) return <Note>{texts.noMaps}</Note>;
  return (
    <nav aria-label={widget.name || texts.kinds.navtree} className="py-1">
      <Nodes nodes={nodes} selected={selected} onSelect={(_mapid) => send(reference, { _mapid })} />
    </nav>
  );
}

/** *Favorite maps* and *Favorite graphs*: the profiles that have them do not exist here. */
export function Favorites({ widget }: WidgetProps) {
  const isMaps = widget.type === "favmaps";
  return (
    <Note>
      {texts.noFavorites}{" "}
      <Link to={isMaps ? "/maps" : "/hosts"} className="underline">
        {isMaps ? texts.openMaps : texts.openGraphs}
      </Link>
    </Note>
  );
}
