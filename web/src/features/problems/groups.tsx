import { useQuery } from "@tanstack/react-query";
import { useMemo } from "react";
import { type Grouping, type ProblemGroup, problemGroupsQuery } from "~/api/problems";
import { QueryError, StaleError } from "~/shared/fallback";
import { Count, Page, Sheet } from "~/shared/page";
import { SeverityMark } from "~/ui/severity";
import { SkeletonRows } from "~/ui/state";
import { type Column, VirtualTable } from "~/ui/table";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { SEVERITIES, severityName } from "~/util/severity";
import { formatClock, formatDuration } from "~/util/time";
import { insideGroup, NO_FILTERS, type ProblemSearch, toFilter } from "./filter";
import { FilterBar } from "./filter-bar";
import { NoProblems } from "./no-problems";
import { texts } from "./texts";

/** Numbers of problems by severity, the gravest first; severities without problems are left out. */
function Severities({ group }: { group: ProblemGroup }) {
  const present = SEVERITIES.filter((severity) => (group.severities[severity] ?? 0) > 0);
  return (
    <span className="flex gap-2.5 overflow-hidden">
      {present.map((severity) => (
        <span
          key={severity}
          title={severityName(severity)}
          className="tabular inline-flex items-center gap-1 text-xs font-medium"
          style={{ color: `var(--sev-${severity}-ink)` }}
        >
          <SeverityMark severity={severity} size={12} />
          {formatCount(group.severities[severity] ?? 0)}
          <span className="sr-only">{severityName(severity)}</span>
        </span>
      ))}
    </span>
  );
}

function Age({ clock }: { clock: number }) {
  const now = useNow();
  return <span title={formatClock(clock)}>{formatDuration(Math.max(0, now - clock))}</span>;
}

function Newest({ clock }: { clock: number }) {
  const now = useNow();
  const age = formatDuration(Math.max(0, now - clock));
  return <span title={formatClock(clock)}>{texts.ago(age)}</span>;
}

const nameOf = (group: ProblemGroup, grouping: Grouping) =>
  grouping.groupBy === "tag" && !group.key ? texts.withoutTag : group.name;

/** A group in two lines, for phones. */
function Summary({ group, name }: { group: ProblemGroup; name: string }) {
  return (
    <span className="flex min-w-0 flex-col">
      <span className="truncate font-medium">{name}</span>
      <Severities group={group} />
    </span>
  );
}

function headerOf(grouping: Grouping): string {
  switch (grouping.groupBy) {
    case "host":
      return texts.host;
    case "group":
      return texts.hostGroup;
    case "name":
      return texts.problem;
    case "tag":
      return texts.tagOf(grouping.groupTag);
  }
}

function groupColumns(grouping: Grouping): Column<ProblemGroup>[] {
  const wide = { on: "wide" } as const;
  const header = headerOf(grouping);
  const name = (group: ProblemGroup) => nameOf(group, grouping);
  const number = { ...wide, align: "right" } as const;
  return [
    {
      id: "summary",
      on: "narrow",
      header,
      width: "1fr",
      cell: (group) => <Summary group={group} name={name(group)} />,
    },
    {
      id: "name",
      ...wide,
      header,
      width: "minmax(12rem, 2fr)",
      cell: (group) => <span className="truncate font-medium">{name(group)}</span>,
    },
    {
      id: "severities",
      ...wide,
      header: texts.severity,
      width: "minmax(10rem, 1fr)",
      cell: (group) => <Severities group={group} />,
    },
    {
      id: "count",
      header: texts.problems,
      width: "6rem",
      align: "right",
      cell: (group) => formatCount(group.count),
    },
    {
      id: "unacknowledged",
      ...number,
      header: texts.unacknowledged,
      width: "8.5rem",
      cell: (group) => formatCount(group.unacknowledged),
    },
    {
      id: "oldest",
      ...number,
      header: texts.oldest,
      width: "7rem",
      cell: (group) => <Age clock={group.first} />,
    },
    {
      id: "newest",
      ...number,
      header: texts.newest,
      width: "8rem",
      cell: (group) => <Newest clock={group.last} />,
    },
  ];
}

interface GroupsProps {
  search: ProblemSearch;
  grouping: Grouping;
  onChange: (next: Partial<ProblemSearch>) => void;
}

/** Open problems by what they have in common, the worst group first. A group opens its problems. */
export function ProblemGroups({ search, grouping, onChange }: GroupsProps) {
  const key = JSON.stringify([search, grouping]);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the key stands for both
  const [filter, columns] = useMemo(() => [toFilter(search), groupColumns(grouping)], [key]);
  const query = useQuery(problemGroupsQuery(filter, grouping));
  const groups = query.data?.groups ?? [];
  const total = query.data?.total ?? 0;
  return (
    <Page
      title={texts.problems}
      heading={
        <>
          {texts.problems}
          {query.data && <Count>{texts.inGroups(total)}</Count>}
        </>
      }
      filters
      bar={<FilterBar search={search} onChange={onChange} />}
    >
      {query.error && !query.data ? (
        <QueryError error={query.error} onRetry={() => void query.refetch()} />
      ) : (
        <div className="relative flex min-h-0 flex-1 flex-col">
          <StaleError query={query} className="mb-2" />
          {total > groups.length && (
            <p className="mb-2 text-sm text-soft">{texts.worstGroups(groups.length, total)}</p>
          )}
          <Sheet>
            {query.data ? (
              <VirtualTable
                label={texts.groupedProblems}
                columns={columns}
                count={groups.length}
                rowAt={(index) => groups[index]}
                idOf={(group) => group.key}
                onOpen={(group) => onChange(insideGroup(grouping, group.key, search.tags))}
                empty={<NoProblems search={search} onClear={() => onChange(NO_FILTERS)} />}
              />
            ) : (
              <SkeletonRows rows={12} />
            )}
          </Sheet>
        </div>
      )}
    </Page>
  );
}
