import { type ReactNode, useCallback, useLayoutEffect, useMemo, useState } from "react";
import { gatherReads } from "~/api/client";
import type { Widget } from "~/api/dashboards";
import { RangePicker } from "~/charts/range-picker";
import { HostPicker } from "~/shared/pickers";
import { DEFAULT_RANGE } from "~/util/time";
import {
  type Bus,
  BusContext,
  DASHBOARD,
  hasOwnTime,
  type Signals,
  type SignalsBy,
  sourcesOf,
  useBus,
  withSignals,
} from "./bus";

/** Kinds whose data have a time. */
const TIMED = new Set([
  "actionlog",
  "graph",
  "graphprototype",
  "itemhistory",
  "plaintext",
  "svggraph",
  "toptriggers",
]);

/** The time and the host of the dashboard, where a widget listens to them. */
function Controls({ widgets }: { widgets: readonly Widget[] }) {
  const { signals, send, pageHost } = useBus();
  const own = signals.get(DASHBOARD);
  const hasTime = widgets.some((widget) => TIMED.has(widget.type) && !hasOwnTime(widget));
  const hasHost =
    pageHost === undefined &&
    widgets.some((widget) =>
      sourcesOf(widget).some(
        ({ reference, signal }) => reference === DASHBOARD && signal.startsWith("_hostid"),
      ),
    );
  if (!hasTime && !hasHost) return null;
  return (
    <div className="flex flex-wrap items-center justify-end gap-2">
      {hasHost && (
        <HostPicker
          values={own?._hostid ? [own._hostid] : []}
          onChange={(ids) => {
            const _hostid = ids.at(-1);
            send(DASHBOARD, { _hostid, _hostids: _hostid ? [_hostid] : undefined });
          }}
        />
      )}
      {hasTime && (
        <RangePicker
          range={own?._timeperiod ?? DEFAULT_RANGE}
          onChange={(_timeperiod) => send(DASHBOARD, { _timeperiod })}
        />
      )}
    </div>
  );
}

interface SignalsProps {
  /** The widgets of the page that is shown. */
  widgets: readonly Widget[];
  /** The host on whose page the dashboard is. */
  hostid: string | undefined;
  children: ReactNode;
}

/** The bus around the widgets of a page, which share the requests of their reads. */
export function DashboardSignals({ widgets, hostid, children }: SignalsProps) {
  const [signals, setSignals] = useState<SignalsBy>(new Map());
  const send = useCallback(
    (reference: string, sent: Partial<Signals>) =>
      setSignals((before) => withSignals(before, reference, sent)),
    [],
  );
  const bus = useMemo((): Bus => ({ signals, send, pageHost: hostid }), [signals, send, hostid]);
  // Before the effects of the widgets, which begin to read.
  useLayoutEffect(gatherReads, []);
  return (
    <BusContext value={bus}>
      <Controls widgets={widgets} />
      {children}
    </BusContext>
  );
}
