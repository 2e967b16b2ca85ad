import { useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "@tanstack/react-router";
import { useCallback, useMemo } from "react";
import { hostCountQuery, hostSearchQuery } from "~/api/hosts";
import { hostStatesQuery } from "~/api/triggers";
import { type Cell, Honeycomb } from "~/charts/honeycomb";
import { QueryError } from "~/shell/fallback";
import { buttonClass } from "~/ui/button";
import { Card } from "~/ui/card";
import { Empty, SkeletonRows } from "~/ui/state";
import { plural } from "~/util/format";
import { useWidth } from "~/util/hooks";

const CELLS_MAX = 240;

/** A honeycomb of the hosts, the worst first. */
export function HostStates() {
  const states = useQuery(hostStatesQuery());
  const hosts = useQuery(hostSearchQuery("", CELLS_MAX));
  const { data: total = 0 } = useQuery(hostCountQuery());
  const navigate = useNavigate();
  const [ref, width] = useWidth<HTMLDivElement>();
  const cells = useMemo(() => {
    const list: Cell[] = (states.data ?? []).map((s) => ({ id: s.hostid, ...s }));
    const known = new Set(list.map((cell) => cell.id));
    for (const host of hosts.data ?? []) {
      if (!known.has(host.hostid))
        list.push({ id: host.hostid, name: host.name, severity: null, problems: 0 });
    }
    return list.slice(0, CELLS_MAX);
  }, [states.data, hosts.data]);
  const open = useCallback(
    (hostid: string) => void navigate({ to: "/hosts/$hostid", params: { hostid } }),
    [navigate],
  );
  const bad = states.data?.length ?? 0;
  const error = states.error ?? hosts.error;
  return (
    <Card title="Hosts" side={total > 0 && `${bad} of ${plural(total, "host")} with problems`}>
      <div ref={ref}>
        {error ? (
          <QueryError error={error} />
        ) : !states.data || !hosts.data ? (
          <SkeletonRows rows={4} />
        ) : cells.length === 0 ? (
          <Empty
            icon="hosts"
            title="No hosts yet"
            action={
              <Link to="/hosts/new" className={buttonClass("primary")}>
                Create host
              </Link>
            }
          >
            Create a host, or point an agent here.
          </Empty>
        ) : (
          width > 0 && <Honeycomb cells={cells} width={width} onOpen={open} />
        )}
      </div>
    </Card>
  );
}
