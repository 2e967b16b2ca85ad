import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { hostStatesQuery } from "~/api/host-states";
import type { Host } from "~/api/hosts";
import { type ItemRow, itemsQuery } from "~/api/items";
import { newestProblemsQuery } from "~/api/problems";
import { RangePicker } from "~/charts/range-picker";
import { GraphPanel } from "~/shared/graph-panel";
import { SilencedMark } from "~/shared/silence";
import { buttonClass } from "~/ui/button";
import { Card } from "~/ui/card";
import { Icon } from "~/ui/icon";
import { SeverityBadge } from "~/ui/severity";
import { Empty, SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { keyGraphs } from "~/util/key-graphs";
import { severityName } from "~/util/severity";
import { formatDuration, type TimeRange } from "~/util/time";
import { texts } from "./texts";

interface OverviewProps {
  host: Host;
  items: readonly ItemRow[] | undefined;
  range: TimeRange;
  onRange: (range: TimeRange) => void;
}

function Problems({ hostid }: { hostid: string }) {
  const { data: states } = useQuery(hostStatesQuery([hostid]));
  const silent = states?.get(hostid)?.data === false;
  const { data } = useQuery(
    newestProblemsQuery({ mode: "open", hostids: [hostid], sort: "severity" }, 8),
  );
  const now = useNow();
  return (
    <Card
      title={texts.openProblems}
      bodyClass="pb-2"
      side={
        <Link to="/problems" search={{ host: hostid }} className="hover:text-ink">
          {texts.allProblems}
        </Link>
      }
    >
      {!data ? (
        <SkeletonRows rows={2} />
      ) : data.length === 0 ? (
        <p className="flex items-center gap-2 px-4 pt-1 pb-3 text-soft">
          {!silent && <Icon name="check" className="text-good-ink" />}
          {silent ? texts.noOpenProblemsBut : texts.noOpenProblemsOn}
        </p>
      ) : (
        <ul>
          {data.map((row) => (
            <li key={row.eventid}>
              <Link
                to="/problems"
                search={{ host: hostid, event: row.eventid }}
                className="grid h-12 grid-cols-[minmax(0,1fr)_4.5rem] items-center gap-3 px-4 hover:bg-hover sm:h-9 sm:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,12rem)_5rem]"
              >
                <SeverityBadge severity={row.severity} className="w-fit max-sm:hidden" />
                <span className="flex min-w-0 items-center gap-1.5 max-sm:flex-col max-sm:items-start max-sm:gap-0">
                  <span className="max-w-full truncate font-medium">{row.name}</span>
                  <span className="flex max-w-full items-center gap-1.5">
                    <span
                      className="text-xs sm:hidden"
                      style={{ color: `var(--sev-${row.severity}-ink)` }}
                    >
                      {severityName(row.severity)}
                    </span>
                    <span className="min-w-0 truncate text-xs text-soft sm:hidden">
                      {row.opdata}
                    </span>
                    <SilencedMark row={row} />
                  </span>
                </span>
                <span className="truncate text-soft max-sm:hidden">{row.opdata}</span>
                <span className="tabular text-right text-xs text-soft">
                  {formatDuration(now - row.clock)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}

function KeyGraph({
  title,
  ids,
  host,
  ...rest
}: {
  title: string;
  ids: string[];
  host: Host;
  range: TimeRange;
  onRange: (r: TimeRange) => void;
}) {
  const { data = [] } = useQuery(itemsQuery(ids));
  return (
    <Card
      title={title}
      bodyClass="px-3 pb-3"
      side={
        <Link
          to="/graph"
          search={{ items: ids.join(","), from: rest.range.from, to: rest.range.to }}
          className="hover:text-ink"
        >
          {texts.explore}
        </Link>
      }
    >
      <GraphPanel
        label={texts.graphOf(title, host.name)}
        items={data}
        height={170}
        syncKey={`host-${host.hostid}`}
        {...rest}
      />
    </Card>
  );
}

/** Problems and the graphs that say most about this host. */
export function HostOverview({ host, items, range, onRange }: OverviewProps) {
  const graphs = useMemo(() => keyGraphs(items ?? []), [items]);
  return (
    <div className="flex flex-col gap-4">
      <Problems hostid={host.hostid} />
      <div className="flex items-center justify-between">
        <h2 className="text-sm font-semibold">{texts.keyGraphs}</h2>
        <RangePicker range={range} onChange={onRange} />
      </div>
      {!items ? (
        <SkeletonRows />
      ) : graphs.length === 0 ? (
        <Card bodyClass="">
          <Empty
            icon="graph"
            title={texts.noValuesYet}
            action={
              <Link
                to="/hosts/$hostid/edit"
                params={{ hostid: host.hostid }}
                className={buttonClass("primary")}
              >
                {texts.linkATemplate}
              </Link>
            }
          >
            {items.length === 0 ? texts.thisHostHasNo : texts.itsItemsHaveNo}
          </Empty>
        </Card>
      ) : (
        <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-2">
          {graphs.map((graph) => (
            <KeyGraph
              key={graph.title}
              title={graph.title}
              ids={graph.items.map((item) => item.itemid)}
              host={host}
              range={range}
              onRange={onRange}
            />
          ))}
        </div>
      )}
    </div>
  );
}
