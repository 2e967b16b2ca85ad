import { Link } from "@tanstack/react-router";
import { aggregateQuery } from "~/api/aggregates";
import type { ItemRow } from "~/api/items";
import { lineColor } from "~/charts/palette";
import { QueryError } from "~/shared/fallback";
import { type Aggregate, aggregate } from "~/util/aggregates";
import { arcPath, slicesOf } from "./arcs";
import { rangeFor, useBus } from "./bus";
import { type DataSet, dataSetsOf } from "./data-sets";
import { Note, Room, useAllData, type WidgetProps } from "./frame";
import { inOne, writeNumber } from "./labels";
import { Settings } from "./settings";
import { useSetItems } from "./svg-graph";
import { texts } from "./texts";

/** `draw_type`: 1 is a ring. */
const RING = "1";

export interface Part {
  id: string;
  name: string;
  value: number;
  units: string;
  color: string;
  /** The value is the whole, of which the other parts are taken. */
  isTotal: boolean;
  itemid?: string;
}

/** The parts of a pie: with a total, what the others leave of it is a part of its own. */
export function partsOf(parts: readonly Part[]): { parts: Part[]; total: number } {
  const total = parts.find((part) => part.isTotal);
  const rest = parts.filter((part) => !part.isTotal);
  const sum = rest.reduce((a, { value }) => a + Math.max(0, value), 0);
  if (!total) return { parts: rest, total: sum };
  const left = Math.max(0, total.value - sum);
  return { parts: [...rest, { ...total, value: left }], total: total.value };
}

/** Parts below a percentage of the whole become one. */
export function merged(
  parts: readonly Part[],
  percent: number,
  color: string,
  name: string,
): Part[] {
  const whole = parts.reduce((a, { value }) => a + Math.max(0, value), 0);
  const isSmall = ({ value }: Part) => (Math.max(0, value) / (whole || 1)) * 100 < percent;
  const small = parts.filter(isSmall);
  if (small.length < 2) return [...parts];
  const value = small.reduce((a, part) => a + Math.max(0, part.value), 0);
  const units = small[0]?.units ?? "";
  return [
    ...parts.filter((part) => !isSmall(part)),
    { id: "merged", name, value, units, color, isTotal: false },
  ];
}

/** A data set as parts: one for each item, or one for all. */
function setParts(
  set: DataSet,
  items: readonly ItemRow[],
  values: readonly (number | null | undefined)[],
  together: Aggregate | undefined,
  from: number,
): Part[] {
  const withHost = new Set(items.map((item) => item.hostid)).size > 1;
  const parts = items.flatMap((item, n): Part[] => {
    const value = values[n];
    if (value === null || value === undefined) return [];
    const name = withHost ? `${item.hosts[0]?.name}: ${item.name}` : item.name;
    const color =
      set.items[n]?.color ?? (n === 0 ? set.look.color : undefined) ?? lineColor(from + n);
    const isTotal = set.items[n]?.isTotal ?? false;
    return [
      { id: item.itemid, name, value, units: item.units, color, isTotal, itemid: item.itemid },
    ];
  });
  const [first] = parts;
  if (!together || !first) return parts;
  const value = aggregate(together, { values: parts.map((part) => part.value) }) ?? 0;
  return [{ ...first, value, name: set.label || texts.setOf(first.name) }];
}

function Drawing({
  parts,
  total,
  settings,
}: {
  parts: readonly Part[];
  total: number;
  settings: Settings;
}) {
  const slices = slicesOf(parts.map(({ value }) => value));
  const isRing = settings.text("draw_type") === RING;
  const inner = isRing ? Math.max(10, 50 - settings.number("width", 50) / 2) : 0;
  const gap = parts.length > 1 ? settings.number("space", 1) * 0.012 : 0;
  const units = settings.flag("units_show") ? settings.text("units") : (parts[0]?.units ?? "");
  const look = {
    decimals:
      settings.flag("decimal_places") || settings.text("decimal_places") !== ""
        ? settings.number("decimal_places", 2)
        : undefined,
  };
  const words = parts.map((part, n) =>
    texts.share(
      part.name,
      inOne(writeNumber(part.value, units || part.units, look)),
      `${((slices[n]?.share ?? 0) * 100).toFixed(1)} %`,
    ),
  );
  return (
    <Room least={90}>
      {({ width, height }) => (
        <svg
          width={width}
          height={height}
          viewBox="-54 -54 108 108"
          role="img"
          aria-label={texts.pie(words.join("; "))}
        >
          {slices.map((slice, n) => {
            const part = parts[n];
            if (!part || slice.share === 0) return null;
            const trim = Math.min(gap, (slice.till - slice.from) / 3);
            return (
              <path
                key={part.id}
                d={arcPath(slice.from + trim, slice.till - trim, 50, inner)}
                fill={part.color}
              >
                <title>{words[n]}</title>
              </path>
            );
          })}
          {isRing && settings.flag("total_show") && (
            <text
              y={4}
              textAnchor="middle"
              fontSize={Math.min(13, inner * 0.5)}
              fontWeight={600}
              className="fill-current"
            >
              {inOne(writeNumber(total, units, look))}
            </text>
          )}
        </svg>
      )}
    </Room>
  );
}

