import { useMemo } from "react";
import { cellsOf, type SlaSummary, type Sli } from "~/api/slas";
import { LoadBar } from "~/charts/load-bar";
import { useSlaZone } from "~/shared/sla/zone";
import { Empty } from "~/ui/state";
import { type Column, VirtualTable } from "~/ui/table";
import { periodWords, type SlaPeriod, type SliCell, sliWords, verdictOf } from "~/util/sla";
import { formatDuration } from "~/util/time";
import { texts } from "./texts";

interface PeriodRow {
  period: SlaPeriod;
  cell: SliCell | undefined;
}

const LOOKS = { met: "text-good-ink", missed: "font-medium text-bad-ink", unknown: "text-faint" };

/** The part of the objective that was reached: an objective of 99.9 % is missed in its last tenths. */
function Indicator({ row, slo }: { row: PeriodRow; slo: number }) {
  const verdict = verdictOf(row.cell, slo);
  const share = verdict === "unknown" ? undefined : Number(row.cell?.sli) / 100;
  return (
    <span className="flex items-center gap-2">
      <span className="w-24 shrink-0">
        <LoadBar
          share={share}
          marks={[slo / 100]}
          tone={verdict === "missed" ? "accent" : "good"}
        />
      </span>
      <span className={`tabular ${LOOKS[verdict]}`}>{sliWords(row.cell, slo)}</span>
    </span>
  );
}

/** What may still be missed in a period, or by how much it was. */
function budgetWords(cell: SliCell): string {
  const left = Number(cell.error_budget);
  const time = formatDuration(Math.abs(left));
  return left < 0 ? texts.overBy(time) : texts.left(time);
}

function columnsOf(slo: number, zone: string | undefined): Column<PeriodRow>[] {
  const known =
    (words: (cell: SliCell) => string) =>
    ({ cell }: PeriodRow) =>
      cell && verdictOf(cell, slo) !== "unknown" ? (
        <span className="tabular text-soft">{words(cell)}</span>
      ) : (
        <span className="text-faint">{texts.unknown}</span>
      );
  const excluded = ({ cell }: PeriodRow) =>
    cell?.excluded_downtimes?.map(({ name }) => name).join(", ") ?? "";
  return [
    {
      id: "summary",
      header: texts.period,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          <span className="tabular truncate text-xs">{periodWords(row.period, zone)}</span>
          <Indicator row={row} slo={slo} />
        </span>
      ),
    },
    {
      id: "period",
      header: texts.period,
      width: "13rem",
      on: "wide",
      cell: ({ period }) => <span className="tabular">{periodWords(period, zone)}</span>,
    },
    {
      id: "sli",
      header: texts.sli,
      width: "13rem",
      on: "wide",
      cell: (row) => <Indicator row={row} slo={slo} />,
    },
    {
      id: "uptime",
      header: texts.uptime,
      width: "8rem",
      on: "wide",
      cell: known((cell) => formatDuration(Number(cell.uptime))),
    },
    {
      id: "downtime",
      header: texts.downtime,
      width: "8rem",
      on: "wide",
      cell: known((cell) => formatDuration(Number(cell.downtime))),
    },
    {
      id: "budget",
      header: texts.budget,
      width: "11rem",
      on: "wide",
      cell: known(budgetWords),
    },
    {
      id: "excluded",
      header: texts.excluded,
      width: "minmax(8rem, 1fr)",
      on: "wide",
      cell: (row) => (
        <span className="text-soft" title={excluded(row)}>
          {excluded(row)}
        </span>
      ),
    },
  ];
}

interface PeriodTableProps {
  sla: SlaSummary;
  sli: Sli;
  /** Of the service. */
  id: string;
  name: string;
}

/** All periods of one service, the newest first. */
export function PeriodTable({ sla, sli, id, name }: PeriodTableProps) {
  const slo = Number(sla.slo);
  const zone = useSlaZone(sla);
  const cells = cellsOf(sli, id);
  const rows: PeriodRow[] = sli.periods
    .map((period, at) => ({ period, cell: cells[at] }))
    .reverse();
  const columns = useMemo(() => columnsOf(slo, zone), [slo, zone]);
  if (cells.length === 0)
    return (
      <Empty icon="bars" title={texts.notInSla}>
        {texts.notInSlaNote}
      </Empty>
    );
  return (
    <VirtualTable
      label={texts.periodsOf(name)}
      columns={columns}
      count={rows.length}
      rowAt={(at) => rows[at]}
      idOf={(row) => String(row.period.period_from)}
    />
  );
}
