import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { selfHostQuery } from "~/api/hosts";
import { hostItemsQuery } from "~/api/items";
import { DETAILS_MAX, delayedItemsQuery, queueOverviewQuery } from "~/api/queue";
import { together } from "~/api/windows";
import { CELL, PlainTable } from "~/shared/config-tables";
import { QueryError, StaleError } from "~/shared/fallback";
import { GraphPanel } from "~/shared/graph-panel";
import { Count, Page } from "~/shared/page";
import { Card, Stat } from "~/ui/card";
import { Segmented } from "~/ui/segmented";
import { Empty } from "~/ui/state";
import { formatCount, plural } from "~/util/format";
import { itemTypeName } from "~/util/item-types";
import {
  DELAYS,
  type DelayedItem,
  type QueueLine,
  type SlowHost,
  slowHosts,
  sumLines,
} from "~/util/queue";
import { DEFAULT_RANGE } from "~/util/time";
import { DelayedItems, Overdue } from "./items";
import { texts } from "./texts";

const route = getRouteApi("/inside/queue");
type View = "items" | "hosts" | "types" | "proxies";
const VIEWS: readonly (readonly [View, string])[] = [
  ["items", "Items"],
  ["hosts", "Slowest hosts"],
  ["types", "By type"],
  ["proxies", "By proxy"],
];
const SLOWEST_MAX = 20;

function Buckets({ lines }: { lines: readonly QueueLine[] | undefined }) {
  const sums = lines && sumLines(lines);
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {DELAYS.map(([member, label], i) => (
        <Stat key={member} label={label} value={sums ? formatCount(sums[i] ?? 0) : "–"} />
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
    <Card title={texts.itemsInTheQueue} bodyClass="px-3 pb-3">
      <GraphPanel label={texts.queue} items={lines} range={DEFAULT_RANGE} height={130} />
    </Card>
  );
}

const NOTHING = (
  <Empty icon="check" title={texts.nothingIsOverdue}>
    {texts.allPolledItemsAre}
  </Empty>
);

function Lines({
  lines,
  title,
  name,
}: {
  lines: QueueLine[] | undefined;
  title: string;
  name: (id: string) => string;
}) {
  return (
    <PlainTable<QueueLine>
      query={{ data: lines, error: null, dataUpdatedAt: 0, refetch: () => undefined }}
      head={[
        [title, ""],
        ...DELAYS.map(([, label]) => [label, "w-28 text-right"] as const),
        ["Total", "w-28 text-right"],
      ]}
      empty={NOTHING}
      row={(line) => (
        <tr key={line.id} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>{name(line.id)}</td>
          {DELAYS.map(([member], i) => (
            <td
              key={member}
              className={`${CELL} tabular text-right ${line.counts[i] ? "" : "text-faint"}`}
            >
              {formatCount(line.counts[i] ?? 0)}
            </td>
          ))}
          <td className={`${CELL} tabular text-right font-medium`}>{formatCount(line.total)}</td>
        </tr>
      )}
    />
  );
}

function Hosts({ items }: { items: readonly DelayedItem[] | undefined }) {
  return (
    <PlainTable<SlowHost>
      query={{
        data: items && slowHosts(items, SLOWEST_MAX),
        error: null,
        dataUpdatedAt: 0,
        refetch: () => undefined,
      }}
      head={[
        ["Host", ""],
        ["Overdue items", "w-36 text-right"],
        ["Longest delay", "w-32"],
        ["Reason", ""],
      ]}
      empty={NOTHING}
      row={(host) => (
        <tr key={host.hostid} className="border-t hover:bg-hover">
          <td className={`${CELL} font-medium`}>
            <Link to="/hosts/$hostid" params={{ hostid: host.hostid }} className="hover:underline">
              {host.host}
            </Link>
          </td>
          <td className={`${CELL} tabular text-right`}>{formatCount(host.items)}</td>
          <td className={CELL}>
            <Overdue due={host.due} />
          </td>
          <td className={`${CELL} text-soft`}>{host.reason}</td>
        </tr>
      )}
    />
  );
}

/** Items whose values are overdue, and why: the server's own queue. */
export function QueuePage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const view = VIEWS.find(([name]) => name === search.by)?.[0] ?? "items";
  const overview = useQuery(queueOverviewQuery());
  const details = useQuery(delayedItemsQuery());
  const proxies = overview.data?.proxies;
  const error = overview.error ?? details.error;
  const counted = overview.data && sumLines(overview.data.types).reduce((a, b) => a + b, 0);
  const listed = details.data?.length ?? 0;
  const total = counted === undefined ? undefined : Math.max(counted, listed);
  // The server's counts leave out what waits for an interface that does not answer.
  const waiting = counted === undefined ? 0 : listed - counted;
  return (
    <Page
      title={texts.queue}
      scroll={view !== "items"}
      heading={
        <>
          {texts.queue}
          {total !== undefined && (
            <Count>
              {listed >= DETAILS_MAX
                ? texts.itemsOverdueOf(plural(total, "item"), formatCount(DETAILS_MAX))
                : texts.itemsOverdue(plural(total, "item"))}
            </Count>
          )}
        </>
      }
      bar={
        <Segmented
          label={texts.view}
          value={view}
          options={VIEWS}
          onChange={(by) =>
            void navigate({ search: { by: by === "items" ? undefined : by }, replace: true })
          }
        />
      }
    >
      <div
        className={view === "items" ? "flex min-h-0 flex-1 flex-col gap-4" : "flex flex-col gap-4"}
      >
        <StaleError query={together(overview, details)} />
        {error && !overview.data ? (
          <QueryError error={error} onRetry={() => void together(overview, details).refetch()} />
        ) : (
          <div className="flex flex-col gap-1.5">
            <Buckets lines={overview.data?.types} />
            {waiting > 0 && (
              <p className="text-xs text-soft">{texts.notCounted(plural(waiting, "item"))}</p>
            )}
          </div>
        )}
        <History />
        {error && !details.data ? null : view === "items" ? (
          <DelayedItems items={details.data} />
        ) : view === "hosts" ? (
          <Hosts items={details.data} />
        ) : view === "types" ? (
          <Lines lines={overview.data?.types} title={texts.type} name={itemTypeName} />
        ) : (
          <Lines
            lines={proxies}
            title={texts.proxy}
            name={(id) => (id === "0" ? "Server" : `Proxy ${id}`)}
          />
        )}
      </div>
    </Page>
  );
}
