import type { ReactNode } from "react";
import { type ItemRow, mappingsOf } from "~/api/items";
import { twinItemsQuery } from "~/api/widget-items";
import { Found } from "~/shared/fallback";
import { heardBy, hostFor, useBus } from "./bus";
import { colorFor, type Threshold, thresholdNumber } from "./colors";
import { Note, useData, type WidgetProps } from "./frame";
import type { Labelled } from "./labels";
import { Settings } from "./settings";
import { texts } from "./texts";

/** The item of a widget, which may come from another widget or belong to the host of one. */
export function OneItem({
  widget,
  children,
}: WidgetProps & { children: (item: ItemRow) => ReactNode }) {
  const bus = useBus();
  const heard = heardBy(bus.signals, widget, "itemid", "_itemid");
  const override = hostFor(bus, widget);
  const own = Settings.of(widget).list("itemid")[0];
  const itemid = heard.source ? heard.value : own;
  const query = useData(twinItemsQuery(itemid ? [itemid] : [], override.value));
  if (heard.source && !itemid) return <Note>{texts.waitsForItem}</Note>;
  if (!itemid) return <Note>{texts.noItems}</Note>;
  if (override.source && !override.value) return <Note>{texts.waitsForHost}</Note>;
  return (
    <Found query={query} gone={null}>
      {([item]) => (item ? children(item) : <Note>{texts.notVisible}</Note>)}
    </Found>
  );
}

export const labelled = (item: ItemRow): Labelled => ({ ...item, mappings: mappingsOf(item) });

/** Thresholds of a widget for values in these units. Unreadable ones are left out. */
export const thresholdsOf = (settings: Settings, units: string, name = "thresholds"): Threshold[] =>
  settings.parts(name).flatMap((part) => {
    const from = thresholdNumber(part.text("threshold"), units);
    const color = part.color("color");
    return color && !Number.isNaN(from) ? [{ from, color }] : [];
  });

/** The colour that thresholds give an item; undefined without a value. */
export function thresholdColor(
  item: Pick<ItemRow, "lastclock" | "lastvalue" | "units">,
  settings: Settings,
  blend = false,
): string | undefined {
  const value = Number(item.lastvalue);
  if (item.lastclock === "0" || item.lastvalue === "" || !Number.isFinite(value)) return undefined;
  return colorFor(value, thresholdsOf(settings, item.units), blend);
}
