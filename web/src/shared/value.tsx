import { type ItemRow, mappingsOf } from "~/api/items";
import { State } from "~/api/schema";
import { formatValue, isNumeric } from "~/util/format";
import { useNow } from "~/util/hooks";
import { formatAgo, formatClock } from "~/util/time";
import { texts } from "./texts";

/** The newest value of an item, in words; what stands in the way where there is none. */
export function LastValue({ item }: { item: ItemRow }) {
  if (item.state === State.NotSupported) {
    return (
      <span className="text-bad-ink" title={item.error}>
        {texts.notSupported}
      </span>
    );
  }
  if (item.lastclock === "0") return <span className="text-faint">{texts.noValueYet}</span>;
  const text = formatValue(item.lastvalue, {
    value_type: item.value_type,
    units: item.units,
    mappings: mappingsOf(item),
  });
  return (
    <span key={item.lastclock} title={text} className="tabular font-medium">
      {text}
    </span>
  );
}

/** The change since the value before; nothing where there is none. */
export function Change({ item }: { item: ItemRow }) {
  if (!isNumeric(item.value_type) || item.prevclock === "0" || item.units === "unixtime")
    return null;
  const change = Number(item.lastvalue) - Number(item.prevvalue);
  if (!Number.isFinite(change) || change === 0 || item.prevvalue === "") return null;
  const text = formatValue(String(change), {
    value_type: "0",
    units: item.units === "uptime" ? "s" : item.units,
  });
  return <span className="tabular text-xs text-faint">{change > 0 ? `+${text}` : text}</span>;
}

/** How long ago; ticks by itself. */
export function Ago({ clock }: { clock: number }) {
  const now = useNow();
  if (clock === 0) return <span className="text-faint">{texts.never}</span>;
  return (
    <time
      dateTime={new Date(clock * 1000).toISOString()}
      title={formatClock(clock)}
      className="tabular"
    >
      {formatAgo(clock, now)}
    </time>
  );
}
