import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { figuresHostQuery } from "~/api/balancing";
import { hostItemsQuery, type ItemRow } from "~/api/items";
import { State } from "~/api/schema";
import { GraphPanel } from "~/shared/graph-panel";
import { LastValue } from "~/shared/value";
import { Card } from "~/ui/card";
import { DEFAULT_RANGE } from "~/util/time";
import { texts } from "./texts";

type Kind = "service" | "pool";
/** Keys of items behind the common start, with words. */
type Shown = readonly (readonly [figure: string, label: string])[];

const KEY = "zabbix[vedette,lb,";
const VALUES: Readonly<Record<Kind, Shown>> = {
  service: [
    ["requests", texts.requestsPerSecond],
    ["errors,percent", texts.errorsPercent],
    ["total,p95", texts.total95],
    ["connections", texts.openConnections],
    ["servers,up", texts.serversUp],
  ],
  pool: [
    ["requests", texts.requestsPerSecond],
    ["errors,percent", texts.errorsPercent],
    ["response,p95", texts.response95],
    ["connections", texts.inFlight],
    ["servers,up", texts.serversUp],
  ],
};
const CHARTS: Readonly<Record<Kind, Shown>> = {
  service: [
    ["requests", texts.requestsPerSecond],
    ["total,p95", texts.total95],
  ],
  pool: [
    ["requests", texts.requestsPerSecond],
    ["response,p95", texts.response95],
  ],
};

/** What engines measured of a service or a pool; nothing if the server keeps no host for it. */
export function Figures({ kind, id }: { kind: Kind; id: string }) {
  const { data: host } = useQuery(figuresHostQuery(kind, id));
  const { data: items } = useQuery(hostItemsQuery(host?.hostid ?? "", KEY));
  if (!host || !items) return null;
  const reason = items.find((item) => item.state === State.NotSupported && item.error)?.error;
  const found = (shown: Shown): [string, ItemRow][] =>
    shown.flatMap(([figure, label]) => {
      const item = items.find((one) => one.key_ === `${KEY}${figure}]`);
      return item ? [[label, item]] : [];
    });
  const link = (
    <Link to="/hosts/$hostid" params={{ hostid: host.hostid }} search={{ tab: "latest" }}>
      {texts.allItems}
    </Link>
  );
  return (
    <Card title={texts.figures} side={link} className="mb-4">
      <dl className="grid grid-cols-2 gap-3 sm:grid-cols-5">
        {found(VALUES[kind]).map(([label, item]) => (
          <div key={item.itemid} className="min-w-0">
            <dt className="truncate text-xs text-soft" title={label}>
              {label}
            </dt>
            <dd>
              {item.state === State.NotSupported ? (
                <span className="text-soft" title={item.error}>
                  {texts.unknownFigure}
                </span>
              ) : (
                <LastValue item={item} />
              )}
            </dd>
          </div>
        ))}
      </dl>
      {reason ? <p className="mt-2 text-sm text-soft">{reason}</p> : null}
      <div className="mt-3 grid gap-4 lg:grid-cols-2">
        {found(CHARTS[kind]).map(([label, item]) => (
          <GraphPanel
            key={item.itemid}
            label={label}
            items={[item]}
            range={DEFAULT_RANGE}
            height={130}
            nameOf={() => label}
          />
        ))}
      </div>
    </Card>
  );
}
