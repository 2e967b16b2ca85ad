import type { Transaction } from "~/api/transactions";
import type { Column } from "~/ui/table";
import { formatClock } from "~/util/time";
import { formatMicros, PART_NAMES, PARTS, widths } from "~/util/transactions";
import { texts } from "./texts";

const began = (row: Transaction) => {
  const us = Number(row.began);
  const ms = Math.floor((us % 1_000_000) / 1_000);
  return `${formatClock(Math.floor(us / 1_000_000))}.${String(ms).padStart(3, "0")}`;
};
/** Without the year: records are kept for days or weeks. */
const YEAR = "2000-".length;
/** `status` of a transaction that ended without a response. */
const NO_RESPONSE = "0";
const request = (row: Transaction) =>
  row.method ? `${row.method} ${row.host}${row.path}` : row.service;

function Status({ row }: { row: Transaction }) {
  const tone = row.fault ? "font-medium text-bad-ink" : undefined;
  return (
    <span className={tone} title={row.end}>
      {row.status === NO_RESPONSE ? row.end : row.status} {row.fault}
    </span>
  );
}

/** The four timings of a record one after the other. Bars of a list have the same scale. */
function Timings({ row, full }: { row: Transaction; full: number }) {
  const words = PARTS.map((part) => `${PART_NAMES[part]}: ${formatMicros(Number(row[part]))}`);
  return (
    <span className="flex h-2 w-full overflow-hidden rounded-sm bg-sunken" title={words.join("\n")}>
      {widths(row, full).map(([part, percent]) => (
        <span
          key={part}
          className="h-full min-w-px"
          style={{ width: `${percent}%`, background: `var(--part-${part})` }}
        />
      ))}
    </span>
  );
}

const USER: Column<Transaction> = {
  id: "user",
  header: texts.user,
  width: "minmax(4.5rem, 0.7fr)",
  on: "wide",
  cell: (row) => <span title={row.user}>{row.user}</span>,
};

/** `full`: microseconds of a bar that fills its column. Without users their column would be empty. */
export function transactionColumns(
  full: number,
  hasUsers: boolean,
): readonly Column<Transaction>[] {
  return [
    {
      id: "summary",
      header: texts.request,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          <span className="truncate">{request(row)}</span>
          <span className="flex gap-2 text-xs text-soft">
            <Status row={row} />
            <span>{formatMicros(Number(row.total))}</span>
            <span className="truncate">{began(row)}</span>
            {row.user && <span className="truncate">{row.user}</span>}
          </span>
        </span>
      ),
    },
    {
      id: "began",
      header: texts.time,
      width: "9.5rem",
      on: "wide",
      cell: (row) => (
        <span className="tabular text-soft" title={began(row)}>
          {began(row).slice(YEAR)}
        </span>
      ),
    },
    {
      id: "status",
      header: texts.status,
      width: "6.5rem",
      on: "wide",
      cell: (row) => <Status row={row} />,
    },
    {
      id: "request",
      header: texts.request,
      width: "minmax(9rem, 2.2fr)",
      on: "wide",
      cell: (row) => <span title={request(row)}>{request(row)}</span>,
    },
    {
      id: "service",
      header: texts.service,
      width: "minmax(4.5rem, 0.8fr)",
      on: "wide",
      cell: (row) => <span title={row.service}>{row.service}</span>,
    },
    {
      id: "server",
      header: texts.server,
      width: "minmax(4.5rem, 0.8fr)",
      on: "wide",
      cell: (row) => <span title={`${row.pool} ${row.server}`}>{row.server}</span>,
    },
    {
      id: "client",
      header: texts.client,
      width: "minmax(6.5rem, 0.8fr)",
      on: "wide",
      cell: (row) => <span title={row.client}>{row.client}</span>,
    },
    ...(hasUsers ? [USER] : []),
    {
      id: "total",
      header: texts.total,
      width: "4.5rem",
      align: "right",
      on: "wide",
      cell: (row) => <span className="tabular">{formatMicros(Number(row.total))}</span>,
    },
    {
      id: "timings",
      header: texts.timingsScale(formatMicros(full)),
      width: "minmax(8rem, 1.6fr)",
      on: "wide",
      cell: (row) => <Timings row={row} full={full} />,
    },
  ];
}
