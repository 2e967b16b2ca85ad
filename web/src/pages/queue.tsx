import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useMemo } from "react";
import { selfHostQuery } from "~/api/hosts";
import { hostItemsQuery } from "~/api/items";
import { queueQuery } from "~/api/queue";
import { GraphPanel } from "~/parts/graph-panel";
import { Ago } from "~/parts/value";
import { QueryError } from "~/shell/fallback";
import { Page, Sheet } from "~/shell/page";
import { Card, Stat } from "~/ui/card";
import { Empty, SkeletonRows } from "~/ui/state";
import { type Column, VirtualTable } from "~/ui/table";
import { formatCount, plural } from "~/util/format";
import { itemTypeName } from "~/util/item-types";
import type { DelayedItem } from "~/util/queue";
import { DEFAULT_RANGE, formatDuration } from "~/util/time";

const COLUMNS: Column<DelayedItem>[] = [
  {
    id: "late",
    header: "Overdue",
    width: "7rem",
    cell: (item) =>
      item.late === null ? (
        <span className="text-faint">Never came</span>
      ) : (
        <span className="tabular font-medium">{formatDuration(item.late)}</span>
      ),
  },
  {
    id: "host",
    header: "Host",
    width: "minmax(9rem, 0.8fr)",
    cell: (item) => (
      <Link
        to="/hosts/$hostid"
        params={{ hostid: item.hostid }}
        onClick={(event) => event.stopPropagation()}
        className="hover:underline"
      >
        {item.host}
      </Link>
    ),
  },
  {
    id: "name",
    header: "Item",
    width: "minmax(14rem, 1.6fr)",
    cell: (item) => (
      <span className="flex items-baseline gap-2">
        <span className="truncate font-medium">{item.name}</span>
        <span className="min-w-0 shrink-[20] truncate font-mono text-2xs text-faint">
          {item.key}
        </span>
      </span>
    ),
  },
  {
    id: "reason",
    header: "Reason",
    width: "minmax(12rem, 1.4fr)",
    cell: (item) => (
      <span className="text-soft" title={item.reason}>
        {item.reason}
      </span>
    ),
  },
  {
    id: "type",
    header: "Type",
    width: "8rem",
    cell: (item) => <span className="text-soft">{itemTypeName(item.type)}</span>,
  },
  {
    id: "delay",
    header: "Interval",
    width: "5rem",
    cell: (item) => <span className="text-soft">{item.delay}</span>,
  },
  {
    id: "last",
    header: "Last value",
    width: "6.5rem",
    cell: (item) => (
      <span className="text-soft">
        <Ago clock={item.lastclock} />
      </span>
    ),
  },
];

const BUCKETS: readonly { label: string; from: number; till: number }[] = [
  { label: "10 to 30 seconds", from: 10, till: 30 },
  { label: "30 seconds to 1 minute", from: 30, till: 60 },
  { label: "1 to 5 minutes", from: 60, till: 300 },
  { label: "5 to 10 minutes", from: 300, till: 600 },
  { label: "More than 10 minutes", from: 600, till: Number.POSITIVE_INFINITY },
];

function Buckets({ delayed }: { delayed: readonly DelayedItem[] | undefined }) {
  const count = (from: number, till: number) =>
    delayed?.filter((item) => item.late !== null && item.late >= from && item.late < till).length;
  const never = delayed?.filter((item) => item.late === null).length;
  const entries = [
    ...BUCKETS.map((b) => [b.label, count(b.from, b.till)] as const),
    ["Never came", never] as const,
  ];
  return (
    <div className="grid grid-cols-6 gap-3">
      {entries.map(([label, value]) => (
        <Stat key={label} label={label} value={value === undefined ? "–" : formatCount(value)} />
      ))}
    </div>
  );
}

function History() {
  const self = useQuery(selfHostQuery());
  const items = useQuery(hostItemsQuery(self.data?.hostid ?? "", "zabbix[queue"));
  const lines =
    items.data?.filter(
      (item) => item.key_ === "zabbix[queue]" || item.key_ === "zabbix[queue,10m]",
    ) ?? [];
  if (lines.length === 0) return null;
  return (
    <Card title="Items in the queue, as the server counts them" bodyClass="px-3 pb-3">
      <GraphPanel label="Queue" items={lines} range={DEFAULT_RANGE} height={130} />
    </Card>
  );
}

/** Items whose values are overdue, and why. */
export function QueuePage() {
  const { data, error, refetch } = useQuery(queueQuery());
  const navigate = useNavigate();
  const delayed = useMemo(() => data?.delayed ?? [], [data]);
  return (
    <Page
      title="Queue"
      heading={
        <>
          Queue
          {data && (
            <span className="tabular text-sm font-normal text-faint">
              {plural(delayed.length, "item")} overdue of {data.complete ? "" : "the first "}
              {formatCount(data.examined)} polled
            </span>
          )}
        </>
      }
    >
      {error ? (
        <QueryError error={error} onRetry={() => void refetch()} />
      ) : (
        <div className="flex min-h-0 flex-1 flex-col gap-4">
          <Buckets delayed={data?.delayed} />
          <History />
          <Sheet>
            {!data ? (
              <SkeletonRows rows={8} />
            ) : (
              <VirtualTable
                label="Delayed items"
                columns={COLUMNS}
                count={delayed.length}
                rowAt={(index) => delayed[index]}
                idOf={(item) => item.itemid}
                onOpen={(item) => void navigate({ to: "/graph", search: { items: item.itemid } })}
                empty={
                  <Empty icon="check" title="Nothing is overdue">
                    Every polled item has its value in time.
                  </Empty>
                }
              />
            )}
          </Sheet>
        </div>
      )}
    </Page>
  );
}
