import { Link } from "@tanstack/react-router";
import { aggregateQuery } from "~/api/aggregates";
import type { ItemRow } from "~/api/items";
import { State } from "~/api/schema";
import { cx } from "~/ui/cx";
import { AGGREGATES } from "~/util/aggregates";
import { isNumeric } from "~/util/format";
import { formatClock, resolveRange } from "~/util/time";
import { rangeFor, useBus } from "./bus";
import { inkOn, legible } from "./colors";
import { useData, type WidgetProps } from "./frame";
import { expandLabel, type Written, writeValue } from "./labels";
import { labelled, OneItem, thresholdColor } from "./one-item";
import { Settings } from "./settings";
import { texts } from "./texts";

/** `show`: what an item value shows, all by default. */
const SHOW = { description: "1", value: "2", time: "3", change: "4" } as const;
/** `units_pos`: before the value, above, after, below. */
const BEFORE = new Set(["0", "1"]);

type Change = "rose" | "fell" | "changed" | undefined;

/** How the newest value differs from the one before. */
export function changeOf(
  item: Pick<ItemRow, "lastvalue" | "prevvalue" | "prevclock" | "value_type">,
): Change {
  if (item.prevclock === "0" || item.lastvalue === item.prevvalue) return undefined;
  if (!isNumeric(item.value_type)) return "changed";
  const change = Number(item.lastvalue) - Number(item.prevvalue);
  return change > 0 ? "rose" : change < 0 ? "fell" : undefined;
}

const ARROWS = { rose: "▲", fell: "▼", changed: "▲▼" } as const;

function Indicator({ change, settings }: { change: Change; settings: Settings }) {
  if (!change) return null;
  const own = { rose: "up_color", fell: "down_color", changed: "updown_color" } as const;
  return (
    <span role="img" aria-label={texts[change]} style={{ color: settings.color(own[change]) }}>
      {ARROWS[change]}
    </span>
  );
}

function Figure({
  written,
  settings,
  ink,
}: {
  written: Written;
  settings: Settings;
  ink: (name: string) => string | undefined;
}) {
  const units = settings.flag("units_show", true) && written.units && (
    <span className="text-[0.6em]" style={{ color: ink("units_color") }}>
      {written.units}
    </span>
  );
  const before = BEFORE.has(settings.text("units_pos", "2"));
  return (
    <span className="tabular" style={{ color: ink("value_color") }}>
      {before && units} {written.value} {!before && units}
    </span>
  );
}

function ValueOf({ item, widget }: WidgetProps & { item: ItemRow }) {
  const settings = Settings.of(widget);
  const { signals } = useBus();
  const kind = AGGREGATES[settings.number("aggregate_function", 0)];
  const span = resolveRange(rangeFor(signals, widget));
  const aggregated = useData({
    ...aggregateQuery(item, kind, rangeFor(signals, widget)),
    enabled: kind !== undefined && span !== null,
  });
  const shown = kind
    ? {
        ...item,
        lastvalue: String(aggregated.data ?? ""),
        lastclock: aggregated.data == null ? "0" : item.lastclock,
      }
    : item;
  const list = settings.list("show");
  const shows = (what: keyof typeof SHOW) => list.length === 0 || list.includes(SHOW[what]);
  const look = {
    decimals: settings.number("decimal_places", 2),
    units: settings.text("units") || undefined,
  };
  const written = writeValue(labelled(shown), look);
  const background = thresholdColor(shown, settings) ?? settings.color("bg_color");
  const ink = (field: string) =>
    background ? (legible(settings.color(field), background) ?? inkOn(background)) : undefined;
  const isBroken = item.state === State.NotSupported;
  const label = settings.text("description", "{ITEM.NAME}");
  return (
    <Link
      to="/graph"
      search={{ items: item.itemid }}
      title={texts.valueOf(item.name, item.hosts[0]?.name ?? "")}
      className="flex min-h-28 flex-1 flex-col justify-between gap-1 overflow-hidden p-3 text-center hover:underline"
      style={{ backgroundColor: background, color: background && inkOn(background) }}
    >
      <span className="flex min-h-0 flex-1 flex-col justify-between gap-1">
        {shows("time") && item.lastclock !== "0" && (
          <span
            className={cx("tabular text-2xs", !background && "text-soft")}
            style={{ color: ink("time_color") }}
          >
            {formatClock(Number(item.lastclock))}
          </span>
        )}
        {shows("value") && (
          <span className="flex flex-1 items-center justify-center gap-2 text-2xl font-semibold">
            {isBroken ? (
              <span className="text-base" title={item.error}>
                {texts.notSupported}
              </span>
            ) : written ? (
              <span className="line-clamp-2 min-w-0 break-words">
                <Figure written={written} settings={settings} ink={ink} />
              </span>
            ) : (
              <span className="text-base">{texts.noValue}</span>
            )}
            {shows("change") && !kind && (
              <span className="text-sm">
                <Indicator change={changeOf(item)} settings={settings} />
              </span>
            )}
          </span>
        )}
        {shows("description") && (
          <span
            className={cx("truncate text-xs", !background && "text-soft")}
            style={{ color: ink("desc_color") }}
          >
            {expandLabel(label, labelled(item))}
          </span>
        )}
      </span>
    </Link>
  );
}

/** *Item value*: the newest value of an item, large. */
export function ItemValue({ widget }: WidgetProps) {
  return <OneItem widget={widget}>{(item) => <ValueOf item={item} widget={widget} />}</OneItem>;
}
