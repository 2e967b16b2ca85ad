import { useQuery } from "@tanstack/react-query";
import { getRouteApi } from "@tanstack/react-router";
import { useMemo } from "react";
import { deletePoolGroups, type PoolGroup, poolGroupsQuery, poolsQuery } from "~/api/balancing";
import type { Column } from "~/ui/table";
import { NameLink, ObjectsPage } from "./list";
import { texts } from "./texts";

const route = getRouteApi("/inside/balancing/pool-groups");

interface Shown extends PoolGroup {
  /** Names of its pools with their ratios, such as "blue 9, green 1". */
  shares: string;
}

function usePoolGroups() {
  const query = useQuery(poolGroupsQuery());
  const { data: pools } = useQuery(poolsQuery());
  const data = useMemo(
    () =>
      query.data?.map((row): Shown => {
        const shares = row.members.map(({ poolid, ratio }) => {
          const pool = pools?.find((one) => one.poolid === poolid);
          return `${pool?.name ?? poolid} ${ratio}`;
        });
        return { ...row, shares: shares.join(", ") };
      }),
    [query.data, pools],
  );
  return { ...query, data };
}

const name = (row: Shown) => <NameLink kind="pool-groups" id={row.poolgroupid} name={row.name} />;

const COLUMNS: readonly Column<Shown>[] = [
  {
    id: "summary",
    header: texts.poolGroup,
    width: "minmax(0, 1fr)",
    on: "narrow",
    cell: (row) => (
      <span className="flex min-w-0 flex-col">
        {name(row)}
        <span className="truncate text-xs text-soft">{row.shares}</span>
      </span>
    ),
  },
  { id: "name", header: texts.name, width: "minmax(10rem, 1fr)", on: "wide", cell: name },
  {
    id: "members",
    header: `${texts.members}, ${texts.ratio.toLowerCase()}`,
    width: "minmax(12rem, 1.6fr)",
    on: "wide",
    cell: (row) => row.shares,
  },
  {
    id: "description",
    header: texts.description,
    width: "minmax(9rem, 1fr)",
    on: "wide",
    cell: (row) => <span className="text-soft">{row.description}</span>,
  },
];

const idOf = (row: Shown) => row.poolgroupid;
const textOf = (row: Shown) => `${row.name} ${row.shares} ${row.description}`;

/** Pools that share requests. */
export function PoolGroupsPage() {
  return (
    <ObjectsPage
      kind="pool-groups"
      title={texts.poolGroups}
      word={texts.poolGroupWord}
      icon="templates"
      query={usePoolGroups()}
      columns={COLUMNS}
      idOf={idOf}
      textOf={textOf}
      search={route.useSearch()}
      remove={deletePoolGroups}
      warning={texts.usedWarning}
    >
      {texts.poolGroupsEmpty}
    </ObjectsPage>
  );
}
