import { useMutation, useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { explain } from "~/api/errors";
import { valuesQuery } from "~/api/history";
import { checkNow, type ItemRow, itemSearchQuery, itemsQuery, mappingsOf } from "~/api/items";
import { lostQuery } from "~/api/lost";
import { allows } from "~/api/session-store";
import { RangePicker } from "~/charts/range-picker";
import { QueryError, StaleError } from "~/shared/fallback";
import { GraphPanel } from "~/shared/graph-panel";
import { CRUMB, Page } from "~/shared/page";
import { Button, buttonClass } from "~/ui/button";
import { Card } from "~/ui/card";
import { canCopy, copy } from "~/ui/copy";
import { Pick } from "~/ui/pick";
import { Segmented } from "~/ui/segmented";
import { Empty, SkeletonRows } from "~/ui/state";
import { toast } from "~/ui/toast";
import { formatValue, isNumeric } from "~/util/format";
import { isBehind, useSettled } from "~/util/hooks";
import { type LostRange, unite, withLost } from "~/util/lost";
import { listOf, listTo } from "~/util/search";
import { DEFAULT_RANGE, formatClock, type TimeRange } from "~/util/time";
import { texts } from "./texts";

const route = getRouteApi("/inside/graph");

function ItemPicker({
  values,
  items,
  onChange,
}: {
  values: string[];
  items: readonly ItemRow[];
  onChange: (v: string[]) => void;
}) {
  const [text, setText] = useState("");
  const settled = useSettled(text);
  const search = useQuery(itemSearchQuery(settled, { numeric: true }));
  const words = (item: { name: string; hosts: { name: string }[] }) =>
    `${item.hosts[0]?.name}: ${item.name}`;
  return (
    <Pick
      label={texts.items}
      values={values}
      options={(search.data ?? []).map((item) => ({ value: item.itemid, label: words(item) }))}
      labelOf={(id) => items.filter((item) => item.itemid === id).map(words)[0]}
      onSearch={setText}
      busy={isBehind(text, settled, search)}
      onChange={onChange}
    />
  );
}

/** Values of a table. */
const VALUES_MAX = 200;

/** A range without values because they were lost. */
function LostRow({ lost: { from, till, certain, reason } }: { lost: LostRange }) {
  return (
    <tr className="hatched border-t align-top">
      <td className="tabular w-44 py-1.5 pr-3 pl-4 text-soft">
        {texts.fromTo(formatClock(from), formatClock(till))}
      </td>
      <td className="py-1.5 pr-4 text-xs text-soft">
        {(certain ? texts.historyLost : texts.historyMayBeLost)(reason)}
      </td>
    </tr>
  );
}

/** Newest values of an item that is not a number. */
function TextValues({ item }: { item: ItemRow }) {
  const query = useQuery(valuesQuery(item, VALUES_MAX));
  const { data: lost = [] } = useQuery(lostQuery([item.itemid]));
  const { data, error } = query;
  if (!data)
    return error ? (
      <QueryError error={error} onRetry={() => void query.refetch()} />
    ) : (
      <SkeletonRows />
    );
  const rows = withLost(data, unite(lost), data.length < VALUES_MAX);
  if (rows.length === 0) return <p className="px-4 pb-4 text-soft">{texts.noValuesYet}</p>;
  return (
    <table className="w-full">
      <tbody>
        {rows.map((point) =>
          "reason" in point ? (
            <LostRow key={`lost ${point.from} ${point.certain}`} lost={point} />
          ) : (
            <tr key={`${point.clock}.${point.ns}`} className="border-t align-top">
              <td className="tabular w-44 py-1.5 pl-4 text-soft">
                {formatClock(Number(point.clock))}
              </td>
              <td className="py-1.5 pr-4 font-mono text-xs break-all whitespace-pre-wrap">
                {formatValue(point.value, {
                  value_type: item.value_type,
                  units: item.units,
                  mappings: mappingsOf(item),
                })}
              </td>
            </tr>
          ),
        )}
      </tbody>
    </table>
  );
}

function CheckNow({ itemids }: { itemids: readonly string[] }) {
  const check = useMutation({
    mutationFn: () => checkNow(itemids),
    onSuccess: () => toast(texts.theCheckWasRequested),
    onError: (error) => toast(explain(error).what, "bad"),
  });
  if (!allows("invoke_execute_now")) return null;
  return (
    <Button look="quiet" icon="play" disabled={check.isPending} onClick={() => check.mutate()}>
      {texts.checkNow}
    </Button>
  );
}

/** Items of one unit share a chart; other units get charts of their own. */
export function byUnits(items: readonly ItemRow[], split: boolean): ItemRow[][] {
  const groups = new Map<string, ItemRow[]>();
  for (const item of items) {
    const key = split ? item.itemid : item.units;
    groups.set(key, [...(groups.get(key) ?? []), item]);
  }
  return [...groups.values()];
}

interface ChartsProps {
  items: readonly ItemRow[];
  split: boolean;
  range: TimeRange;
  onRange: (range: TimeRange) => void;
}

/** Numbers as charts, other values as tables below them. */
function Charts({ items, split, range, onRange }: ChartsProps) {
  const numeric = (item: ItemRow) => isNumeric(item.value_type);
  const charts = byUnits(items.filter(numeric), split);
  const others = items.filter((item) => !numeric(item));
  return (
    <div className="flex flex-col gap-4">
      {charts.map((group) => (
        <Card key={group.map((item) => item.itemid).join()} bodyClass="p-4">
          <GraphPanel
            label={group.map((item) => item.name).join(", ")}
            items={group}
            range={range}
            onRange={onRange}
            height={charts.length === 1 ? 380 : 220}
            legend="table"
            syncKey="graph"
            withHost={items.length > 1}
          />
        </Card>
      ))}
      {others.map((item) => (
        <Card key={item.itemid} title={`${item.hosts[0]?.name}: ${item.name}`} bodyClass="">
          <TextValues item={item} />
        </Card>
      ))}
    </div>
  );
}

export function GraphPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const ids = listOf(search.items);
  const query = useQuery(itemsQuery(ids));
  const { data: items, error, isPending } = query;
  const shown = ids.length ? (items ?? []) : [];
  const range: TimeRange = {
    from: search.from ?? DEFAULT_RANGE.from,
    to: search.to ?? DEFAULT_RANGE.to,
  };
  const split = search.split === "yes";
  const setRange = (next: TimeRange) =>
    void navigate({ search: (old) => ({ ...old, from: next.from, to: next.to }) });
  const ordered = ids
    .map((id) => shown.find((item) => item.itemid === id))
    .filter((i): i is ItemRow => i !== undefined);
  const single = ordered.length === 1 ? ordered[0] : undefined;
  return (
    <Page
      title={texts.graph}
      scroll
      heading={
        single ? (
          <span className="truncate max-sm:break-words max-sm:whitespace-normal">
            <Link to="/hosts/$hostid" params={{ hostid: single.hostid }} className={CRUMB}>
              {single.hosts[0]?.name}
            </Link>
            <span className="px-1.5 text-faint">/</span>
            {single.name}
          </span>
        ) : (
          "Graph"
        )
      }
      actions={<RangePicker range={range} onChange={setRange} />}
      bar={
        <>
          <ItemPicker
            values={ids}
            items={shown}
            onChange={(v) =>
              void navigate({ search: (old) => ({ ...old, items: listTo(v) }), replace: true })
            }
          />
          {ids.length > 1 && (
            <Segmented
              label={texts.charts}
              value={split ? "split" : "together"}
              onChange={(v) =>
                void navigate({
                  search: (old) => ({ ...old, split: v === "split" ? "yes" : undefined }),
                  replace: true,
                })
              }
              options={[
                ["together", texts.combined],
                ["split", texts.separate],
              ]}
            />
          )}
          {ids.length > 0 && <CheckNow itemids={ids} />}
          {ids.length > 0 && canCopy && (
            <Button
              look="quiet"
              icon="link"
              onClick={() => copy(location.href, texts.theLinkWasCopied)}
            >
              {texts.copyLink}
            </Button>
          )}
        </>
      }
    >
      <StaleError query={query} className="mb-2" />
      {ids.length === 0 ? (
        <Card bodyClass="">
          <Empty
            icon="graph"
            title={texts.selectItemsToDisplay}
            action={
              <Link to="/latest" className={buttonClass("primary")}>
                {texts.selectInLatestData}
              </Link>
            }
          >
            {texts.selectItemsAboveOr}
          </Empty>
        </Card>
      ) : error && !items ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : isPending ? (
        <SkeletonRows />
      ) : ordered.length === 0 ? (
        <Card bodyClass="">
          <Empty icon="search" title={texts.theseItemsDoNot}>
            {texts.theyWereDeletedOr}
          </Empty>
        </Card>
      ) : (
        <Charts items={ordered} split={split} range={range} onRange={setRange} />
      )}
    </Page>
  );
}
