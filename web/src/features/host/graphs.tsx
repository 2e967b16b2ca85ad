import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { useState } from "react";
import { type GraphItemRow, hostGraphsQuery } from "~/api/graphs";
import type { Host } from "~/api/hosts";
import { itemsQuery } from "~/api/items";
import type { LineLook } from "~/charts/palette";
import { RangePicker } from "~/charts/range-picker";
import { QueryError } from "~/shared/fallback";
import { GraphPanel } from "~/shared/graph-panel";
import { Button } from "~/ui/button";
import { Card } from "~/ui/card";
import { Empty, SkeletonRows } from "~/ui/state";
import type { TimeRange } from "~/util/time";
import { texts } from "./texts";

/** Graphs that are drawn at first, and with each click more: each reads the history of its items. */
const STEP = 12;

/** Height of a chart, pixels. */
const HEIGHT = 170;

const STACKED = "1";
const DRAW_TYPE = { filled: "1", bold: "2", dots: "3", dashed: "4", gradient: "5" } as const;

/** Line style of a graph's item; items of a stacked graph are drawn as filled regions. */
function lookOf({ color, drawtype }: GraphItemRow, graphtype: string): LineLook {
  return {
    color: `#${color}`,
    filled:
      graphtype === STACKED || drawtype === DRAW_TYPE.filled || drawtype === DRAW_TYPE.gradient,
    width: drawtype === DRAW_TYPE.bold ? 3 : undefined,
    dash: drawtype === DRAW_TYPE.dashed ? [8, 4] : drawtype === DRAW_TYPE.dots ? [2, 3] : undefined,
  };
}

interface GraphProps {
  name: string;
  graphtype: string;
  gitems: readonly GraphItemRow[];
  host: Host;
  range: TimeRange;
  onRange: (range: TimeRange) => void;
}

function HostGraph({ name, graphtype, gitems, host, range, onRange }: GraphProps) {
  const shown = gitems.toSorted((a, b) => Number(a.sortorder) - Number(b.sortorder));
  const ids = shown.map((item) => item.itemid);
  const { data, error } = useQuery(itemsQuery(ids));
  const items = (data ?? []).toSorted((a, b) => ids.indexOf(a.itemid) - ids.indexOf(b.itemid));
  const looks = new Map(shown.map((item) => [item.itemid, lookOf(item, graphtype)]));
  return (
    <Card
      title={name}
      bodyClass="px-3 pb-3"
      side={
        <Link
          to="/graph"
          search={{ items: ids.join(","), from: range.from, to: range.to }}
          className="hover:text-ink"
        >
          {texts.explore}
        </Link>
      }
    >
      {data ? (
        <GraphPanel
          label={texts.graphOf(name, host.name)}
          items={items}
          lookOf={(item) => looks.get(item.itemid)}
          withHost={items.some((item) => item.hostid !== host.hostid)}
          range={range}
          onRange={onRange}
          height={HEIGHT}
          syncKey={`host-${host.hostid}`}
        />
      ) : error ? (
        <QueryError error={error} />
      ) : (
        <div style={{ height: HEIGHT }}>
          <SkeletonRows rows={3} />
        </div>
      )}
    </Card>
  );
}

/** The graphs that templates, users and discovery rules gave the host. */
export function HostGraphs({
  host,
  range,
  onRange,
}: {
  host: Host;
  range: TimeRange;
  onRange: (range: TimeRange) => void;
}) {
  const { data, error } = useQuery(hostGraphsQuery(host.hostid));
  const [count, setCount] = useState(STEP);
  if (error && !data) return <QueryError error={error} />;
  if (!data) return <SkeletonRows />;
  if (data.length === 0) {
    return (
      <Empty icon="graph" title={texts.noGraphs}>
        {texts.graphsComeWithTemplates}
      </Empty>
    );
  }
  return (
    <div className="flex flex-col gap-4">
      <div className="flex justify-end">
        <RangePicker range={range} onChange={onRange} />
      </div>
      <div className="grid gap-4 lg:grid-cols-2">
        {data.slice(0, count).map((graph) => (
          <HostGraph key={graph.graphid} {...graph} host={host} range={range} onRange={onRange} />
        ))}
      </div>
      {count < data.length && (
        <Button className="self-center" onClick={() => setCount(count + STEP)}>
          {texts.moreGraphs(data.length - count)}
        </Button>
      )}
    </div>
  );
}
