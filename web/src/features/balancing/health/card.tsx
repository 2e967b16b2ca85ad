import { useQuery } from "@tanstack/react-query";
import { poolHealthQuery, type ServerHealth } from "~/api/balancing";
import { Card } from "~/ui/card";
import { Dot } from "~/ui/severity";
import { formatAgo, formatClock } from "~/util/time";
import { texts } from "../texts";
import { type Line, linesOf, stateOf } from "./lines";

const COLUMNS =
  "grid gap-x-3 gap-y-0.5 grid-cols-2 sm:grid-cols-[minmax(7rem,1fr)_minmax(6rem,0.8fr)_minmax(10rem,3fr)_8rem_8rem]";

function Ago({ label, clock }: { label: string; clock: number }) {
  return (
    <span className="tabular text-soft" title={clock ? formatClock(clock) : undefined}>
      {label} {clock ? formatAgo(clock) : texts.never}
    </span>
  );
}

function Result({ line }: { line: Line }) {
  return (
    <li className={COLUMNS}>
      <span className="inline-flex min-w-0 items-center gap-1.5">
        <Dot tone={line.tone} />
        <span className="truncate">{line.monitor}</span>
      </span>
      <span className="truncate text-soft">{line.by}</span>
      <span className="max-sm:col-span-2 break-words">
        {line.words}
        {line.reason && `: ${line.reason}`}
      </span>
      {line.checkedAt > 0 && (
        <>
          <Ago label={texts.since} clock={line.changedAt} />
          <Ago label={texts.lastCheck} clock={line.checkedAt} />
        </>
      )}
    </li>
  );
}

function Server({ server }: { server: ServerHealth }) {
  const { tone, words } = stateOf(server.state);
  const lines = linesOf(server);
  return (
    <li className="border-t py-2 first:border-t-0">
      <p className="flex items-center gap-1.5 text-sm font-medium">
        <Dot tone={tone} />
        {server.name}
        <span className="font-normal text-soft">{words}</span>
      </p>
      {lines.length > 0 ? (
        <ul className="mt-1 flex flex-col gap-1 pl-4 text-xs">
          {lines.map((line) => (
            <Result key={line.key} line={line} />
          ))}
        </ul>
      ) : (
        <p className="mt-1 pl-4 text-xs text-soft">
          {server.engines.length > 0 ? texts.noMonitors : texts.healthUnknown}
        </p>
      )}
    </li>
  );
}

/** How engines see the servers of a pool: each monitor with its reason and times. */
export function PoolHealthCard({ id }: { id: string }) {
  const { data } = useQuery(poolHealthQuery(id));
  if (!data) return null;
  return (
    <Card title={texts.health} className="mb-4">
      <ul>
        {data.servers.map((server) => (
          <Server key={server.name} server={server} />
        ))}
      </ul>
    </Card>
  );
}
