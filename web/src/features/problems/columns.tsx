import { Link } from "@tanstack/react-router";
import { maySilence } from "~/api/maintenance";
import type { ProblemRow } from "~/api/problems";
import { mayRunScripts, scriptsColumn } from "~/shared/scripts/button";
import { SilencedMark } from "~/shared/silence";
import { IconButton } from "~/ui/button";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { ResolvedBadge, SeverityBadge, SeverityMark } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { formatValue } from "~/util/format";
import { useNow } from "~/util/hooks";
import { severityName } from "~/util/severity";
import type { SilenceTarget } from "~/util/silence";
import type { Tag } from "~/util/tags";
import { formatClock, formatDuration } from "~/util/time";
import { texts } from "./texts";

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
  return <span title={texts.resolvedAt(formatClock(row.r_clock))}>{text}</span>;
}

/** Operational data; without any, the newest values of the trigger's items that have one. */
export function opData(row: ProblemRow): string {
  if (row.opdata) return row.opdata;
  return row.items
    .filter((item) => item.lastclock !== "0")
    .slice(0, 3)
    .map((item) => formatValue(item.lastvalue, item))
    .join(", ");
}

function AckCell({ row }: { row: ProblemRow }) {
  if (!row.acknowledged) return <span className="text-soft">{texts.no}</span>;
  return (
    <span className="inline-flex items-center gap-1 text-good-ink">
      <Icon name="check" size={14} />
      {texts.yes}
    </span>
  );
}

function SilenceButton({ row, onSilence }: { row: ProblemRow; onSilence: RowAction }) {
  if (row.r_clock || row.hosts.length === 0) return null;
  return (
    <IconButton
      small
      icon="mute"
      label={row.suppressed ? texts.extendOrEndSilence : texts.silence}
      onClick={(event) => {
        event.stopPropagation();
        onSilence(row);
      }}
    />
  );
}

type RowAction = (row: ProblemRow) => void;

/** A problem in two lines, for phones. */
function Summary({ row }: { row: ProblemRow }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className={cx("truncate font-medium", row.r_clock > 0 && "text-soft")}>{row.name}</span>
      <span className="flex items-center gap-1.5 truncate text-xs text-soft">
        {row.r_clock > 0 ? (
          <span className="text-good-ink">{texts.resolved}</span>
        ) : (
          <>
            <SeverityMark severity={row.severity} size={12} />
            <span style={{ color: `var(--sev-${row.severity}-ink)` }}>
              {severityName(row.severity)}
            </span>
          </>
        )}
        <span className="tabular">
          <Duration row={row} />
        </span>
        <span className="truncate">{row.hosts.map((host) => host.name).join(", ")}</span>
        {row.acknowledged && <Icon name="check" size={13} className="text-good-ink" />}
        <SilencedMark row={row} />
      </span>
    </span>
  );
}

/** Buttons at the end of a row. */
function buttonColumns(onSilence: RowAction, onScripts: RowAction): Column<ProblemRow>[] {
  const silence: Column<ProblemRow> = {
    id: "silence",
    on: "wide",
    header: <span className="sr-only">{texts.silenceHeader}</span>,
    width: "1.5rem",
    cell: (row) => <SilenceButton row={row} onSilence={onSilence} />,
  };
  return [
    ...(mayRunScripts() ? [scriptsColumn<ProblemRow>((row) => row.name, onScripts)] : []),
    ...(maySilence() ? [silence] : []),
  ];
}

export function problemColumns(
  onTag: (tag: Tag) => void,
  onSilence: RowAction,
  onScripts: RowAction,
): Column<ProblemRow>[] {
  const columns: Column<ProblemRow>[] = [
    {
      id: "summary",
      header: texts.problem,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => <Summary row={row} />,
    },
    {
      id: "severity",
      on: "wide",
      header: texts.severity,
      width: "7.25rem",
      sortable: true,
      cell: (row) => <SeverityCell row={row} />,
    },
    {
      id: "time",
      on: "wide",
      header: texts.time,
      width: "9.75rem",
      sortable: true,
      cell: (row) => (
        <time className="tabular text-soft" dateTime={new Date(row.clock * 1000).toISOString()}>
          {formatClock(row.clock)}
        </time>
      ),
    },
    {
      id: "duration",
      on: "wide",
      header: texts.duration,
      width: "4.5rem",
      cell: (row) => <Duration row={row} />,
    },
    {
      id: "host",
      on: "wide",
      header: texts.host,
      width: "minmax(7rem, 1.2fr)",
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
      on: "wide",
      header: texts.problem,
      width: "minmax(9.5rem, 2fr)",
      cell: (row) => (
        <span className="flex min-w-0 items-center gap-1.5">
          <span
            className={cx(
              "truncate font-medium",
              row.suppressed && "min-w-1/2",
              row.r_clock > 0 && "text-soft",
            )}
            title={row.name}
          >
            {row.name}
          </span>
          <span className="flex min-w-0">
            <SilencedMark row={row} />
          </span>
        </span>
      ),
    },
    {
      id: "opdata",
      on: "wide",
      header: texts.operationalData,
      width: "minmax(5rem, 0.9fr)",
      cell: (row) => (
        <span className="text-soft" title={opData(row)}>
          {opData(row)}
        </span>
      ),
    },
    {
      id: "tags",
      on: "wide",
      header: texts.tags,
      width: "minmax(7rem, 1fr)",
      cell: (row) => <TagList tags={row.tags} max={4} onPick={onTag} />,
    },
    {
      id: "ack",
      on: "wide",
      header: texts.ack,
      width: "3.25rem",
      cell: (row) => <AckCell row={row} />,
    },
  ];
  columns.push(...buttonColumns(onSilence, onScripts));
  return columns;
}

/** What silencing a problem means. */
export function targetOf(row: ProblemRow): SilenceTarget {
  return { hosts: row.hosts, problem: { name: row.name, tags: row.tags } };
}

/** The maintenances that suppress it. */
export function silencesOf(row: ProblemRow): string[] {
  return row.suppressions.map((one) => one.maintenanceid).filter((id) => id !== "0");
}
