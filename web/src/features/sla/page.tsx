import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import { deleteSlas, enableSlas, type SlaSummary, slasQuery } from "~/api/slas";
import { EnableTable, Switch, useSwitches } from "~/shared/enable-table";
import { ListPage, NoRows } from "~/shared/list-page";
import { buttonClass } from "~/ui/button";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { nameColumns } from "~/ui/name-columns";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { useTyped } from "~/util/hooks";
import { isAlways, percent, periodName, SLA_ON } from "~/util/sla";
import { includesAll } from "~/util/words";
import { texts } from "./texts";

const route = getRouteApi("/inside/sla");
const idOf = (row: SlaSummary) => row.slaid;

const scheduleWords = ({ schedule }: SlaSummary) =>
  isAlways(
    schedule.map(({ period_from, period_to }) => ({
      period_from: Number(period_from),
      period_to: Number(period_to),
    })),
  )
    ? texts.always
    : texts.custom;

const zoneWords = ({ timezone }: SlaSummary) =>
  timezone === "system" ? texts.systemZone : timezone;

function Name({ row }: { row: SlaSummary }) {
  return (
    <Link
      to="/sla/$slaid/edit"
      params={{ slaid: row.slaid }}
      onClick={(event) => event.stopPropagation()}
      className="truncate font-medium hover:underline"
      title={row.description || undefined}
    >
      {row.name}
    </Link>
  );
}

const COLUMNS: Column<SlaSummary>[] = [
  ...nameColumns<SlaSummary>({
    header: texts.sla,
    name: (row) => <Name row={row} />,
    nameWidth: "minmax(10rem, 1.2fr)",
    state: (row) => <Switch on={row.status === SLA_ON} />,
    stateWidth: "7rem",
    more: (row) => `${percent(Number(row.slo))} · ${periodName(row.period)}`,
  }),
  {
    id: "slo",
    header: texts.slo,
    width: "6rem",
    on: "wide",
    cell: (row) => <span className="tabular">{percent(Number(row.slo))}</span>,
  },
  {
    id: "period",
    header: texts.period,
    width: "8rem",
    on: "wide",
    cell: (row) => <span className="text-soft">{periodName(row.period)}</span>,
  },
  {
    id: "schedule",
    header: texts.schedule,
    width: "6rem",
    on: "wide",
    cell: (row) => <span className="text-soft">{scheduleWords(row)}</span>,
  },
  {
    id: "zone",
    header: texts.timeZone,
    width: "minmax(7rem, 0.7fr)",
    on: "wide",
    cell: (row) => <span className="text-soft">{zoneWords(row)}</span>,
  },
  {
    id: "tags",
    header: texts.serviceTags,
    width: "minmax(8rem, 1fr)",
    on: "wide",
    cell: (row) => <TagList tags={row.service_tags} max={4} />,
  },
  {
    id: "report",
    header: <span className="sr-only">{texts.report}</span>,
    width: "6.5rem",
    on: "wide",
    cell: (row) =>
      row.status === SLA_ON && (
        <Link
          to="/sla-report"
          search={{ sla: row.slaid }}
          onClick={(event) => event.stopPropagation()}
          className="text-xs text-accent-ink hover:underline"
        >
          {texts.report}
        </Link>
      ),
  },
];

const CREATE = (
  <Link to="/sla/new" className={buttonClass("primary")}>
    <Icon name="plus" size={15} />
    {texts.createSla}
  </Link>
);

/** Agreements on the availability of services. */
export function SlasPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(slasQuery());
  const [text, setText] = useTyped(search.text ?? "", (value) =>
    navigate({ search: { text: value || undefined }, replace: true }),
  );
  const needle = search.text ?? "";
  const rows = useMemo(
    () => query.data?.filter((row) => includesAll(`${row.name} ${row.description}`, needle)),
    [query.data, needle],
  );
  const { selected, setSelected, buttons } = useSwitches({
    word: texts.slaWord,
    queryKey: "slas",
    warning: texts.lossOnDelete,
    enable: enableSlas,
    remove: deleteSlas,
  });
  const chosen = rows?.map(idOf).filter((id) => selected.has(id)) ?? [];
  const onClear = needle ? () => setText("") : undefined;
  return (
    <ListPage
      title={texts.slas}
      count={rows?.length}
      actions={
        <>
          {buttons(chosen)}
          {CREATE}
        </>
      }
      filters={
        <SearchBox label={texts.searchSlas} value={text} onChange={setText} className="w-64" />
      }
      onClear={onClear}
      query={query}
    >
      {rows && (
        <EnableTable
          label={texts.slas}
          columns={COLUMNS}
          rows={rows}
          idOf={idOf}
          selected={selected}
          onSelect={setSelected}
          onOpen={({ slaid }) => void navigate({ to: "/sla/$slaid/edit", params: { slaid } })}
          empty={
            <NoRows icon="target" word={texts.slaWord} onClear={onClear} action={CREATE}>
              {texts.slasMeasure}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
