import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { newestProblemsQuery } from "~/api/problems";
import { QueryError, StaleError } from "~/shared/fallback";
import { Card } from "~/ui/card";
import { Icon } from "~/ui/icon";
import { SeverityBadge } from "~/ui/severity";
import { Empty, SkeletonRows } from "~/ui/state";
import { useNow } from "~/util/hooks";
import { severityName } from "~/util/severity";
import { formatClock, formatDuration } from "~/util/time";
import { texts } from "./texts";

const ROWS = 13;

/** The newest open problems, short. */
export function NewestProblems() {
  const query = useQuery(newestProblemsQuery({ mode: "open", suppressed: false }, ROWS));
  const { data, error } = query;
  const now = useNow();
  return (
    <Card
      title={texts.newestProblems}
      bodyClass="pb-2"
      side={
        <Link to="/problems" className="hover:text-ink">
          {texts.allProblems}
        </Link>
      }
    >
      <StaleError query={query} className="mx-4" />
      {!data ? (
        error ? (
          <QueryError error={error} onRetry={() => void query.refetch()} className="mx-4" />
        ) : (
          <SkeletonRows />
        )
      ) : data.length === 0 ? (
        <Empty icon="check" title={texts.noOpenProblems}>
          {texts.pastProblemsAreIn}
        </Empty>
      ) : (
        <ul>
          {data.map((row) => (
            <li key={row.eventid}>
              <Link
                to="/problems"
                search={{ event: row.eventid }}
                className="grid h-12 grid-cols-[minmax(0,1fr)_4.5rem] items-center sm:h-9 gap-3 px-4 sm:grid-cols-[7.5rem_minmax(0,1fr)_minmax(0,9rem)_1rem_4.5rem] hover:bg-hover"
              >
                <SeverityBadge severity={row.severity} className="w-fit max-sm:hidden" />
                <span className="flex min-w-0 flex-col">
                  <span className="truncate font-medium">{row.name}</span>
                  <span
                    className="truncate text-xs sm:hidden"
                    style={{ color: `var(--sev-${row.severity}-ink)` }}
                  >
                    {severityName(row.severity)}
                    <span className="text-soft"> · {row.hosts[0]?.name}</span>
                  </span>
                </span>
                <span className="truncate text-soft max-sm:hidden">{row.hosts[0]?.name}</span>
                <span className="text-good-ink max-sm:hidden">
                  {row.acknowledged && (
                    <span title={texts.acknowledged}>
                      <Icon name="check" size={14} />
                      <span className="sr-only">{texts.acknowledged}</span>
                    </span>
                  )}
                </span>
                <span
                  className="tabular text-right text-xs text-soft"
                  title={formatClock(row.clock)}
                >
                  {formatDuration(now - row.clock)}
                </span>
              </Link>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
