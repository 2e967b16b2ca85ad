import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { type HostSummary, hostStatesQuery, hostSummaryQuery } from "~/api/host-states";
import { hostSearchQuery } from "~/api/hosts";
import { together } from "~/api/windows";
import { type Cell, Honeycomb } from "~/charts/honeycomb";
import { QueryError, StaleError } from "~/shared/fallback";
import { buttonClass } from "~/ui/button";
import { Card } from "~/ui/card";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatCount } from "~/util/format";
import { useWidth } from "~/util/hooks";
import { countsInWords, stateInWords, worstOf } from "~/util/host-state";
import { texts } from "./texts";

const CELLS_MAX = 240;

/** A honeycomb of the hosts, the worst first. */
export function HostStates() {
  const summary = useQuery(hostSummaryQuery(CELLS_MAX));
  const hosts = useQuery(hostSearchQuery("", CELLS_MAX));
  const worst = summary.data?.worst;
  // The worst hosts first; where there is room, others by name.
  const others = useMemo(() => {
    const known = new Set(worst?.map((host) => host.hostid));
    const room = CELLS_MAX - known.size;
    return (hosts.data ?? []).filter((host) => !known.has(host.hostid)).slice(0, room);
  }, [worst, hosts.data]);
  const states = useQuery(hostStatesQuery(others.map((host) => host.hostid)));
  const navigate = useNavigate();
  const [ref, width] = useWidth<HTMLDivElement>();
  const cells = useMemo(() => {
    const list: Cell[] = (worst ?? []).map(({ hostid, name, problems }) => ({
      id: hostid,
      name,
      severity: worstOf(problems),
      known: true,
      words: countsInWords(problems),
    }));
    for (const host of others) {
      const state = states.data?.get(host.hostid);
      list.push({
        id: host.hostid,
        name: host.name,
        severity: state ? worstOf(state.problems) : null,
        known: state?.data ?? false,
        words: stateInWords(state, true),
      });
    }
    return list;
  }, [worst, others, states.data]);
  const open = useCallback(
    (hostid: string) => void navigate({ to: "/hosts/$hostid", params: { hostid } }),
    [navigate],
  );
  const query = together(summary, hosts);
  const { error } = query;
  const total = summary.data;
  return (
    <Card title={texts.hosts} side={total && total.hosts > 0 && formatCount(total.hosts)}>
      <StaleError query={query} className="mb-2" />
      {total && total.hosts > 0 && <Numbers total={total} />}
      <div ref={ref}>
        {error && !(total && hosts.data) ? (
          <QueryError error={error} onRetry={() => void query.refetch()} />
        ) : !total || !hosts.data ? (
          <SkeletonRows rows={4} />
        ) : cells.length === 0 ? (
          <Empty
            icon="hosts"
            title={texts.noHostsYet}
            action={
              <Link to="/hosts/new" className={buttonClass("primary")}>
                {texts.createHost}
              </Link>
            }
          >
            {texts.createAHostOr}
          </Empty>
        ) : (
          width > 0 && (
            <>
              <Honeycomb cells={cells} width={width} onOpen={open} />
              {total.hosts > cells.length && (
                <p className="pt-2 text-2xs text-faint">
                  {texts.ofHostsShownHighest(formatCount(cells.length), formatCount(total.hosts))}
                </p>
              )}
            </>
          )
        )}
      </div>
    </Card>
  );
}

/** How many hosts are in which state. */
function Numbers({ total }: { total: HostSummary }) {
  const numbers: [label: string, count: number, color: string][] = [
    ["with problems", total.problems, "var(--sev-4)"],
    ["OK", total.ok, "var(--good)"],
    ["without data", total.unknown, "var(--faint)"],
    ["not monitored", total.disabled, "var(--line-strong)"],
  ];
  return (
    <ul className="flex flex-wrap gap-x-4 gap-y-1 pb-3 text-xs text-soft">
      {numbers
        .filter(([, count]) => count > 0)
        .map(([label, count, color]) => (
          <li key={label} className="flex items-center gap-1.5">
            <span
              aria-hidden="true"
              className="size-2 rounded-full"
              style={{ backgroundColor: color }}
            />
            <span>
              <span className="tabular font-semibold text-ink">{formatCount(count)}</span> {label}
            </span>
          </li>
        ))}
    </ul>
  );
}
