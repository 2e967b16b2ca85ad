import { type ReactNode, useCallback, useLayoutEffect, useMemo, useState } from "react";
import { gatherReads } from "~/api/client";
import type { Scope } from "../scope";
import { type Bus, BusContext, DASHBOARD, type Signals, type SignalsBy, withSignals } from "./bus";

interface SignalsProps {
  /** Host and time of the dashboard. */
  scope: Scope;
  /** The host on whose page the dashboard is. */
  pageHost: string | undefined;
  children: ReactNode;
}

/** The bus around the widgets of a page, which share the requests of their reads. */
export function DashboardSignals({ scope, pageHost, children }: SignalsProps) {
  const [sent, setSent] = useState<SignalsBy>(new Map());
  const send = useCallback(
    (reference: string, signals: Partial<Signals>) =>
      setSent((before) => withSignals(before, reference, signals)),
    [],
  );
  const { hostid } = scope;
  const { from, to } = scope.range;
  const bus = useMemo((): Bus => {
    const _hostids = hostid === undefined ? undefined : [hostid];
    const own = { _hostid: hostid, _hostids, _timeperiod: { from, to } };
    return { signals: withSignals(sent, DASHBOARD, own), send, pageHost };
  }, [sent, send, hostid, from, to, pageHost]);
  // Before the effects of the widgets, which begin to read.
  useLayoutEffect(gatherReads, []);
  return <BusContext value={bus}>{children}</BusContext>;
}
