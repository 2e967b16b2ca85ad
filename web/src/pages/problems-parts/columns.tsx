import { Link } from "@tanstack/react-router";
import type { ProblemRow } from "~/api/problems";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { ResolvedBadge, SeverityBadge } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { formatValue } from "~/util/format";
import { useNow } from "~/util/hooks";
import type { Tag } from "~/util/tags";
import { formatClock, formatDuration, formatShort } from "~/util/time";

/** New problems draw attention for this long. */
const FRESH_SECONDS = 120;

function SeverityCell({ row }: { row: ProblemRow }) {
  const fresh = useNow() - row.clock < FRESH_SECONDS && row.r_clock === 0 && !row.acknowledged;
  if (row.r_clock) return <ResolvedBadge />;
  return <SeverityBadge severity={row.severity} fresh={fresh} />;
}

function Duration({ row }: { row: ProblemRow }) {
  const now = useNow();
  const end = row.r_clock || now;
  const text = formatDuration(end - row.clock);
  if (!row.r_clock) return <span>{text}</span>;
  return <span title={`Resolved ${formatClock(row.r_clock)}`}>{text}</span>;
}

/** Operational data; where the trigger has none, the newest values of its items. */
export function opData(row: ProblemRow): string {
  if (row.opdata) return row.opdata;
  return row.items
    .slice(0, 3)
    .map((item) => formatValue(item.lastvalue, item))
    .join(", ");
}

function AckCell({ row }: { row: ProblemRow }) {
  if (!row.acknowledged) return <span className="text-faint">No</span>;
  return (
    <span className="inline-flex items-center gap-1 text-good-ink">
      <Icon name="check" size={14} />
      Yes
    </span>
  );
}

export function problemColumns(onTag: (tag: Tag) => void): Column<ProblemRow>[] {
  return [
    {
      id: "severity",
      header: "Severity",
      width: "7.25rem",
      sortable: true,
      cell: (row) => <SeverityCell row={row} />,
    },
    {
      id: "time",
      header: "Time",
      width: "7.5rem",
      sortable: true,
      cell: (row) => (
        <time className="tabular text-soft" title={formatClock(row.clock)}>
          {formatShort(row.clock)}
        </time>
      ),
    },
    { id: "duration", header: "Duration", width: "4.5rem", cell: (row) => <Duration row={row} /> },
    {
      id: "host",
      header: "Host",
      width: "minmax(7rem, 0.8fr)",
      cell: (row) =>
        row.hosts.map((host, i) => (
          <span key={host.hostid}>
            {i > 0 && ", "}
            <Link
              to="/hosts/$hostid"
              params={{ hostid: host.hostid }}
              onClick={(event) => event.stopPropagation()}
              className="hover:underline"
            >
              {host.name}
            </Link>
          </span>
        )),
    },
    {
      id: "problem",
      header: "Problem",
      width: "minmax(11rem, 2fr)",
      cell: (row) => (
        <span className={cx("font-medium", row.r_clock > 0 && "text-soft")} title={row.name}>
          {row.suppressed && <span className="mr-1.5 text-xs text-faint">suppressed</span>}
          {row.name}
        </span>
      ),
    },
    {
      id: "opdata",
      header: "Operational data",
      width: "minmax(6rem, 0.9fr)",
      cell: (row) => (
        <span className="text-soft" title={opData(row)}>
          {opData(row)}
        </span>
      ),
    },
    {
      id: "tags",
      header: "Tags",
      width: "minmax(7rem, 1fr)",
      cell: (row) => <TagList tags={row.tags} max={4} onPick={onTag} />,
    },
    { id: "ack", header: "Ack", width: "3.25rem", cell: (row) => <AckCell row={row} /> },
  ];
}
