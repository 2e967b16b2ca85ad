import { useQuery } from "@tanstack/react-query";
import { capacityQuery } from "~/api/capacity";
import { PlainTable } from "~/shared/config-tables";
import { QueryError, StaleError } from "~/shared/fallback";
import { Page } from "~/shared/page";
import { Card, Stat } from "~/ui/card";
import { Sentence } from "~/ui/sentence";
import { ShareBar } from "~/ui/share-bar";
import { SkeletonRows } from "~/ui/state";
import {
  byUrgency,
  type Capacity,
  figure,
  fullIn,
  headroom,
  type Measured,
  type Resource,
  sourceText,
  usedPercent,
  wordsOf,
} from "~/util/capacity";
import { formatCount } from "~/util/format";
import { formatClock } from "~/util/time";
import { texts } from "./texts";

const CELL = "px-3 py-2 align-top";

function Row({ resource, first }: { resource: Resource; first: boolean }) {
  const [title, meaning] = wordsOf(resource);
  const percent = usedPercent(resource);
  const until = fullIn(resource);
  return (
    <tr className="border-t hover:bg-hover">
      <td className={CELL}>
        <span className="font-medium">{title}</span>
        {first && <span className="ml-2 text-xs text-soft">{texts.limitsFirst}</span>}
        <span className="block text-xs text-soft">{meaning}</span>
      </td>
      <td className={`${CELL} tabular text-right whitespace-nowrap`}>
        {figure(resource.used, resource)}
      </td>
      <td className={`${CELL}`}>
        <span className="flex h-5 items-center gap-3">
          <span className="grid flex-1">{percent !== null && <ShareBar percent={percent} />}</span>
          <span className="tabular w-14 text-right">
            {percent === null ? "–" : `${percent.toFixed(1)} %`}
          </span>
        </span>
      </td>
      <td className={`${CELL} tabular text-right whitespace-nowrap`}>
        {resource.limit === null ? "–" : figure(resource.limit, resource)}
        <span className="block text-xs text-faint">{sourceText(resource)}</span>
      </td>
      <td className={`${CELL} tabular text-right whitespace-nowrap`}>
        {headroom(resource)}
        {until && <span className="block text-xs text-soft">{texts.fullIn(until)}</span>}
      </td>
    </tr>
  );
}

function Summary({ capacity }: { capacity: Capacity }) {
  const first = capacity.resources.find(({ name }) => name === capacity.first);
  const disk = capacity.resources.find(({ name }) => name === "disk");
  const until = disk && fullIn(disk);
  return (
    <div className="grid grid-cols-1 gap-3 sm:grid-cols-3">
      <Stat
        label={texts.firstLimitReached}
        value={first ? wordsOf(first)[0] : "Unknown"}
        note={first && `${headroom(first)} the current load`}
      />
      <Stat
        label={texts.diskFull}
        value={until ?? (disk?.growth == null ? "Unknown for the first hour" : "Not within a year")}
        note="at the growth rate of the last day"
      />
      <Stat
        label={texts.cores}
        value={formatCount(capacity.cores)}
        note="one shard of the server on each"
      />
    </div>
  );
}

const COMMAND = "vedette bench capacity";

function MeasuredCard({ measured }: { measured: Measured | null }) {
  if (!measured) {
    return (
      <Card title={texts.measuredLimits}>
        <p className="text-soft">
          <Sentence
            text={texts.theLimitsOfThis}
            places={{
              command: (
                <code className="rounded bg-sunken px-1 py-0.5 font-mono text-xs">{COMMAND}</code>
              ),
              data: <code className="font-mono text-xs">{texts.data}</code>,
            }}
          />
        </p>
      </Card>
    );
  }
  const rows: readonly (readonly [string, number, number, string])[] = [
    ["Values from senders to history", measured.values_per_s, measured.values_cpu_s, "values"],
    ["Passive checks", measured.checks_per_s, measured.checks_cpu_s, "checks"],
  ];
  return (
    <Card title={texts.measuredLimits}>
      <ul className="grid gap-2">
        {rows.map(([title, rate, cpu, what]) => (
          <li key={title} className="flex flex-wrap items-baseline gap-x-3">
            <span className="w-64 text-soft">{title}</span>
            <span className="tabular font-semibold">{formatCount(Math.round(rate))}/s</span>
            <span className="tabular text-xs text-soft">
              {texts.cpuSecondsPerMillion(cpu.toFixed(2), what)}
            </span>
          </li>
        ))}
      </ul>
      <p className="mt-3 text-xs text-faint">
        {texts.measuredWith(
          measured.version,
          formatCount(measured.cores),
          formatClock(measured.at),
          COMMAND,
        )}
      </p>
    </Card>
  );
}

/** Present load against the limits of this machine, and what comes to an end first. */
export function CapacityPage() {
  const query = useQuery(capacityQuery());
  const { data, error } = query;
  return (
    <Page title={texts.capacity} scroll>
      <StaleError query={query} className="mb-2" />
      {error && !data ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : !data ? (
        <SkeletonRows rows={10} />
      ) : (
        <div className="flex flex-col gap-4">
          <Summary capacity={data} />
          <PlainTable<Resource>
            query={{ ...query, data: byUrgency(data.resources), error: null }}
            head={[
              ["Resource", ""],
              ["Now", "w-28 text-right"],
              ["Used", "w-56"],
              ["Limit", "w-56 text-right"],
              ["Headroom", "w-32 text-right"],
            ]}
            empty={null}
            row={(resource) => (
              <Row key={resource.name} resource={resource} first={resource.name === data.first} />
            )}
          />
          <MeasuredCard measured={data.measured} />
        </div>
      )}
    </Page>
  );
}
