import type { Widget } from "~/api/dashboards";
import type { TimeRange } from "~/util/time";
import { DASHBOARD, hasOwnTime, rangeFor, useBus } from "./bus";

/** The time of a widget; dragging in its chart changes that of the dashboard, unless the widget has its own. */
export function useRange(widget: Widget): [TimeRange, ((range: TimeRange) => void) | undefined] {
  const { signals, send } = useBus();
  const onRange = hasOwnTime(widget)
    ? undefined
    : (range: TimeRange) => send(DASHBOARD, { _timeperiod: range });
  return [rangeFor(signals, widget), onRange];
}
