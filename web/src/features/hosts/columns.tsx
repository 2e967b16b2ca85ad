import { Link } from "@tanstack/react-router";
import type { HostRow } from "~/api/hosts";
import { type Maintenance, maySilence } from "~/api/maintenance";
import { Status } from "~/api/schema";
import { Availability } from "~/shared/availability";
import { mayRunScripts, scriptsColumn } from "~/shared/scripts/button";
import { HostMark } from "~/shared/silence";
import { IconButton } from "~/ui/button";
import { Dot, SeverityMark } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { formatCount } from "~/util/format";
import { countsInWords, type HostState, stateInWords, toneOf, worstOf } from "~/util/host-state";
import { SEVERITIES, severityName } from "~/util/severity";
import type { Tag } from "~/util/tags";
import { texts } from "./texts";

/** Open problems, each severity with its own number. */
function ProblemCell({ row, state }: { row: HostRow; state: HostState | undefined }) {
  const worst = state ? worstOf(state.problems) : null;
  if (!state || worst === null) {
    return <span className="text-faint">{stateInWords(state, row.status === Status.Enabled)}</span>;
  }
  const words = countsInWords(state.problems);
  return (
    <Link
      to="/problems"
      search={{ host: row.hostid }}
      onClick={(event) => event.stopPropagation()}
      className="inline-flex items-center gap-2 font-medium hover:underline"
      title={words}
    >
      {SEVERITIES.filter((severity) => (state.problems[severity] ?? 0) > 0).map((severity) => (
        <span
          key={severity}
          className="tabular inline-flex items-center gap-1"
          style={{ color: `var(--sev-${severity}-ink)` }}
        >
          <SeverityMark severity={severity} size={12} />
          {formatCount(state.problems[severity] ?? 0)}
          <span className="sr-only">{severityName(severity).toLowerCase()}</span>
        </span>
      ))}
    </Link>
  );
}

interface CellProps {
  row: HostRow;
  maintenances: ReadonlyMap<string, Maintenance>;
}

/** The host's name with its state, and on phones what silences it. */
function NameCell({ row, state, maintenances }: CellProps & { state: HostState | undefined }) {
  return (
    <span className="flex items-center gap-2">
      <Dot tone={toneOf(state, row.status === Status.Enabled)} />
      <span className="sr-only">{stateInWords(state, row.status === Status.Enabled)}</span>
      <span className="flex min-w-0 flex-1 items-center gap-2 max-sm:flex-col max-sm:items-start max-sm:gap-0.5">
        <Link
          to="/hosts/$hostid"
          params={{ hostid: row.hostid }}
          onClick={(event) => event.stopPropagation()}
          className="max-w-full shrink-0 truncate font-medium hover:underline"
        >
          {row.name}
        </Link>
        {row.host !== row.name && (
          <span className="min-w-0 shrink-[20] truncate text-xs text-faint max-sm:hidden">
            {row.host}
          </span>
        )}
        <span className="flex max-w-full sm:hidden">
          <HostMark host={row} maintenances={maintenances} />
        </span>
      </span>
    </span>
  );
}

function StatusCell({ row, maintenances }: CellProps) {
  if (row.status !== Status.Enabled)
    return <span className="text-faint">{texts.notMonitored}</span>;
  if (row.maintenance_status === "1") return <HostMark host={row} maintenances={maintenances} />;
  return <span className="text-soft">{texts.monitored}</span>;
}

export function hostColumns(
  states: ReadonlyMap<string, HostState>,
  maintenances: ReadonlyMap<string, Maintenance>,
  onTag: (tag: Tag) => void,
  onSilence: (row: HostRow) => void,
  onScripts: (row: HostRow) => void,
): Column<HostRow>[] {
  const columns: Column<HostRow>[] = [
    {
      id: "name",
      header: texts.host,
      width: "minmax(9rem, 2.4fr)",
      sortable: true,
      cell: (row) => (
        <NameCell row={row} state={states.get(row.hostid)} maintenances={maintenances} />
      ),
    },
    {
      id: "availability",
      on: "wide",
      header: texts.availability,
      width: "10.5rem",
      cell: (row) => <Availability interfaces={row.interfaces} active={row.active_available} />,
    },
    {
      id: "problems",
      header: texts.problems,
      width: "12.5rem",
      cell: (row) => <ProblemCell row={row} state={states.get(row.hostid)} />,
    },
    {
      id: "tags",
      on: "wide",
      header: texts.tags,
      width: "minmax(5rem, 1fr)",
      cell: (row) => <TagList tags={row.tags} max={4} onPick={onTag} />,
    },
    {
      id: "templates",
      on: "wide",
      header: texts.templates,
      width: "minmax(5rem, 1fr)",
      cell: (row) => (
        <span className="text-soft" title={row.parentTemplates.map((t) => t.name).join("\n")}>
          {row.parentTemplates.map((t) => t.name).join(", ") || (
            <span className="text-faint">{texts.none}</span>
          )}
        </span>
      ),
    },
    {
      id: "items",
      on: "wide",
      header: texts.items,
      width: "3.5rem",
      align: "right",
      cell: (row) => formatCount(Number(row.items)),
    },
    {
      id: "triggers",
      on: "wide",
      header: texts.triggers,
      width: "4rem",
      align: "right",
      cell: (row) => formatCount(Number(row.triggers)),
    },
    {
      id: "status",
      on: "wide",
      header: texts.status,
      width: "minmax(7.5rem, 0.8fr)",
      sortable: true,
      cell: (row) => <StatusCell row={row} maintenances={maintenances} />,
    },
  ];
  if (mayRunScripts()) columns.push(scriptsColumn((row) => row.name, onScripts));
  if (maySilence()) {
    columns.push({
      id: "silence",
      on: "wide",
      header: <span className="sr-only">{texts.silence}</span>,
      width: "1.5rem",
      cell: (row) => (
        <IconButton
          small
          icon="mute"
          label={texts.silenceOf(row.name)}
          onClick={(event) => {
            event.stopPropagation();
            onSilence(row);
          }}
        />
      ),
    });
  }
  return columns;
}
