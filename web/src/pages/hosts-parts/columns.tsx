import { Link } from "@tanstack/react-router";
import type { HostRow } from "~/api/hosts";
import { type Maintenance, maySilence } from "~/api/maintenance";
import type { HostState } from "~/api/triggers";
import { Availability } from "~/parts/availability";
import { HostMark } from "~/parts/silence";
import { IconButton } from "~/ui/button";
import { Dot, SeverityMark } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { formatCount } from "~/util/format";
import { severityName } from "~/util/severity";
import type { Tag } from "~/util/tags";

function ProblemCell({ state }: { state: HostState | undefined }) {
  if (!state) return <span className="text-faint">None</span>;
  return (
    <Link
      to="/problems"
      search={{ host: state.hostid }}
      onClick={(event) => event.stopPropagation()}
      className="inline-flex items-center gap-1.5 font-medium hover:underline"
      style={{ color: `var(--sev-${state.severity}-ink)` }}
      title={`Worst: ${severityName(state.severity)}`}
    >
      <SeverityMark severity={state.severity} size={12} />
      {state.problems} {severityName(state.severity).toLowerCase()}
    </Link>
  );
}

export function hostColumns(
  states: Map<string, HostState>,
  maintenances: ReadonlyMap<string, Maintenance>,
  onTag: (tag: Tag) => void,
  onSilence: (row: HostRow) => void,
): Column<HostRow>[] {
  const columns: Column<HostRow>[] = [
    {
      id: "name",
      header: "Host",
      width: "minmax(8rem, 1.5fr)",
      sortable: true,
      cell: (row) => (
        <span className="flex items-center gap-2">
          <Dot tone={row.status === "1" ? "off" : states.has(row.hostid) ? "bad" : "good"} />
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
      ),
    },
    {
      id: "availability",
      on: "wide",
      header: "Availability",
      width: "10.5rem",
      cell: (row) => <Availability interfaces={row.interfaces} active={row.active_available} />,
    },
    {
      id: "problems",
      header: "Problems",
      width: "8.5rem",
      cell: (row) => <ProblemCell state={states.get(row.hostid)} />,
    },
    {
      id: "tags",
      on: "wide",
      header: "Tags",
      width: "minmax(5rem, 1.1fr)",
      cell: (row) => <TagList tags={row.tags} max={4} onPick={onTag} />,
    },
    {
      id: "templates",
      on: "wide",
      header: "Templates",
      width: "minmax(5rem, 1.2fr)",
      cell: (row) => (
        <span className="text-soft" title={row.parentTemplates.map((t) => t.name).join("\n")}>
          {row.parentTemplates.map((t) => t.name).join(", ") || (
            <span className="text-faint">None</span>
          )}
        </span>
      ),
    },
    {
      id: "items",
      on: "wide",
      header: "Items",
      width: "3.5rem",
      align: "right",
      cell: (row) => formatCount(Number(row.items)),
    },
    {
      id: "triggers",
      on: "wide",
      header: "Triggers",
      width: "4rem",
      align: "right",
      cell: (row) => formatCount(Number(row.triggers)),
    },
    {
      id: "status",
      on: "wide",
      header: "Status",
      width: "minmax(8.5rem, 1.3fr)",
      sortable: true,
      cell: (row) =>
        row.status !== "0" ? (
          <span className="text-faint">Not monitored</span>
        ) : row.maintenance_status === "1" ? (
          <HostMark host={row} maintenances={maintenances} />
        ) : (
          <span className="text-soft">Monitored</span>
        ),
    },
  ];
  if (maySilence()) {
    columns.push({
      id: "silence",
      on: "wide",
      header: <span className="sr-only">Silence</span>,
      width: "1.5rem",
      cell: (row) => (
        <IconButton
          small
          icon="mute"
          label={`Silence ${row.name}`}
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
