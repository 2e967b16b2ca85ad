import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
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
import { DEFAULT_RANGE, formatClock } from "~/util/time";
import { texts } from "./texts";

interface Props {
  widget: Widget;
}

/** A sentence in place of what a widget would show. */
function Note({ children }: { children: string }) {
  return <p className="p-3 text-sm text-soft">{children}</p>;
}

/** Values of numbered fields as `severities.0`. */
const numbered = (widget: Widget, name: string) =>
  widget.fields.filter((field) => field.name.startsWith(`${name}.`)).map((field) => field.value);

function filterOf(widget: Widget): ProblemFilter {
  return {
    mode: "open",
    groupids: objectsOf(widget, FIELD_TYPE.group),
    hostids: objectsOf(widget, FIELD_TYPE.host),
    severities: numbered(widget, "severities").map(Number),
    text: fieldOf(widget, "problem") || undefined,
    suppressed: fieldOf(widget, "show_suppressed") === "1" ? undefined : false,
  };
}

function Problems({ widget }: Props) {
  const lines = Number(fieldOf(widget, "show_lines")) || 25;
  const query = useQuery(newestProblemsQuery(filterOf(widget), lines));
  return (
    <Found query={query} gone={null}>
      {(rows) =>
        rows.length > 0 ? <ProblemList rows={rows} /> : <Note>{texts.noOpenProblems}</Note>
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

function ProblemsBySeverity({ widget }: Props) {
  const filter = filterOf(widget);
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
  if (itemids.length === 0) return <Note>{texts.noItems}</Note>;
  return (
    <Found query={query} gone={null}>
      {(items) =>
        items.length > 0 ? (
          <GraphPanel
            label={widget.name || items.map((item) => item.name).join(", ")}
            items={items}
            range={DEFAULT_RANGE}
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
export function WidgetBody({ widget }: Props) {
  switch (widget.type) {
    case "problems":
      return <Problems widget={widget} />;
    case "problemsbysv":
      return <ProblemsBySeverity widget={widget} />;
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