function Legend({ parts, settings }: { parts: readonly Part[]; settings: Settings }) {
  if (!settings.flag("legend", true)) return null;
  const rows = Math.max(1, settings.number("legend_lines", 1));
  return (
    <ul
      // biome-ignore lint/a11y/noNoninteractiveTabindex: what scrolls must be reachable by keyboard
      tabIndex={0}
      aria-label={texts.legend}
      className="flex shrink-0 flex-wrap gap-x-4 overflow-auto px-3 pb-1"
      style={{ maxHeight: Math.max(2, rows) * 20 }}
    >
      {parts.map((part) => (
        <li key={part.id} className="flex h-5 max-w-full min-w-0 items-center gap-1.5 text-xs">
          <span
            aria-hidden="true"
            className="size-2.5 shrink-0 rounded-sm"
            style={{ backgroundColor: part.color }}
          />
          {part.itemid ? (
            <Link
              to="/graph"
              search={{ items: part.itemid }}
              className="truncate text-soft hover:text-ink hover:underline"
            >
              {part.name}
            </Link>
          ) : (
            <span className="truncate text-soft">{part.name}</span>
          )}
          {settings.flag("legend_value") && (
            <span className="tabular shrink-0 font-medium">
              {inOne(writeNumber(part.value, part.units))}
            </span>
          )}
        </li>
      ))}
    </ul>
  );
}

/** *Pie chart*: shares of items. */
export function Pie({ widget }: WidgetProps) {
  const { signals } = useBus();
  const settings = Settings.of(widget);
  const sets = dataSetsOf(settings);
  const range = rangeFor(signals, widget);
  const found = useSetItems(sets, widget);
  const flat = sets.flatMap((set, s) => (found.items[s] ?? []).map((item) => ({ set, item })));
  const results = useAllData(
    flat.map(({ set, item }) => ({
      ...aggregateQuery(item, set.aggregate, range),
      enabled: set.aggregate !== undefined && set.aggregate !== "last",
    })),
  );
  const last = (item: ItemRow) => (item.lastclock === "0" ? null : Number(item.lastvalue));
  const groups = settings.parts("ds").map((part) => part.number("dataset_aggregation", 0));
  const together = [undefined, "min", "max", "avg", "count", "sum"] as const;
  const all = sets.flatMap((set, s) => {
    const values = flat.flatMap((one, n) =>
      one.set === set
        ? [set.aggregate && set.aggregate !== "last" ? results[n]?.data : last(one.item)]
        : [],
    );
    const from = flat.findIndex((one) => one.set === set);
    return setParts(set, found.items[s] ?? [], values, together[groups[s] ?? 0], Math.max(0, from));
  });
  const { parts, total } = partsOf(all);
  const shown = settings.flag("merge")
    ? merged(
        parts,
        settings.number("merge_percent", 1),
        settings.color("merge_color") ?? lineColor(parts.length),
        texts.other,
      )
    : parts;
  if (found.error) return <QueryError error={found.error} />;
  if (found.isWaiting && flat.length === 0) return <Note>{texts.waitsForItem}</Note>;
  if (flat.length === 0 && !found.isLoading)
    return <Note>{sets.length > 0 ? texts.noItemsFound : texts.noItems}</Note>;
  if (shown.every(({ value }) => value <= 0))
    return <Note>{found.isLoading ? "…" : texts.noShares}</Note>;
  return (
    <>
      <Drawing parts={shown} total={total} settings={settings} />
      <Legend parts={shown} settings={settings} />
    </>
  );
}
