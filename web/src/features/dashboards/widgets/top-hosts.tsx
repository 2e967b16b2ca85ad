import { Link } from "@tanstack/react-router";
import { useEffect } from "react";
import { aggregateQuery } from "~/api/aggregates";
import { type ItemRow, mappingsOf } from "~/api/items";
import { State } from "~/api/schema";
import { type NavigatedHost, navigatedHostsQuery } from "~/api/widget-hosts";
import { scopedItemsQuery } from "~/api/widget-items";
import { QueryError } from "~/shared/fallback";
import { AGGREGATES } from "~/util/aggregates";
import { isNumeric, mapValue } from "~/util/format";
import { groupsFor, hostsFor, rangeFor, referenceOf, useBus } from "./bus";
import { colorFor, inkOn } from "./colors";
import { Note, useAllData, useData, type WidgetProps } from "./frame";
import { HostLink } from "./host-link";
import { expandLabel, inOne, writeNumber } from "./labels";
import { thresholdsOf } from "./one-item";
import { anyOf, Settings } from "./settings";
import { SmallTable } from "./small-table";
import { texts } from "./texts";

/** `data` of a column, `display` of values, `order` of the rows. */
const DATA = { item: "1", host: "2", text: "3" } as const;
const DISPLAY = { bar: "2", indicators: "3" } as const;
const BOTTOM = "3";
/** Hosts that are compared. */
const HOSTS_MAX = 500;
/** Hosts whose aggregated values are compared: each needs its own history. */
const AGGREGATED_MAX = 100;

export interface TopRow<T> {
  host: T;
  /** The value by which hosts are ordered; null: unknown. */
  rank: number | string | null;
}

/** The first hosts by the values of a column. Hosts without a value come last. */
export function topOf<T>(rows: readonly TopRow<T>[], lines: number, bottom: boolean): TopRow<T>[] {
  const known = rows.filter(({ rank }) => rank !== null);
  const compare = (a: number | string | null, b: number | string | null) =>
    typeof a === "number" && typeof b === "number"
      ? b - a
      : String(a).localeCompare(String(b), "en", { numeric: true });
  known.sort((a, b) => compare(a.rank, b.rank) * (bottom ? -1 : 1));
  return [...known, ...rows.filter(({ rank }) => rank === null)].slice(0, lines);
}

const STEPS = Array.from({ length: 20 }, (_, n) => n);

function Scale({ share, color, inBlocks }: { share: number; color: string; inBlocks: boolean }) {
  if (!inBlocks) {
    return (
      <span
        aria-hidden="true"
        className="block h-2 w-full min-w-16 overflow-hidden rounded-full bg-sunken"
      >
        <span
          className="block h-full rounded-full"
          style={{ width: `${share * 100}%`, backgroundColor: color }}
        />
      </span>
    );
  }
  return (
    <span aria-hidden="true" className="flex h-3 w-full min-w-16 gap-px">
      {STEPS.map((n) => (
        <span
          key={n}
          className="flex-1 rounded-[1px]"
          style={{ backgroundColor: n < share * STEPS.length ? color : "var(--sunken)" }}
        />
      ))}
    </span>
  );
}

interface CellProps {
  column: Settings;
  item: ItemRow | undefined;
  value: number | string | null;
  /** Lowest and highest value of the column. */
  ends: readonly [number, number];
  thresholds: ReturnType<typeof thresholdsOf>;
}

function Cell({ column, item, value, ends, thresholds }: CellProps) {
  if (item?.state === State.NotSupported)
    return <span className="text-soft">{texts.notSupported}</span>;
  if (!item || value === null) return <span className="text-faint">{texts.noValue}</span>;
  const number = typeof value === "number" ? value : Number.NaN;
  const mapped = mapValue(mappingsOf(item), item.lastvalue);
  const text = Number.isNaN(number)
    ? String(value)
    : (mapped ??
      inOne(writeNumber(number, item.units, { decimals: column.number("decimal_places", 2) })));
  const color =
    (Number.isNaN(number) ? undefined : colorFor(number, thresholds)) ?? column.color("base_color");
  const display = column.text("display", "1");
  const link = (
    <Link to="/graph" search={{ items: item.itemid }} className="hover:underline">
      {text}
    </Link>
  );
  if (!Number.isNaN(number) && (display === DISPLAY.bar || display === DISPLAY.indicators)) {
    const [min, max] = [column.number("min", ends[0]), column.number("max", ends[1])];
    const share = Math.min(1, Math.max(0, (number - min) / (max - min || 1)));
    return (
      <span className="grid grid-cols-[minmax(4rem,1fr)_auto] items-center gap-2">
        <Scale
          share={share}
          color={color ?? "var(--accent)"}
          inBlocks={display === DISPLAY.indicators}
        />
        {link}
      </span>
    );
  }
  return (
    <span
      className="rounded-sm px-1"
      style={color ? { backgroundColor: color, color: inkOn(color) } : undefined}
    >
      {link}
    </span>
  );
}

/** The newest or aggregated values of a column, by host. */
function useValues(
  columns: readonly Settings[],
  items: readonly ItemRow[],
  widget: WidgetProps["widget"],
) {
  const { signals } = useBus();
  const wanted = columns.flatMap((column, c) => {
    const kind = AGGREGATES[column.number("aggregate_function", 0)];
    if (!kind || column.text("data") !== DATA.item) return [];
    const own = items.filter((item) => item.name === column.text("item")).slice(0, AGGREGATED_MAX);
    const from = column.text("time_period.from");
    const range = from
      ? { from, to: column.text("time_period.to", "now") }
      : rangeFor(signals, widget);
    return own.map((item) => ({ c, item, kind, range }));
  });
  const results = useAllData(
    wanted.map(({ item, kind, range }) => aggregateQuery(item, kind, range)),
  );
  const aggregated = new Map(
    wanted.map(({ c, item }, n) => [`${c} ${item.itemid}`, results[n]?.data ?? null]),
  );
  return (c: number, item: ItemRow | undefined): number | string | null => {
    const column = columns[c];
    if (!item || !column) return null;
    if (column.number("aggregate_function", 0) > 0)
      return aggregated.get(`${c} ${item.itemid}`) ?? null;
    if (item.lastclock === "0") return null;
    return isNumeric(item.value_type) ? Number(item.lastvalue) : item.lastvalue;
  };
}

