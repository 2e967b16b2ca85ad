import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import type { ItemRow } from "~/api/items";
import { State } from "~/api/schema";
import { scopedItemsQuery } from "~/api/widget-items";
import { Found } from "~/shared/fallback";
import { groupsFor, hostFor, hostsFor, referenceOf, useBus } from "./bus";
import { inkOn, legible } from "./colors";
import { Note, Room, useData, type WidgetProps } from "./frame";
import { hexagon, honeycombLayout, wrapped } from "./hexagons";
import { expandLabel, inOne, writeValue } from "./labels";
import { labelled, thresholdColor } from "./one-item";
import { anyOf, Settings } from "./settings";
import { texts } from "./texts";

/** Cells that are drawn; Zabbix also limits them by the room. */
const CELLS_MAX = 500;
/** `primary_label_type`, `secondary_label_type`: a text, or the value. */
const VALUE = "1";

/** One of the two labels of a cell. */
export function cellLabel(
  settings: Settings,
  which: "primary" | "secondary",
  item: ItemRow,
): string {
  const type = settings.text(`${which}_label_type`, which === "primary" ? "0" : VALUE);
  if (item.state === State.NotSupported && type === VALUE) return texts.notSupported;
  if (type !== VALUE) {
    return expandLabel(settings.text(`${which}_label`, "{HOST.NAME}"), labelled(item));
  }
  const written = writeValue(labelled(item), {
    decimals: settings.number(`${which}_label_decimal_places`, 2),
    units: settings.text(`${which}_label_units`) || undefined,
    bare: !settings.flag(`${which}_label_units_show`, true),
  });
  return written ? inOne(written) : texts.noValue;
}

interface CellProps {
  item: ItemRow;
  settings: Settings;
  x: number;
  y: number;
  radius: number;
  isSelected: boolean;
  onSelect: () => void;
}

function Cell({ item, settings, x, y, radius, isSelected, onSelect }: CellProps) {
  const show = settings.list("show");
  const shows = (what: string) => show.length === 0 || show.includes(what);
  const broken = item.state === State.NotSupported || item.lastclock === "0";
  const background = broken
    ? undefined
    : (thresholdColor(item, settings, settings.flag("interpolation")) ??
      settings.color("bg_color"));
  const ink = background ? inkOn(background) : "var(--ink)";
  const [first, second] = [
    cellLabel(settings, "primary", item),
    cellLabel(settings, "secondary", item),
  ];
  const size = Math.max(9, Math.min(14, radius / 4.2));
  const room = Math.floor((radius * 1.5) / (size * 0.56));
  const lines = shows("1") ? wrapped(first, room, radius > 34 ? 2 : 1) : [];
  const value = shows("2") ? wrapped(second, room, 1)[0] : undefined;
  const all = value === undefined ? lines : [...lines, value];
  const color = (which: string) =>
    (background && legible(settings.color(`${which}_label_color`), background)) ?? ink;
  const label = texts.cell(`${item.hosts[0]?.name}: ${item.name}`, second);
  return (
    // biome-ignore lint/a11y/useSemanticElements: a shape of a drawing cannot be a button element
    <g
      role="button"
      tabIndex={0}
      aria-pressed={isSelected}
      onClick={onSelect}
      onKeyDown={(event) => {
        if (event.key !== "Enter" && event.key !== " ") return;
        event.preventDefault();
        onSelect();
      }}
      className="outline-offset-0 hover:opacity-85"
    >
      <title>{`${label}\n${first}`}</title>
      <polygon
        points={hexagon(x, y, radius - 1.5)}
        style={{
          fill: background ?? "var(--sunken)",
          stroke: isSelected ? "var(--accent)" : "var(--line-strong)",
        }}
        strokeWidth={isSelected ? 3 : 1}
        strokeDasharray={broken ? "4 3" : undefined}
      />
      {radius > 16 &&
        all.map((line, n) => (
          <text
            // biome-ignore lint/suspicious/noArrayIndexKey: lines of one text
            key={n}
            x={x}
            y={y + (n - (all.length - 1) / 2) * size * 1.25 + size * 0.35}
            fontSize={size}
            fontWeight={n >= lines.length ? 600 : 400}
            textAnchor="middle"
            style={{ fill: color(n >= lines.length ? "secondary" : "primary") }}
            className="pointer-events-none"
          >
            {line}
          </text>
        ))}
    </g>
  );
}

function Cells({
  items,
  widget,
  width,
  height,
}: WidgetProps & { items: readonly ItemRow[]; width: number; height: number }) {
  const { signals, send } = useBus();
  const reference = referenceOf(widget);
  const selected = reference && signals.get(reference)?._itemid;
  const first = items[0];
  useEffect(() => {
    if (!reference || !first || items.some((item) => item.itemid === selected)) return;
    send(reference, { _itemid: first.itemid, _hostid: first.hostid, _hostids: [first.hostid] });
  }, [reference, first, items, selected, send]);
  const settings = Settings.of(widget);
  const { radius, places, tall } = honeycombLayout(items.length, width, height);
  const isChosen = items.find((item) => item.itemid === selected);
  return (
    <div className="h-full overflow-auto">
      {isChosen && (
        <Link
          to="/graph"
          search={{ items: isChosen.itemid }}
          className="sr-only focus:not-sr-only focus:p-2"
        >
          {texts.valueOf(isChosen.name, isChosen.hosts[0]?.name ?? "")}
        </Link>
      )}
      {/* biome-ignore lint/a11y/useSemanticElements: a drawing cannot be a fieldset */}
      <svg
        width={width}
        height={Math.max(tall, 1)}
        className="block"
        role="group"
        aria-label={texts.cells(items.length)}
      >
        {items.map((item, n) => {
          const [x, y] = places[n] ?? [0, 0];
          return (
            <Cell
              key={item.itemid}
              item={item}
              settings={settings}
              x={x}
              y={y}
              radius={radius}
              isSelected={item.itemid === selected}
              onSelect={() =>
                reference &&
                send(reference, {
                  _itemid: item.itemid,
                  _hostid: item.hostid,
                  _hostids: [item.hostid],
                })
              }
            />
          );
        })}
      </svg>
    </div>
  );
}

/** *Honeycomb*: a cell for each item, in the colours of its thresholds. */
export function HoneycombWidget({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData({
    ...scopedItemsQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      hostTags: bus.pageHost ? [] : settings.tags("host_tags"),
      anyHostTag: anyOf(settings.text("evaltype_host", settings.text("host_tags_evaltype"))),
      names: settings.list("items"),
      tags: settings.tags("item_tags"),
      anyTag: anyOf(settings.text("evaltype_item", settings.text("item_tags_evaltype"))),
      withoutMaintenance: !settings.flag("maintenance"),
      limit: CELLS_MAX,
    }),
    enabled: settings.list("items").length > 0,
  });
  const override = hostFor(bus, widget);
  if (settings.list("items").length === 0) return <Note>{texts.noItems}</Note>;
  if (override.source && !override.value) return <Note>{texts.waitsForHost}</Note>;
  return (
    <Found query={query} gone={null}>
      {(items) =>
        items.length === 0 ? (
          <Note>{texts.noItemsFound}</Note>
        ) : (
          <>
            {items.length === CELLS_MAX && <Note>{texts.onlyFirst(CELLS_MAX)}</Note>}
            <Room least={180}>{(size) => <Cells items={items} widget={widget} {...size} />}</Room>
          </>
        )
      }
    </Found>
  );
}
