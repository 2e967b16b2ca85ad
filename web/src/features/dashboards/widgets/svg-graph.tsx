import { graphProblemsQuery, graphTriggersQuery } from "~/api/graph-marks";
import { seriesQuery } from "~/api/history";
import type { ItemRow } from "~/api/items";
import { selectedItemsQuery } from "~/api/widget-items";
import type { AxisLook } from "~/charts/axes";
import { cssColor, lineColor } from "~/charts/palette";
import type { ChartLine } from "~/charts/tooltip";
import type { Series } from "~/util/points";
import { resolveRange, type TimeRange } from "~/util/time";
import { hostFor, useBus } from "./bus";
import { Chart } from "./chart";
import { thresholdNumber } from "./colors";
import { type DataSet, dataSetsOf, type LineStyle, overridden, overridesOf } from "./data-sets";
import { Note, useAllData, useData, type WidgetProps } from "./frame";
import {
  approximated,
  bridged,
  inSteps,
  percentileOf,
  shiftedBy,
  shiftedRange,
  stacked,
  triggerLimits,
} from "./lines";
import { anyOf, Settings } from "./settings";
import { texts } from "./texts";
import { useRange } from "./use-range";

/** Items of a data set that are drawn, as in Zabbix. */
const ITEMS_MAX = 50;

/** The items of each data set. */
export function useSetItems(sets: readonly DataSet[], widget: WidgetProps["widget"]) {
  const bus = useBus();
  const override = hostFor(bus, widget);
  const queries = sets.map((set) => {
    const hostid = (set.override && bus.signals.get(set.override)?._hostid) ?? override.value;
    if (set.items.length > 0) {
      const ids = set.items.flatMap(
        ({ itemid, reference }) =>
          itemid ?? (reference && bus.signals.get(reference)?._itemid) ?? [],
      );
      return selectedItemsQuery({ itemids: ids, hostid: override.value });
    }
    const host = hostid ?? bus.pageHost;
    return selectedItemsQuery({
      hostids: host ? [host] : [],
      hosts: host ? [] : set.hosts,
      names: set.names,
      numeric: true,
      limit: ITEMS_MAX,
    });
  });
  const results = useAllData(queries);
  const isWaiting = sets.some((set) =>
    set.items.some(({ reference }) => reference && !bus.signals.get(reference)?._itemid),
  );
  return {
    items: results.map(({ data }) => data ?? []),
    isWaiting: isWaiting || Boolean(override.source && !override.value),
    isLoading: results.some((result) => result.isLoading),
    error: results.find((result) => result.error)?.error ?? null,
  };
}

/** A line to draw: an item in the style of its data set. */
interface Drawn {
  id: string;
  set: DataSet;
  style: LineStyle;
  item: ItemRow;
}

/** The colour of an item of a data set of patterns: shades follow the palette after the first. */
const colorAt = (set: DataSet, n: number, from: number) =>
  set.items[n]?.color ?? (n === 0 ? set.look.color : undefined) ?? lineColor(from + n);

function drawnOf(
  sets: readonly DataSet[],
  items: readonly (readonly ItemRow[])[],
  settings: Settings,
): Drawn[] {
  const overrides = overridesOf(settings);
  let before = 0;
  return sets.flatMap((set, s) => {
    const own = items[s] ?? [];
    const drawn = own.map((item, n) => {
      const base = { ...set, look: { ...set.look, color: colorAt(set, n, before) } };
      const style = overridden(base, overrides, item.hosts[0]?.name ?? "", item.name);
      return { id: `${s} ${item.itemid}`, set, style, item };
    });
    before += own.length;
    return drawn;
  });
}

const middleOf = (range: TimeRange) => {
  const span = resolveRange(range);
  return span ? span.till : 0;
};

function lineOf(
  drawn: Drawn,
  points: readonly Series[],
  range: TimeRange,
  name: string,
): ChartLine {
  const { style, item, id } = drawn;
  const shift = Math.round(middleOf(range) - middleOf(shiftedRange(range, style.shift)));
  const moved = points.map((one) => shiftedBy(one, shift));
  const shown = style.aggregate
    ? inSteps(moved, style.aggregate, style.every)
    : approximated(moved[0] ?? { clocks: [], values: [] }, style.approximation);
  return {
    id,
    name,
    units: style.aggregate === "count" ? "" : item.units,
    look: style.look,
    ...bridged(shown, style.missing),
  };
}

