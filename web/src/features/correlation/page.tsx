import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  type Correlation,
  correlationsQuery,
  deleteCorrelations,
  enableCorrelations,
} from "~/api/correlations";
import { groupsQuery } from "~/api/groups";
import { Status } from "~/api/schema";
import { EnableTable, Switch, useSwitches } from "~/shared/enable-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import type { Column } from "~/ui/table";
import { CorrelationAction, correlationWords } from "~/util/correlation";
import { useTyped } from "~/util/hooks";
import { includesAll } from "~/util/words";
import { correlationDraft } from "./draft";
import { texts } from "./texts";

const route = getRouteApi("/inside/correlation");
const idOf = (row: Correlation) => row.correlationid;

const operationWords = ({ operations }: Correlation) =>
  operations
    .map(({ type }) => (type === CorrelationAction.CloseOld ? texts.closeOld : texts.closeNew))
    .join(", ");

function Name({ row }: { row: Correlation }) {
  return (
    <Link
      to="/correlation/$correlationid/edit"
      params={{ correlationid: row.correlationid }}
      onClick={(event) => event.stopPropagation()}
      className="truncate font-medium hover:underline"
      title={row.description || undefined}
    >
      {row.name}
    </Link>
  );
}

function columnsOf(groups: ReadonlyMap<string, string>): Column<Correlation>[] {
  const conditions = (row: Correlation) =>
    correlationDraft(row)
      .conditions.map((one) => correlationWords(one, groups))
      .join("; ");
  return [
    ...nameColumns<Correlation>({
      header: texts.correlation,
      name: (row) => <Name row={row} />,
      nameWidth: "minmax(10rem, 1fr)",
      state: (row) => <Switch on={row.status === Status.Enabled} />,
      stateWidth: "7rem",
      more: (row) => conditions(row),
    }),
    {
      id: "conditions",
      header: texts.conditions,
      width: "minmax(14rem, 2fr)",
      on: "wide",
      cell: (row) => (
        <span className="text-soft" title={conditions(row)}>
          {conditions(row)}
        </span>
      ),
    },
    {
      id: "operations",
      header: texts.operations,
      width: "minmax(10rem, 1fr)",
      on: "wide",
      cell: (row) => <span className="text-soft">{operationWords(row)}</span>,
    },
  ];
}

const CREATE = (
  <Link to="/correlation/new" className={buttonClass("primary")}>
    <Icon name="plus" size={15} />
    {texts.createCorrelation}
  </Link>
);

/** Rules that close problems because of others. */
export function CorrelationsPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(correlationsQuery());
  const { data: groups } = useQuery(groupsQuery("host"));
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    navigate({ search: { text: value || undefined }, replace: true }),
  );
  const needle = search.text ?? "";
  const rows = useMemo(
    () => query.data?.filter((row) => includesAll(`${row.name} ${row.description}`, needle)),
    [query.data, needle],
  );
  const columns = useMemo(
    () => columnsOf(new Map(groups?.map((one) => [one.groupid, one.name]))),
    [groups],
  );
  const { selected, setSelected, buttons } = useSwitches({
    word: texts.correlationWord,
    queryKey: "correlations",
    warning: texts.lossOnDelete,
    enable: enableCorrelations,
    remove: deleteCorrelations,
  });
  const chosen = rows?.map(idOf).filter((id) => selected.has(id)) ?? [];
  const onClear = needle ? () => setText("") : undefined;
  return (
    <ListPage
      title={texts.correlations}
      count={rows?.length}
      actions={
        <>
          {buttons(chosen)}
          {CREATE}
        </>
      }
      filters={
        <SearchBox
          label={texts.searchCorrelations}
          value={text}
          onChange={setText}
          className="w-64"
        />
      }
      onClear={onClear}
      query={query}
    >
      {rows && (
        <EnableTable
          label={texts.correlations}
          columns={columns}
          rows={rows}
          idOf={idOf}
          selected={selected}
          onSelect={setSelected}
          onOpen={({ correlationid }) =>
            void navigate({ to: "/correlation/$correlationid/edit", params: { correlationid } })
          }
          empty={
            <NoRows icon="merge" word={texts.correlationWord} onClear={onClear} action={CREATE}>
              {texts.correlationsClose}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
