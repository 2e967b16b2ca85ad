import { Link } from "@tanstack/react-router";
import {
  newestProblemsQuery,
  type ProblemFilter,
  type ProblemRow,
  problemCountQuery,
} from "~/api/problems";
import { problemGroupsQuery } from "~/api/widget-problems";
import { EVENTS_MAX, topTriggersQuery } from "~/api/widget-triggers";
import { Found } from "~/shared/fallback";
import { SeverityBadge, SeverityMark } from "~/ui/severity";
import { formatCount } from "~/util/format";
import { SEVERITIES, type Severity, severityName, toSeverity } from "~/util/severity";
import { groupsFor, hostsFor, rangeFor, useBus } from "./bus";
import { Note, useData, type WidgetProps } from "./frame";
import { HostLink } from "./host-link";
import { problemFilter } from "./problem-filter";
import { Settings } from "./settings";
import { SmallTable } from "./small-table";
import { texts } from "./texts";

/** The problems of a widget: its settings, and what it hears of others. */
function useFilter(widget: WidgetProps["widget"]): ProblemFilter {
  const bus = useBus();
  const filter = problemFilter(widget, bus.pageHost);
  if (bus.pageHost !== undefined) return filter;
  return { ...filter, hostids: [...hostsFor(bus, widget)], groupids: [...groupsFor(bus, widget)] };
}

/** *Problems*: the newest problems. */
export function Problems({ widget }: WidgetProps) {
  const lines = Settings.of(widget).number("show_lines", 25);
  const query = useData(newestProblemsQuery(useFilter(widget), lines));
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

const severitiesOf = (chosen: readonly number[]): Severity[] =>
  SEVERITIES.filter((one) => chosen.length === 0 || chosen.includes(one));

function SeverityCount({ filter, severity }: { filter: ProblemFilter; severity: Severity }) {
  const { data } = useData(problemCountQuery({ ...filter, severities: [severity] }));
  return (
    <li className="flex items-center gap-2 px-3 py-1">
      <SeverityBadge severity={severity} />
      <span className="tabular ml-auto font-semibold">
        {data === undefined ? "–" : formatCount(data)}
      </span>
    </li>
  );
}

/** *Problems by severity*: numbers of open problems. */
export function ProblemsBySeverity({ widget }: WidgetProps) {
  const filter = useFilter(widget);
  const shown = severitiesOf(filter.severities ?? []);
  return (
    <ul>
      {shown.map((severity) => (
        <SeverityCount key={severity} filter={filter} severity={severity} />
      ))}
    </ul>
  );
}

/** *Problem hosts*: hosts with and without problems by host group. */
export function ProblemHosts({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData(
    problemGroupsQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
    }),
  );
  const shown = severitiesOf(settings.list("severities").map(Number));
  return (
    <Found query={query} gone={null}>
      {({ groups, complete }) => {
        const withProblems = (counts: readonly number[]) =>
          shown.reduce((sum: number, severity) => sum + (counts[severity] ?? 0), 0);
        const rows = settings.flag("hide_empty_groups")
          ? groups.filter(({ worst }) => withProblems(worst) > 0)
          : groups;
        if (rows.length === 0) return <Note>{texts.noHostsFound}</Note>;
        return (
          <>
            {!complete && <Note>{texts.notAllHosts}</Note>}
            <SmallTable
              label={widget.name || texts.hostGroup}
              head={[
                texts.hostGroup,
                texts.withoutProblems,
                texts.withProblems,
                ...shown.map((severity) => (
                  <span key={severity} className="inline-flex items-center gap-1">
                    <SeverityMark severity={severity} />
                    {severityName(severity)}
                  </span>
                )),
                texts.unknown,
              ]}
              numbersFrom={1}
              rows={rows.map(({ groupid, name, worst, well, unknown }) => ({
                id: groupid,
                cells: [
                  <Link
                    key="group"
                    to="/hosts"
                    search={{ group: groupid }}
                    className="hover:underline"
                  >
                    {name}
                  </Link>,
                  formatCount(well),
                  <span key="bad" className="font-medium">
                    {formatCount(withProblems(worst))}
                  </span>,
                  ...shown.map((severity) => formatCount(worst[severity] ?? 0)),
                  formatCount(unknown),
                ],
              }))}
            />
          </>
        );
      }}
    </Found>
  );
}

/** *Top triggers*: triggers by the number of their problems. */
export function TopTriggers({ widget }: WidgetProps) {
  const { signals } = useBus();
  const lines = Settings.of(widget).number("show_lines", 10);
  const query = useData(topTriggersQuery(useFilter(widget), rangeFor(signals, widget), lines));
  return (
    <Found query={query} gone={null}>
      {({ triggers, complete }) =>
        triggers.length === 0 ? (
          <Note>{texts.noMatchingProblems}</Note>
        ) : (
          <>
            {!complete && <Note>{texts.onlyNewest(EVENTS_MAX)}</Note>}
            <SmallTable
              label={widget.name || texts.trigger}
              head={[texts.host, texts.trigger, texts.severity, texts.problemCount]}
              numbersFrom={3}
              rows={triggers.map((trigger) => ({
                id: trigger.triggerid,
                cells: [
                  trigger.hosts[0] ? <HostLink key="host" {...trigger.hosts[0]} /> : texts.unknown,
                  <Link
                    key="name"
                    to="/triggers/$triggerid/edit"
                    params={{ triggerid: trigger.triggerid }}
                    className="hover:underline"
                  >
                    {trigger.description}
                  </Link>,
                  <SeverityBadge key="severity" severity={toSeverity(trigger.priority)} />,
                  formatCount(trigger.problems),
                ],
              }))}
            />
          </>
        )
      }
    </Found>
  );
}
