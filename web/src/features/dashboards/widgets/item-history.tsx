import type { HistoryPoint } from "~/api/gets";
import { type ItemRow, mappingsOf } from "~/api/items";
import { twinItemsQuery } from "~/api/widget-items";
import { columnValuesQuery } from "~/api/widget-values";
import { Found, QueryError } from "~/shared/fallback";
import { cx } from "~/ui/cx";
import { formatValue, isNumeric } from "~/util/format";
import { formatClock, type TimeRange } from "~/util/time";
import { heardBy, hostFor, rangeFor, useBus } from "./bus";
import { colorFor, inkOn } from "./colors";
import { Note, useAllData, useData, type WidgetProps } from "./frame";
import { thresholdsOf } from "./one-item";
import { Settings } from "./settings";
import { texts } from "./texts";

/** `layout`, `sortorder`, `display` of columns. */
const VERTICAL = "1";
const OLDEST_FIRST = "1";
const BARS = new Set(["2", "3"]);
const NO_HEADER = "0";

interface Column {
  name: string;
  item: ItemRow;
  settings: Settings;
}

export interface Line {
  clock: number;
  ns: number;
  /** Values by the number of their column. */
  values: Map<number, string>;
}

/** Values of several items in one list: those of the same time share a line. */
export function linesOf(
  columns: readonly (readonly HistoryPoint[])[],
  limit: number,
  oldestFirst: boolean,
  apart: boolean,
): Line[] {
  const lines = new Map<string, Line>();
  for (const [n, points] of columns.entries()) {
    for (const { clock, ns, value } of points) {
      const key = apart ? `${clock}.${ns} ${n}` : clock;
      const line = lines.get(key) ?? { clock: Number(clock), ns: Number(ns), values: new Map() };
      if (!line.values.has(n)) line.values.set(n, value);
      lines.set(key, line);
    }
  }
  const newest = [...lines.values()]
    .sort((a, b) => b.clock - a.clock || b.ns - a.ns)
    .slice(0, limit);
  return oldestFirst ? newest.reverse() : newest;
}

function Bar({ value, settings, color }: { value: number; settings: Settings; color: string }) {
  const [min, max] = [settings.number("min", 0), settings.number("max", 100)];
  const share = Math.min(1, Math.max(0, (value - min) / (max - min || 1)));
  return (
    <span aria-hidden="true" className="block h-1.5 w-full overflow-hidden rounded-full bg-sunken">
      <span
        className="block h-full rounded-full"
        style={{ width: `${share * 100}%`, backgroundColor: color }}
      />
    </span>
  );
}

function highlightOf(text: string, settings: Settings): string | undefined {
  return settings
    .parts("highlights")
    .find((part) => {
      try {
        return new RegExp(part.text("pattern")).test(text);
      } catch {
        return false;
      }
    })
    ?.color("color");
}

function Value({ value, column }: { value: string; column: Column }) {
  const { item, settings } = column;
  const isNumber = isNumeric(item.value_type);
  const text = formatValue(value, { ...item, mappings: mappingsOf(item) });
  const color = isNumber
    ? colorFor(Number(value), thresholdsOf(settings, item.units))
    : highlightOf(value, settings);
  if (isNumber && BARS.has(settings.text("display", "1"))) {
    return (
      <span className="flex min-w-24 flex-col gap-0.5">
        <span className="tabular">{text}</span>
        <Bar
          value={Number(value)}
          settings={settings}
          color={color ?? settings.color("base_color") ?? "var(--accent)"}
        />
      </span>
    );
  }
  const background = color ?? settings.color("base_color");
  return (
    <span
      className={cx(
        "rounded-sm break-words",
        isNumber && "tabular",
        settings.flag("monospace_font") && "font-mono text-xs",
        background && "px-1",
      )}
      style={background ? { backgroundColor: background, color: inkOn(background) } : undefined}
    >
      {isImage(value) ? (
        <img src={value} alt={texts.pictureOf(item.name)} className="max-h-48" />
      ) : (
        text
      )}
    </span>
  );
}

/** Screenshots of browser items are pictures in base64. */
const isImage = (value: string) => /^data:image\/(?:png|jpeg|gif);base64,/.test(value);