function headOf(column: Settings): string {
  if (column.text("name")) return column.text("name");
  const data = column.text("data");
  return data === DATA.host ? texts.host : data === DATA.item ? column.text("item") : "";
}

/** Thresholds of a column: below the column, or in a list of their own in Zabbix 6.0 and 7.0. */
function columnThresholds(settings: Settings, column: Settings, n: number, units: string) {
  const own = thresholdsOf(column, units);
  if (own.length > 0) return own;
  const part = settings.parts("columnsthresholds")[n];
  const colors = part?.list("color") ?? [];
  const limits = part?.list("threshold") ?? [];
  return colors.map((color, i) => ({ color: `#${color}`, from: Number(limits[i]) }));
}

function Hosts({
  hosts,
  items,
  widget,
}: WidgetProps & { hosts: readonly NavigatedHost[]; items: readonly ItemRow[] }) {
  const settings = Settings.of(widget);
  const columns = settings.parts("columns");
  const { signals, send } = useBus();
  const reference = referenceOf(widget);
  const valueIn = useValues(columns, items, widget);
  const itemOf = (host: NavigatedHost, c: number) => {
    const name = columns[c]?.text("item");
    return items.find((item) => item.hostid === host.hostid && item.name === name);
  };
  const by = settings.number("column", 0);
  const rank = (host: NavigatedHost) => {
    const data = columns[by]?.text("data");
    return data === DATA.item ? valueIn(by, itemOf(host, by)) : host.name;
  };
  const top = topOf(
    hosts.map((host) => ({ host, rank: rank(host) })),
    settings.number("show_lines", settings.number("count", 10)),
    settings.text("order") === BOTTOM,
  ).map(({ host }) => host);
  const selected = reference && signals.get(reference)?._hostid;
  const first = top[0]?.hostid;
  useEffect(() => {
    if (reference && first && !selected) send(reference, { _hostid: first, _hostids: [first] });
  }, [reference, first, selected, send]);
  const ends = columns.map((_, c): [number, number] => {
    const values = top
      .map((host) => valueIn(c, itemOf(host, c)))
      .filter((one) => typeof one === "number");
    return [Math.min(0, ...values), Math.max(1, ...values)];
  });
  const cellOf = (host: NavigatedHost, column: Settings, c: number) => {
    const data = column.text("data");
    const item = itemOf(host, c);
    if (data === DATA.host) {
      return (
        <span className="flex items-center gap-2">
          {reference && (
            <button
              type="button"
              aria-pressed={selected === host.hostid}
              aria-label={texts.select(host.name)}
              onClick={() => send(reference, { _hostid: host.hostid, _hostids: [host.hostid] })}
              className="size-3.5 shrink-0 rounded-full border border-line-strong aria-pressed:border-4 aria-pressed:border-accent"
            />
          )}
          <HostLink {...host} />
        </span>
      );
    }
    if (data === DATA.text)
      return expandLabel(column.text("text"), {
        name: "",
        key_: "",
        value_type: "4",
        units: "",
        lastvalue: "",
        lastclock: "0",
        hosts: [host],
      });
    return (
      <Cell
        column={column}
        item={item}
        value={valueIn(c, item)}
        ends={ends[c] ?? [0, 1]}
        thresholds={columnThresholds(settings, column, c, item?.units ?? "")}
      />
    );
  };
  return (
    <SmallTable
      label={widget.name || texts.hosts}
      head={columns.map(headOf)}
      rows={top.map((host) => ({
        id: host.hostid,
        cells: columns.map((column, c) => cellOf(host, column, c)),
      }))}
    />
  );
}

/** *Top hosts*: hosts by the value of an item. */
export function TopHosts({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const columns = settings.parts("columns");
  const names = columns
    .filter((column) => column.text("data") === DATA.item)
    .map((column) => column.text("item"));
  const scope = {
    hostids: hostsFor(bus, widget),
    groupids: bus.pageHost ? [] : groupsFor(bus, widget),
    tags: settings.tags("tags"),
    anyTag: anyOf(settings.text("evaltype")),
    withoutMaintenance: !settings.flag("maintenance"),
    status: "0",
    limit: HOSTS_MAX,
  };
  const hosts = useData(navigatedHostsQuery(scope));
  const items = useData({
    ...scopedItemsQuery({
      hostids: scope.hostids,
      groupids: scope.groupids,
      names,
      limit: HOSTS_MAX * Math.max(1, names.length),
    }),
    enabled: names.length > 0,
  });
  if (columns.length === 0) return <Note>{texts.noColumns}</Note>;
  if (hosts.error ?? items.error) return <QueryError error={hosts.error ?? items.error} />;
  if (!hosts.data || (names.length > 0 && !items.data)) return <Note>…</Note>;
  if (hosts.data.length === 0) return <Note>{texts.noHostsFound}</Note>;
  return (
    <>
      {hosts.data.length === HOSTS_MAX && <Note>{texts.onlyFirst(HOSTS_MAX)}</Note>}
      <Hosts hosts={hosts.data} items={items.data ?? []} widget={widget} />
    </>
  );
}
