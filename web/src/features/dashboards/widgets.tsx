import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { FIELD_TYPE, fieldOf, objectsOf, type Widget } from "~/api/dashboards";
import { graphsQuery } from "~/api/graphs";
import { itemsQuery } from "~/api/items";
import { mapQuery } from "~/api/maps";
import {
  newestProblemsQuery,
  type ProblemFilter,
  type ProblemRow,
  problemCountQuery,
} from "~/api/problems";
import { MapView } from "~/features/maps";
import { Found } from "~/shared/fallback";
import { GraphPanel } from "~/shared/graph-panel";
import { LastValue } from "~/shared/value";
import { SeverityBadge } from "~/ui/severity";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { SEVERITIES, type Severity } from "~/util/severity";
import { DEFAULT_RANGE, formatClock, resolveRange } from "~/util/time";
import { notApplied, problemFilter } from "./problem-filter";
import { texts } from "./texts";

interface Props {
  widget: Widget;
}

interface OfHost extends Props {
  /** The host on whose page the widget is; undefined: it is on a dashboard of users. */
  hostid?: string;
}

/** A sentence in place of what a widget would show. */
function Note({ children }: { children: string }) {
  return <p className="p-3 text-sm text-soft">{children}</p>;
}

/** A widget of problems, with the settings that it lacks. */
function Filtered({ widget, hostid, children }: OfHost & { children: ReactNode }) {
  const names = notApplied(widget, hostid);
  return (
    <>
      {names.length > 0 && <Note>{texts.notApplied(names)}</Note>}
      {children}
    </>
  );
}

function Problems({ widget, hostid }: OfHost) {
  const lines = Number(fieldOf(widget, "show_lines")) || 25;
  const query = useQuery(newestProblemsQuery(problemFilter(widget, hostid), lines));
  return (
    <Found query={query} gone={null}>
      {(rows) =>
        rows.length > 0 ? <ProblemList rows={rows} /> : <Note>{texts.noMatchingProblems}</Note>
      }
    </Found>
  );
}

function ProblemList({ rows }: { rows: readonly ProblemRow[] }) {
  return (
    <ul>
      {rows.map((row) => (
        <li key={row.eventid}>
          <Link
            to="/problems"
            search={{ event: row.eventid }}
            className="flex items-center gap-2 px-3 py-1.5 hover:bg-hover"
          >
            <SeverityBadge severity={row.severity} className="shrink-0" />
            <span className="truncate">{row.name}</span>
            {row.r_clock > 0 && (
              <span className="shrink-0 text-xs text-good-ink">{texts.resolved}</span>
            )}
            <span className="ml-auto truncate text-xs text-soft">{row.hosts[0]?.name}</span>
          </Link>
        </li>
      ))}
    </ul>
  );
}

function SeverityCount({ filter, severity }: { filter: ProblemFilter; severity: Severity }) {
  const { data } = useQuery(problemCountQuery({ ...filter, severities: [severity] }));
  return (
    <li className="flex items-center gap-2 px-3 py-1">
      <SeverityBadge severity={severity} />
      <span className="tabular ml-auto font-semibold">
        {data === undefined ? "–" : formatCount(data)}
      </span>
    </li>
  );
}

function ProblemsBySeverity({ widget, hostid }: OfHost) {
  const filter = problemFilter(widget, hostid);
  const chosen = filter.severities ?? [];
  const shown = SEVERITIES.filter((one) => chosen.length === 0 || chosen.includes(one));
  return (
    <ul>
      {shown.map((severity) => (
        <SeverityCount key={severity} filter={filter} severity={severity} />
      ))}
    </ul>
  );
}

function ItemOf({ widget }: Props) {
  const ids = objectsOf(widget, FIELD_TYPE.item).slice(0, 1);
  const query = useQuery(itemsQuery(ids));
  if (ids.length === 0) return <Note>{texts.noItems}</Note>;
  return (
    <Found query={query} gone={null}>
      {([item]) =>
        item ? (
          <Link to="/graph" search={{ items: item.itemid }} className="block p-3 hover:underline">
            <span className="block truncate text-xs text-soft">
              {item.hosts[0]?.name}: {item.name}
            </span>
            <span className="tabular text-xl font-semibold">
              <LastValue item={item} />
            </span>
          </Link>
        ) : (
          <Note>{texts.notVisible}</Note>
        )
      }
    </Found>
  );
}

function Chart({ widget, itemids }: Props & { itemids: string[] }) {
  const query = useQuery(itemsQuery(itemids));
  const [from, to] = [fieldOf(widget, "time_period.from"), fieldOf(widget, "time_period.to")];
  const own = { from, to: to || "now" };
  const range = resolveRange(own) ? own : DEFAULT_RANGE;
  if (itemids.length === 0) return <Note>{texts.noItems}</Note>;
  return (
    <Found query={query} gone={null}>
      {(items) =>
        items.length > 0 ? (
          <GraphPanel
            label={widget.name || items.map((item) => item.name).join(", ")}
            items={items}
            range={range}
            height={150}
            withHost
          />
        ) : (
          <Note>{texts.notVisible}</Note>
        )
      }
    </Found>
  );
}

function ClassicGraph({ widget }: Props) {
  const ids = objectsOf(widget, FIELD_TYPE.graph).slice(0, 1);
  const query = useQuery(graphsQuery(ids));
  if (ids.length === 0) {
    return <Chart widget={widget} itemids={objectsOf(widget, FIELD_TYPE.item).slice(0, 1)} />;
  }
  return (
    <Found query={query} gone={null}>
      {([graph]) =>
        graph ? (
          <Chart widget={widget} itemids={graph.gitems.map((item) => item.itemid)} />
        ) : (
          <Note>{texts.notVisible}</Note>
        )
      }
    </Found>
  );
}

function Clock() {
  const now = useNow();
  return <p className="tabular p-3 text-xl font-semibold">{formatClock(now)}</p>;
}

function Address({ widget }: Props) {
  const url = fieldOf(widget, "url");
  if (!/^https?:\/\//i.test(url)) return <Note>{texts.noUrl}</Note>;
  return (
    <a
      href={url}
      target="_blank"
      rel="noopener noreferrer"
      className="block truncate p-3 underline"
      aria-label={`${texts.openUrl}: ${url}`}
    >
      {url}
    </a>
  );
}

function MapOf({ widget }: Props) {
  const id = objectsOf(widget, FIELD_TYPE.map)[0] ?? "";
  const query = useQuery({ ...mapQuery(id), enabled: id !== "" });
  if (id === "") return <Note>{texts.notVisible}</Note>;
  return (
    <Found query={query} gone={<Note>{texts.notVisible}</Note>}>
      {(map) => <MapView key={map.sysmapid} map={map} />}
    </Found>
  );
}

/** What a widget shows. Types that this page does not draw say so. */
export function WidgetBody({ widget, hostid }: OfHost) {
  switch (widget.type) {
    case "problems":
      return (
        <Filtered widget={widget} hostid={hostid}>
          <Problems widget={widget} hostid={hostid} />
        </Filtered>
      );
    case "problemsbysv":
      return (
        <Filtered widget={widget} hostid={hostid}>
          <ProblemsBySeverity widget={widget} hostid={hostid} />
        </Filtered>
      );
    case "item":
      return <ItemOf widget={widget} />;
    case "graph":
      return <ClassicGraph widget={widget} />;
    case "clock":
      return <Clock />;
    case "url":
      return <Address widget={widget} />;
    case "map":
      return <MapOf widget={widget} />;
    default:
      return <Note>{texts.notDrawn(widget.type)}</Note>;
  }
}