function Table({
  lines,
  columns,
  settings,
}: {
  lines: readonly Line[];
  columns: readonly Column[];
  settings: Settings;
}) {
  const hasHeader = settings.text("show_column_header", "1") !== NO_HEADER;
  const hasTime = settings.flag("show_timestamp", true);
  return (
    <table className="w-full text-left text-sm">
      {hasHeader && (
        <thead className="sticky top-0 bg-surface text-xs text-soft">
          <tr>
            {hasTime && (
              <th scope="col" className="px-3 py-1 font-medium">
                {texts.time}
              </th>
            )}
            {columns.map((column, n) => (
              // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity
              <th key={n} scope="col" className="px-3 py-1 font-medium">
                {column.name}
              </th>
            ))}
          </tr>
        </thead>
      )}
      <tbody>
        {lines.map((line) => (
          <tr
            key={`${line.clock}.${line.ns} ${[...line.values.keys()].join()}`}
            className="border-t align-top"
          >
            {hasTime && (
              <td className="tabular px-3 py-1 whitespace-nowrap text-soft">
                {formatClock(line.clock)}
              </td>
            )}
            {columns.map((column, n) => {
              const value = line.values.get(n);
              return (
                // biome-ignore lint/suspicious/noArrayIndexKey: columns have no identity
                <td key={n} className="px-3 py-1">
                  {value !== undefined && <Value value={value} column={column} />}
                </td>
              );
            })}
          </tr>
        ))}
      </tbody>
    </table>
  );
}

/** One value after the other, with the name of its item. */
function List({
  lines,
  columns,
  settings,
}: {
  lines: readonly Line[];
  columns: readonly Column[];
  settings: Settings;
}) {
  return (
    <ul>
      {lines.map((line) =>
        [...line.values].map(([n, value]) => {
          const column = columns[n];
          return column ? (
            <li
              key={`${line.clock}.${line.ns} ${n}`}
              className="flex flex-col gap-0.5 border-t px-3 py-1 text-sm first:border-0"
            >
              <span className="text-xs text-soft">
                {settings.flag("show_timestamp", true) && (
                  <span className="tabular">{formatClock(line.clock)} · </span>
                )}
                {column.name}
              </span>
              <Value value={value} column={column} />
            </li>
          ) : null;
        }),
      )}
    </ul>
  );
}

function Values({
  columns,
  settings,
  range,
}: {
  columns: readonly Column[];
  settings: Settings;
  range: TimeRange;
}) {
  const limit = settings.number("show_lines", 25);
  const results = useAllData(columns.map(({ item }) => columnValuesQuery(item, range, limit)));
  const isVertical = settings.text("layout", "0") === VERTICAL;
  const lines = linesOf(
    results.map(({ data = [] }) => data),
    limit,
    settings.text("sortorder") === OLDEST_FIRST,
    !isVertical,
  );
  const failed = results.find(({ error }) => error)?.error;
  if (failed && lines.length === 0) return <QueryError error={failed} />;
  if (lines.length === 0)
    return <Note>{results.some(({ isPending }) => isPending) ? "…" : texts.noHistory}</Note>;
  const Shape = isVertical ? Table : List;
  return <Shape lines={lines} columns={columns} settings={settings} />;
}

/** *Item history*, and *Plain text* of Zabbix 6.0: the newest values of items. */
export function ItemHistory({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const override = hostFor(bus, widget);
  const parts = settings.parts("columns");
  const old = settings.list("itemids");
  const heard = heardBy(bus.signals, widget, "columns.0.itemid", "_itemid");
  const wanted =
    parts.length > 0
      ? parts.map((part) => ({
          id: part.text("itemid") || (heard.value ?? ""),
          name: part.text("name"),
          part,
        }))
      : old.map((id) => ({ id, name: "", part: settings }));
  const query = useData(twinItemsQuery(wanted.map(({ id }) => id).filter(Boolean), override.value));
  if (wanted.length === 0) return <Note>{texts.noItems}</Note>;
  if (override.source && !override.value) return <Note>{texts.waitsForHost}</Note>;
  if (heard.source && !heard.value) return <Note>{texts.waitsForItem}</Note>;
  return (
    <Found query={query} gone={null}>
      {(items) => {
        const columns = wanted.flatMap(({ id, name, part }, n) => {
          const item = override.value ? items[n] : items.find((one) => one.itemid === id);
          return item ? [{ name: name || item.name, item, settings: part }] : [];
        });
        return columns.length > 0 ? (
          <Values columns={columns} settings={settings} range={rangeFor(bus.signals, widget)} />
        ) : (
          <Note>{texts.notVisible}</Note>
        );
      }}
    </Found>
  );
}
