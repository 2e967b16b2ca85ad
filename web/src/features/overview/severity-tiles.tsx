import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import { severityCountsQuery } from "~/api/problems";
import { QueryError, StaleError } from "~/shared/fallback";
import { SeverityMark } from "~/ui/severity";
import { formatCount } from "~/util/format";
import { SEVERITIES, severityName } from "~/util/severity";
import { texts } from "./texts";

/** Open problems by severity; each tile leads to its problems. */
export function SeverityTiles() {
  const query = useQuery(severityCountsQuery());
  const { data, error } = query;
  if (error && !data) return <QueryError error={error} onRetry={() => void query.refetch()} />;
  return (
    <>
      <StaleError query={query} />
      <section
        aria-label={texts.openProblemsBySeverity}
        className="grid grid-cols-3 gap-2 sm:gap-3 lg:grid-cols-6"
      >
        {SEVERITIES.map((severity) => {
          const count = data?.[severity];
          const some = (count ?? 0) > 0;
          return (
            <Link
              key={severity}
              to="/problems"
              search={{ severity: String(severity) }}
              aria-label={`${severityName(severity)} ${count === undefined ? "–" : formatCount(count)}`}
              className="relative flex flex-col overflow-hidden rounded-lg border bg-surface px-4 py-3 shadow-card hover:border-line-strong max-sm:px-3"
              style={
                some
                  ? {
                      backgroundColor: `color-mix(in srgb, var(--sev-${severity}) 9%, var(--surface))`,
                    }
                  : undefined
              }
            >
              <span
                aria-hidden="true"
                className="absolute inset-y-0 left-0 w-1"
                style={{ backgroundColor: some ? `var(--sev-${severity})` : "transparent" }}
              />
              <span className="flex items-center gap-1.5 text-xs text-soft max-sm:gap-1 max-sm:text-2xs">
                <SeverityMark severity={severity} size={12} />
                <span className="truncate">{severityName(severity)}</span>
              </span>{" "}
              <span
                className="tabular text-2xl/8 font-semibold tracking-tight"
                style={{ color: some ? `var(--sev-${severity}-ink)` : "var(--faint)" }}
              >
                {count === undefined ? "–" : formatCount(count)}
              </span>
            </Link>
          );
        })}
      </section>
    </>
  );
}