/** Lines of data sets, with their history. A data set whose items are one line has the first item's style. */
function useLines(drawn: readonly Drawn[], range: TimeRange) {
  const results = useAllData(
    drawn.map(({ item, style }) => seriesQuery(item, shiftedRange(range, style.shift))),
  );
  const series = results.map(({ data }) => data);
  const hosts = new Set(drawn.map(({ item }) => item.hostid));
  const lines = drawn.flatMap((one, n): ChartLine[] => {
    const { set, style, item } = one;
    const isFirst = drawn.findIndex((other) => other.set === set) === n;
    if (style.together && !isFirst) return [];
    const mine = style.together
      ? drawn.flatMap((other, at) => (other.set === set ? (series[at] ?? []) : []))
      : [series[n] ?? []].flat();
    const host = hosts.size > 1 ? `${item.hosts[0]?.name}: ` : "";
    const plain = style.together ? set.label || texts.setOf(item.name) : `${host}${item.name}`;
    return [
      lineOf(one, mine, range, style.aggregate ? texts.aggregated(style.aggregate, plain) : plain),
    ];
  });
  const isStacked = new Set(drawn.filter(({ style }) => style.stacked).map(({ id }) => id));
  return {
    lines: isStacked.size > 0 ? stacked(lines, (line) => isStacked.has(line.id)) : lines,
    error: results.find((result) => result.error)?.error ?? null,
    isLoading: results.some((result) => result.isPending),
  };
}

/** `lefty_scale`, `righty_scale`: 1 is logarithmic. `lefty_units`: 1 is a text. */
function axisOf(settings: Settings, side: "lefty" | "righty", units: string): AxisLook {
  const end = (name: string) => {
    const value = thresholdNumber(settings.text(`${side}_${name}`), units);
    return Number.isNaN(value) ? undefined : value;
  };
  return {
    min: end("min"),
    max: end("max"),
    log: settings.flag(`${side}_scale`),
    units: settings.flag(`${side}_units`) ? settings.text(`${side}_static_units`) : undefined,
    hidden: !settings.flag(side, true),
  };
}

function useMarks(settings: Settings, items: readonly ItemRow[], range: TimeRange) {
  const ids = [...new Set(items.map((item) => item.itemid))];
  const triggers = useData({
    ...graphTriggersQuery(ids),
    enabled: ids.length > 0 && settings.flag("simple_triggers"),
  });
  const problems = useData({
    ...graphProblemsQuery({
      itemids: ids,
      range,
      severities: settings.list("severities").map(Number),
      text: settings.text("problem_name") || undefined,
      tags: settings.tags("tags"),
      anyTag: anyOf(settings.text("evaltype")) !== undefined,
    }),
    enabled: ids.length > 0 && settings.flag("show_problems"),
  });
  return {
    limits: settings.flag("simple_triggers") ? triggerLimits(triggers.data ?? []) : [],
    shades: (settings.flag("show_problems") ? (problems.data ?? []) : []).map(
      ({ severity, ...span }) => ({
        ...span,
        color: cssColor(`--sev-${severity}`),
      }),
    ),
  };
}

/** Lines at the percentiles of both sides. */
function percentiles(settings: Settings, lines: readonly ChartLine[]) {
  return (["left", "right"] as const).flatMap((side) => {
    if (!settings.flag(`percentile_${side}`)) return [];
    const right = side === "right";
    const value = percentileOf(lines, right, settings.number(`percentile_${side}_value`, 95));
    return value === null ? [] : [{ value, right, color: cssColor("--ink") }];
  });
}

/** *Graph*: data sets of items over time. */
export function SvgGraph({ widget }: WidgetProps) {
  const settings = Settings.of(widget);
  const sets = dataSetsOf(settings);
  const [range, onRange] = useRange(widget);
  const found = useSetItems(sets, widget);
  const drawn = drawnOf(sets, found.items, settings);
  const { lines, error, isLoading } = useLines(drawn, range);
  const items = drawn.map(({ item }) => item);
  const { limits, shades } = useMarks(settings, items, range);
  if (found.isWaiting && drawn.length === 0) return <Note>{texts.waitsForItem}</Note>;
  if (drawn.length === 0 && !found.isLoading && !found.error) {
    return <Note>{sets.length > 0 ? texts.noItemsFound : texts.noItems}</Note>;
  }
  const units = items[0]?.units ?? "";
  return (
    <Chart
      label={widget.name || texts.graphOf([...new Set(items.map((item) => item.name))])}
      lines={lines}
      range={range}
      onRange={onRange}
      axes={{
        left: axisOf(settings, "lefty", units),
        right: axisOf(settings, "righty", units),
        withoutTime: !settings.flag("axisx", true),
      }}
      shades={shades}
      limits={[
        ...limits.map((limit) => ({ ...limit, color: cssColor(limit.color.slice(4, -1)) })),
        ...percentiles(settings, lines),
      ]}
      legend={{
        shown: settings.flag("legend", true),
        statistic: settings.flag("legend_statistic"),
        rows: Math.max(1, settings.number("legend_lines", 1)),
      }}
      error={found.error ?? error}
      isLoading={found.isLoading || isLoading}
    />
  );
}
