import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { deletePools, monitorsQuery, type Pool, poolsQuery } from "~/api/balancing";
import { Dot } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { formatCount, plural } from "~/util/format";
import { withPort } from "./leave";
import { NameLink, ObjectsPage } from "./list";
import { monitorsOf } from "./pool-draft";
import { texts } from "./texts";
import { algorithmName } from "./words";

const route = getRouteApi("/inside/balancing/pools");

interface Shown extends Pool {
  monitor: string;
}

function usePools() {
  const query = useQuery(poolsQuery());
  const { data: monitors } = useQuery(monitorsQuery());
  const data = useMemo(
    () =>
      query.data?.map((row): Shown => {
        const names = monitorsOf(row).map(
          (id) => monitors?.find((one) => one.healthmonitorid === id)?.name ?? "",
        );
        return { ...row, monitor: names.filter(Boolean).join(", ") };
      }),
    [query.data, monitors],
  );
  return { ...query, data };
}

/** How many servers there are, and which of them are not used. */
function Servers({ row }: { row: Pool }) {
  const off = row.servers.filter((server) => server.state !== "up").length;
  const list = row.servers
    .map((one) => `${one.name} ${withPort(one.address, one.port)} (${one.state})`)
    .join("\n");
  return (
    <span className="tabular inline-flex items-center gap-1.5" title={list}>
      <Dot tone={off === 0 ? "good" : off < row.servers.length ? "warn" : "bad"} />
      {formatCount(row.servers.length)}
      {off > 0 && <span className="text-soft">{texts.notUsed(off)}</span>}
    </span>
  );
}

const name = (row: Shown) => <NameLink kind="pools" id={row.poolid} name={row.name} />;

const COLUMNS: readonly Column<Shown>[] = [
  {
    id: "summary",
    header: texts.pool,
    width: "minmax(0, 1fr)",
    on: "narrow",
    cell: (row) => (
      <span className="flex min-w-0 flex-col">
        {name(row)}
        <span className="truncate text-xs text-soft">
          {plural(row.servers.length, texts.serverWord)}, {algorithmName(row.algorithm)}
        </span>
      </span>
    ),
  },
  { id: "name", header: texts.name, width: "minmax(10rem, 1.4fr)", on: "wide", cell: name },
  {
    id: "servers",
    header: texts.servers,
    width: "9rem",
    on: "wide",
    cell: (row) => <Servers row={row} />,
  },
  {
    id: "algorithm",
    header: texts.algorithm,
    width: "minmax(10rem, 1fr)",
    on: "wide",
    cell: (row) => algorithmName(row.algorithm),
  },
  {
    id: "monitor",
    header: texts.healthMonitors,
    width: "minmax(9rem, 1fr)",
    on: "wide",
    cell: (row) => row.monitor || <span className="text-faint">{texts.none}</span>,
  },
  {
    id: "description",
    header: texts.description,
    width: "minmax(9rem, 1.4fr)",
    on: "wide",
    cell: (row) => <span className="text-soft">{row.description}</span>,
  },
];

const idOf = (row: Shown) => row.poolid;
const textOf = (row: Shown) =>
  [row.name, ...row.servers.map((one) => `${one.name} ${one.address}`)].join(" ");

/** Servers that do the same. */
export function PoolsPage() {
  return (
    <ObjectsPage
      kind="pools"
      title={texts.pools}
      word={texts.poolWord}
      icon="hosts"
      query={usePools()}
      columns={COLUMNS}
      idOf={idOf}
      textOf={textOf}
      search={route.useSearch()}
      remove={deletePools}
      warning={texts.poolLoss}
    >
      {texts.poolsEmpty}
    </ObjectsPage>
  );
}
