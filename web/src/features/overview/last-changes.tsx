import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { lastChangesQuery } from "~/api/events";
import { QueryError, StaleError } from "~/shared/fallback";
import { Ago } from "~/shared/value";
import { Card } from "~/ui/card";
import { SeverityMark } from "~/ui/severity";
import { Empty, SkeletonRows } from "~/ui/state";
import { toSeverity } from "~/util/severity";
import { texts } from "./texts";

/** The last changes of state: what started and what was resolved. */
export function LastChanges() {
  const query = useQuery(lastChangesQuery(9));
  const { data, error } = query;
  return (
    <Card title={texts.lastChanges} bodyClass="pb-2">
      <StaleError query={query} className="mx-4" />
      {!data ? (
        error ? (
          <QueryError error={error} onRetry={() => void query.refetch()} className="mx-4" />
        ) : (
          <SkeletonRows />
        )
      ) : data.length === 0 ? (
        <Empty icon="clock" title={texts.noChangesYet}>
          {texts.problemsThatStartOr}
        </Empty>
      ) : (
        <ul>
          {data.map((change) => (
            <li key={change.eventid} className="flex h-8 items-center gap-2.5 px-4">
              {change.value === "1" ? (
                <SeverityMark severity={toSeverity(change.severity)} size={13} />
              ) : (
                <span
                  aria-hidden="true"
                  className="mx-[2.5px] size-2 shrink-0 rounded-full bg-good"
                />
              )}
              <span className="min-w-0 flex-1 truncate" title={change.name}>
                {change.value === "1" ? (
                  change.name
                ) : (
                  <span className="text-soft">
                    <span className="text-good-ink">{texts.resolved}</span> {change.name}
                  </span>
                )}
              </span>
              {change.hosts[0] && (
                <Link
                  to="/hosts/$hostid"
                  params={{ hostid: change.hosts[0].hostid }}
                  className="max-w-28 truncate text-xs text-soft hover:text-ink hover:underline"
                >
                  {change.hosts[0].name}
                </Link>
              )}
              <span className="w-18 shrink-0 text-right text-xs text-faint">
                <Ago clock={Number(change.clock)} />
              </span>
            </li>
          ))}
        </ul>
      )}
    </Card>
  );
}
