import { Link } from "@tanstack/react-router";
import type { ProblemEvent, ServiceNode } from "~/api/services";
import { cellsOf, type SlaSummary, type Sli } from "~/api/slas";
import { SliBars } from "~/shared/sla/bars";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { Dot, SeverityBadge, SeverityMark } from "~/ui/severity";
import type { Column } from "~/ui/table";
import { TagList } from "~/ui/tag";
import { statusName, statusOf } from "~/util/services";
import { toSeverity } from "~/util/severity";
import { sliWords } from "~/util/sla";
import { texts } from "./texts";
import type { TreeRow } from "./tree";

/** Root causes that a row names. */
const CAUSES = 2;

/** A status as a badge; OK is calm, unknown is grey. */
export function StatusMark({ status }: { status: string }) {
  const severity = statusOf(status);
  if (typeof severity === "number") return <SeverityBadge severity={severity} />;
  return (
    <span
      className={cx(
        "inline-flex items-center gap-1.5 text-xs",
        severity === null ? "text-good-ink" : "text-faint",
      )}
    >
      <Dot tone={severity === null ? "good" : "off"} />
      {statusName(status)}
    </span>
  );
}

function Causes({ events }: { events: readonly ProblemEvent[] }) {
  const worst = events.toSorted((a, b) => Number(b.severity) - Number(a.severity));
  return (
    <span className="flex min-w-0 items-center gap-2" title={worst.map((e) => e.name).join("\n")}>
      {worst.slice(0, CAUSES).map((event) => (
        <Link
          key={event.eventid}
          to="/problems"
          search={{ event: event.eventid }}
          onClick={(e) => e.stopPropagation()}
          className="inline-flex min-w-0 items-center gap-1 hover:underline"
        >
          <SeverityMark severity={toSeverity(event.severity)} size={12} />
          <span className="truncate">{event.name}</span>
        </Link>
      ))}
      {events.length > CAUSES && (
        <span className="text-xs text-faint">{texts.more(events.length - CAUSES)}</span>
      )}
    </span>
  );
}

interface NameProps {
  row: TreeRow;
  /** Undefined: the rows are the result of a search. */
  onToggle: ((path: string) => void) | undefined;
  phone?: boolean;
}

function Name({ row, onToggle, phone }: NameProps) {
  const indent = { paddingLeft: `${row.depth * (phone ? 0.75 : 1.25)}rem` };
  if (row.is === "note")
    return (
      <span style={indent} className="block truncate pl-7 text-soft" title={row.text}>
        {row.text}
      </span>
    );
  const { service, path, open } = row;
  const hasChildren = service.children !== "0";
  return (
    <span style={indent} className="flex min-w-0 items-center gap-1">
      {onToggle && hasChildren ? (
        <button
          type="button"
          aria-expanded={open}
          aria-label={open ? texts.collapse(service.name) : texts.expand(service.name)}
          className="flex size-6 shrink-0 items-center justify-center rounded text-soft hover:bg-hover hover:text-ink"
          onClick={(event) => {
            event.stopPropagation();
            onToggle(path);
          }}
        >
          <Icon name={open ? "down" : "right"} size={14} />
        </button>
      ) : (
        onToggle && <span className="size-6 shrink-0" />
      )}
      <Link
        to="/services/$serviceid/edit"
        params={{ serviceid: service.serviceid }}
        onClick={(event) => event.stopPropagation()}
        className="truncate font-medium hover:underline"
        title={service.description || undefined}
      >
        {service.name}
      </Link>
      {hasChildren && <span className="tabular text-xs text-faint">{service.children}</span>}
    </span>
  );
}

/** The indicators of the rows on screen for the chosen agreement. */
export interface ShownSla {
  sla: SlaSummary | undefined;
  sli: Sli | undefined;
  failed: boolean;
  /** Those of other rows are still shown: what is missing is on its way. */
  pending: boolean;
  /** Time zone of the agreement. */
  zone: string | undefined;
}

function SlaCell({ service, shown }: { service: ServiceNode; shown: ShownSla }) {
  const { sla, sli, failed } = shown;
  if (!sla) return null;
  if (!sli) return <span className="text-faint">{failed ? texts.unknown : "…"}</span>;
  const cells = cellsOf(sli, service.serviceid);
  if (cells.length === 0 && shown.pending) return <span className="text-faint">…</span>;
  if (cells.length === 0) return <span className="text-faint">{texts.notCovered}</span>;
  const slo = Number(sla.slo);
  return (
    <span className="flex items-center gap-2">
      <SliBars name={sla.name} slo={slo} zone={shown.zone} periods={sli.periods} cells={cells} />
      <span className="tabular text-xs text-soft">{sliWords(cells.at(-1), slo)}</span>
    </span>
  );
}

export function serviceColumns(
  onToggle: ((path: string) => void) | undefined,
  shown: ShownSla,
): Column<TreeRow>[] {
  const ofService = (cell: (service: ServiceNode) => React.ReactNode) => (row: TreeRow) =>
    row.is === "service" ? cell(row.service) : null;
  return [
    {
      id: "summary",
      header: texts.service,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (row) => (
        <span className="flex min-w-0 flex-col">
          <Name row={row} onToggle={onToggle} phone />
          {row.is === "service" && (
            <span
              style={{ paddingLeft: `${row.depth * 0.75}rem` }}
              className="flex min-w-0 items-center gap-2 text-xs"
            >
              <span className={onToggle && "pl-7"}>
                <StatusMark status={row.service.status} />
              </span>
              <Causes events={row.service.problem_events} />
            </span>
          )}
        </span>
      ),
    },
    {
      id: "name",
      header: texts.service,
      width: "minmax(14rem, 2fr)",
      on: "wide",
      cell: (row) => <Name row={row} onToggle={onToggle} />,
    },
    {
      id: "status",
      header: texts.status,
      width: "8rem",
      on: "wide",
      cell: ofService((service) => <StatusMark status={service.status} />),
    },
    {
      id: "cause",
      header: texts.rootCause,
      width: "minmax(10rem, 2fr)",
      on: "wide",
      cell: ofService((service) => <Causes events={service.problem_events} />),
    },
    {
      id: "tags",
      header: texts.tags,
      width: "minmax(7rem, 1fr)",
      on: "wide",
      cell: ofService((service) => <TagList tags={service.tags} max={4} />),
    },
    {
      id: "sla",
      header: shown.sla ? shown.sla.name : texts.sla,
      width: "11rem",
      on: "wide",
      cell: ofService((service) => <SlaCell service={service} shown={shown} />),
    },
  ];
}
