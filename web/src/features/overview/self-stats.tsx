import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { selfHostQuery } from "~/api/hosts";
import { hostItemsQuery, type ItemRow } from "~/api/items";
import { Card } from "~/ui/card";
import { lazyComponent } from "~/ui/lazy";
import { Empty } from "~/ui/state";
import { formatUnits } from "~/util/format";
import { DEFAULT_RANGE } from "~/util/time";
import { texts } from "./texts";

const GraphPanel = lazyComponent(() => import("~/shared/graph-panel").then((m) => m.GraphPanel), {
  fallback: <div className="h-[246px]" />,
});

const NVPS = ["zabbix[wcache,values]", "zabbix[wcache,values,all]"];
const QUEUE = ["zabbix[queue,10m]", "zabbix[queue]"];

function find(items: readonly ItemRow[], keys: readonly string[]): ItemRow | undefined {
  for (const key of keys) {
    const found = items.find((item) => item.key_ === key);
    if (found) return found;
  }
  return undefined;
}

function Figure({ title, item, unit }: { title: string; item: ItemRow | undefined; unit: string }) {
  if (!item) return null;
  const known = item.lastclock !== "0";
  return (
    <div className="min-w-0 flex-1">
      <div className="flex items-baseline justify-between gap-2 pb-1">
        <span className="truncate text-xs text-soft">{title}</span>
        <span className="tabular text-base font-semibold">
          {known ? formatUnits(Number(item.lastvalue), item.units || unit) : "–"}
        </span>
      </div>
      <GraphPanel label={title} items={[item]} range={DEFAULT_RANGE} height={246} legend="none" />
    </div>
  );
}

/** How Vedette itself does: new values per second and the queue. */
export function SelfStats() {
  const self = useQuery(selfHostQuery());
  const items = useQuery(hostItemsQuery(self.data?.hostid ?? "", "zabbix["));
  const nvps = find(items.data ?? [], NVPS);
  const queue = find(items.data ?? [], QUEUE);
  const none = self.isSuccess && (!self.data || (items.isSuccess && !nvps && !queue));
  return (
    <Card
      title={texts.vedetteServer}
      side={
        <Link to="/health" className="hover:text-ink">
          {texts.vedettesHealth}
        </Link>
      }
    >
      {none ? (
        <Empty icon="health" title={texts.theServerDoesNot}>
          {texts.linkTheTemplateVedette}
        </Empty>
      ) : (
        <div className="flex gap-6">
          <Figure title={texts.newValuesPerSecond} item={nvps} unit="" />
          <Figure title={texts.itemsDelayedByMore} item={queue} unit="" />
        </div>
      )}
    </Card>
  );
}
