import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { selfHostQuery } from "~/api/hosts";
import { hostItemsQuery, type ItemRow, mappingsOf } from "~/api/items";
import { State } from "~/api/schema";
import { together } from "~/api/windows";
import { RangePicker } from "~/charts/range-picker";
import { QueryError, StaleError } from "~/shared/fallback";
import { GraphPanel } from "~/shared/graph-panel";
import { Page } from "~/shared/page";
import { buttonClass } from "~/ui/button";
import { Card, Stat } from "~/ui/card";
import { ShareBar } from "~/ui/share-bar";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatValue } from "~/util/format";
import { busyStages, cacheItems, firstOf } from "~/util/self-items";
import { DEFAULT_RANGE, type TimeRange } from "~/util/time";
import { texts } from "./texts";

const route = getRouteApi("/inside/health");

const FIGURES: readonly (readonly [label: string, keys: readonly string[]])[] = [
  ["New values per second", ["zabbix[wcache,values]", "zabbix[wcache,values,all]"]],
  ["Written per second", ["zabbix[vps,written]"]],
  ["Queue", ["zabbix[queue]"]],
  ["Queue over 10 minutes", ["zabbix[queue,10m]"]],
  ["Not supported per second", ["zabbix[wcache,values,not supported]"]],
  ["Preprocessing queue", ["zabbix[preprocessing_queue]"]],
];

function Figures({ items }: { items: readonly ItemRow[] }) {
  return (
    <div className="grid grid-cols-2 gap-3 sm:grid-cols-3 lg:grid-cols-6">
      {FIGURES.map(([label, keys]) => {
        const item = firstOf(items, keys);
        if (!item) return null;
        const text =
          item.lastclock === "0" || item.state === State.NotSupported
            ? "–"
            : formatValue(item.lastvalue, {
                value_type: item.value_type,
                units: item.units.replace("!vps", ""),
                mappings: mappingsOf(item),
              });
        return <Stat key={label} label={label} value={text} />;
      })}
    </div>
  );
}

/** Busy shares as bars: which stage is the limit. */
function Busy({ items }: { items: readonly ItemRow[] }) {
  const stages = busyStages(items);
  if (stages.length === 0) return <p className="text-soft">{texts.noProcessUtilisationHas}</p>;
  return (
    <ul className="grid max-h-72 gap-y-1 overflow-auto">
      {stages.map(({ name, item, busy }) => (
        <li key={item.itemid} className="grid h-6 grid-cols-[11rem_1fr_3.5rem] items-center gap-3">
          <Link
            to="/graph"
            search={{ items: item.itemid }}
            className="truncate text-soft hover:text-ink hover:underline"
          >
            {name}
          </Link>
          <ShareBar percent={busy} />
          <span className="tabular text-right">{busy.toFixed(1)} %</span>
        </li>
      ))}
    </ul>
  );
}

interface ChartProps {
  title: string;
  items: readonly (ItemRow | undefined)[];
  range: TimeRange;
  onRange: (range: TimeRange) => void;
  nameOf?: (item: ItemRow) => string;
}

function Chart({ title, items, ...rest }: ChartProps) {
  const known = items.filter(
    (item): item is ItemRow => item !== undefined && item.state === State.Normal,
  );
  if (known.length === 0) return null;
  return (
    <Card title={title} bodyClass="px-3 pb-3">
      <GraphPanel label={title} items={known} height={170} syncKey="health" {...rest} />
    </Card>
  );
}

/** How the server itself does: throughput, queue, busy stages, caches. */
export function HealthPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const self = useQuery(selfHostQuery());
  const values = useQuery(hostItemsQuery(self.data?.hostid ?? ""));
  const items = values.data;
  const range: TimeRange = {
    from: search.from ?? DEFAULT_RANGE.from,
    to: search.to ?? DEFAULT_RANGE.to,
  };
  const onRange = ({ from, to }: TimeRange) => void navigate({ search: { from, to } });
  const none = self.isSuccess && !self.data;
  const failed = self.error ?? values.error;
  const busiest = items ? busyStages(items).slice(0, 6) : [];
  return (
    <Page
      title={texts.vedettesHealth}
      scroll
      actions={
        <>
          {self.data && (
            <Link
              to="/hosts/$hostid"
              params={{ hostid: self.data.hostid }}
              className={buttonClass("quiet")}
            >
              {texts.hostName(self.data.name)}
            </Link>
          )}
          <RangePicker range={range} onChange={onRange} />
        </>
      }
    >
      <StaleError query={together(self, values)} className="mb-2" />
      {failed && !items ? (
        <QueryError error={failed} onRetry={() => void together(self, values).refetch()} />
      ) : none ? (
        <Card bodyClass="">
          <Empty
            icon="health"
            title={texts.theServerDoesNot}
            action={
              <Link to="/hosts/new" className={buttonClass("primary")}>
                {texts.createHostVedette}
              </Link>
            }
          >
            {texts.createAHostNamed}
          </Empty>
        </Card>
      ) : !items ? (
        <SkeletonRows rows={10} />
      ) : (
        <div className="flex flex-col gap-4">
          <Figures items={items} />
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-2">
            <Chart
              title={texts.valuesPerSecond}
              items={[
                firstOf(items, ["zabbix[wcache,values]", "zabbix[wcache,values,all]"]),
                firstOf(items, ["zabbix[vps,written]"]),
              ]}
              range={range}
              onRange={onRange}
            />
            <Chart
              title={texts.queue}
              items={[firstOf(items, ["zabbix[queue]"]), firstOf(items, ["zabbix[queue,10m]"])]}
              range={range}
              onRange={onRange}
            />
            <Card title={texts.processUtilisation}>
              <Busy items={items} />
            </Card>
            <Chart
              title={texts.busiestProcesses}
              items={busiest.map((stage) => stage.item)}
              nameOf={(item) => busiest.find((stage) => stage.item === item)?.name ?? item.name}
              range={range}
              onRange={onRange}
            />
            <Chart
              title={texts.cacheUtilisation}
              items={cacheItems(items)}
              range={range}
              onRange={onRange}
            />
            <Chart
              title={texts.valueCachePerSecond}
              items={[
                firstOf(items, ["zabbix[vcache,cache,hits]"]),
                firstOf(items, ["zabbix[vcache,cache,misses]"]),
              ]}
              range={range}
              onRange={onRange}
            />
          </div>
        </div>
      )}
    </Page>
  );
}
