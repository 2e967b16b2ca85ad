import { useQuery } from "@tanstack/react-query";
import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { capacityQuery } from "~/api/capacity";
import { selfHostQuery } from "~/api/hosts";
import { hostItemsQuery } from "~/api/items";
import { type ServerFacts, serverFactsQuery, type Totals, totalsQuery } from "~/api/system";
import { together } from "~/api/windows";
import { QueryError, StaleError } from "~/shared/fallback";
import { Page } from "~/shared/page";
import { buttonClass } from "~/ui/button";
import { Card, Stat } from "~/ui/card";
import { cx } from "~/ui/cx";
import { Dot } from "~/ui/severity";
import { SkeletonRows } from "~/ui/state";
import { wordsOf } from "~/util/capacity";
import { formatCount } from "~/util/format";
import { useNow } from "~/util/hooks";
import { formatAgo, formatClock, formatDuration, zoneAt } from "~/util/time";
import { type Figure, figureOf, startOf } from "./figures";
import { texts } from "./texts";

const LINK = "text-accent-ink hover:underline";

/** Why a figure is unknown. */
const gap = ({ clock }: Figure) => (clock > 0 ? texts.lastValue(formatAgo(clock)) : texts.noValue);
const rate = (value: string) =>
  Number(value).toLocaleString("en-US", { maximumFractionDigits: 1 }).replaceAll(",", "\u202f");

/** What the server measures of itself. */
function useFigures() {
  const self = useQuery(selfHostQuery());
  const query = useQuery(hostItemsQuery(self.data?.hostid ?? "", "zabbix["));
  // In steps, so that the page is not drawn each second.
  const now = Math.floor(useNow() / 10) * 10;
  const items = query.data;
  const of = (...keys: string[]) => figureOf(items, keys, now);
  return {
    query: together(self, query),
    isMissing: self.isSuccess && !self.data,
    isReady: self.isSuccess && (!self.data || items !== undefined),
    version: figureOf(items, ["zabbix[version]"], now, true),
    uptime: of("zabbix[uptime]"),
    required: of("zabbix[requiredperformance]"),
    values: of("zabbix[wcache,values]", "zabbix[wcache,values,all]"),
    queue: of("zabbix[queue]"),
    overdue: of("zabbix[queue,10m]"),
    now,
  };
}

/** `isLost`: the last request to the server failed. */
function ServerStats({ facts, isLost }: { facts: ServerFacts; isLost: boolean }) {
  const figures = useFigures();
  const capacity = useQuery(capacityQuery());
  const { version, values, required, overdue, queue } = figures;
  const start = startOf(figures.uptime);
  const first = capacity.data?.resources.find(({ name }) => name === capacity.data.first);
  if (!figures.isReady && !figures.query.error) return <SkeletonRows rows={3} />;
  return (
    <div className="flex flex-col gap-3">
      {figures.query.error && (
        <QueryError error={figures.query.error} onRetry={() => void figures.query.refetch()} />
      )}
      {figures.isMissing && <p className="text-soft">{texts.withoutSelf}</p>}
      <div className="grid grid-cols-1 gap-3 sm:grid-cols-2 lg:grid-cols-5">
        <Stat
          label={texts.server}
          value={
            <span className="inline-flex items-center gap-2">
              <Dot tone={isLost ? "off" : "good"} /> {isLost ? texts.unknown : texts.running}
            </span>
          }
          note={
            start === null ? (
              texts.sinceUnknown
            ) : (
              <span title={`${formatClock(start)} ${zoneAt(start)}`}>
                {texts.since(formatClock(start, "minute"))} ·{" "}
                {formatDuration(Math.max(0, figures.now - start))}
              </span>
            )
          }
        />
        <Stat
          label={texts.version}
          value={version.value ?? texts.unknown}
          note={texts.api(facts.apiVersion)}
        />
        <Stat
          label={texts.newValues}
          value={values.value === null ? texts.unknown : rate(values.value)}
          note={
            values.value === null
              ? gap(values)
              : required.value === null
                ? texts.requiredUnknown
                : texts.required(rate(required.value))
          }
        />
        <Stat
          label={texts.overdue}
          value={overdue.value === null ? texts.unknown : formatCount(Number(overdue.value))}
          note={
            overdue.value === null
              ? gap(overdue)
              : queue.value !== null && texts.overdueNote(formatCount(Number(queue.value)))
          }
        />
        <Stat
          label={texts.firstLimit}
          value={first ? wordsOf(first)[0] : texts.unknown}
          note={capacity.data && texts.cores(capacity.data.cores)}
        />
      </div>
    </div>
  );
}

type Part = readonly [words: (count: string) => string, count: number, tone?: "bad" | "off"];

function rowsOf(totals: Totals): [name: string, total: number, parts: Part[]][] {
  const { hosts, items, triggers } = totals;
  return [
    [
      texts.hosts,
      hosts.enabled + hosts.disabled,
      [
        [texts.enabled, hosts.enabled],
        [texts.disabled, hosts.disabled, "off"],
      ],
    ],
    [
      texts.items,
      items.supported + items.notSupported + items.idle,
      [
        [texts.supported, items.supported],
        [texts.notSupported, items.notSupported, "bad"],
        [texts.idle, items.idle, "off"],
      ],
    ],
    [
      texts.triggers,
      triggers.problem + triggers.ok + triggers.unknown + triggers.idle,
      [
        [texts.inProblem, triggers.problem, "bad"],
        [texts.ok, triggers.ok],
        [texts.unknownCount, triggers.unknown, "off"],
        [texts.idle, triggers.idle, "off"],
      ],
    ],
    [texts.templates, totals.templates, []],
    [texts.users, totals.users, []],
  ];
}

function Objects() {
  const query = useQuery(totalsQuery());
  const { data, error } = query;
  return (
    <Card title={texts.objects}>
      <StaleError query={query} className="mb-2" />
      {error && !data ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : !data ? (
        <SkeletonRows rows={5} />
      ) : (
        <dl>
          {rowsOf(data).map(([name, total, parts]) => (
            <div
              key={name}
              className="grid grid-cols-[7rem_6rem_1fr] gap-x-3 border-b py-2 last:border-0 max-sm:grid-cols-[1fr_auto]"
            >
              <dt className="text-soft">{name}</dt>
              <dd className="tabular text-right font-semibold">{formatCount(total)}</dd>
              <dd className="flex flex-wrap gap-x-4 max-sm:col-span-2">
                {parts.map(([words, count, tone]) => (
                  <span
                    key={words("")}
                    className={cx(
                      "tabular",
                      count === 0 || tone === "off"
                        ? "text-soft"
                        : tone === "bad" && "text-bad-ink",
                    )}
                  >
                    {words(formatCount(count))}
                  </span>
                ))}
              </dd>
            </div>
          ))}
        </dl>
      )}
    </Card>
  );
}

function Setup({ facts }: { facts: ServerFacts }) {
  const flag = (on: boolean | undefined) =>
    on === undefined ? texts.unknown : on ? texts.on : texts.off;
  const rows: readonly (readonly [string, ReactNode])[] = [
    [texts.timeZone, facts.zone],
    [
      texts.auditLog,
      <Link key="audit" to="/audit" className={LINK}>
        {flag(facts.auditLog)}
      </Link>,
    ],
    [
      texts.heartbeat,
      <Link key="heartbeat" to="/heartbeat" className={LINK}>
        {flag(facts.heartbeat)}
      </Link>,
    ],
  ];
  return (
    <Card title={texts.setup}>
      <dl>
        {rows.map(([name, value]) => (
          <div key={name} className="flex justify-between gap-4 border-b py-2 last:border-0">
            <dt className="text-soft">{name}</dt>
            <dd>{value}</dd>
          </div>
        ))}
      </dl>
    </Card>
  );
}

/** What the server is, how many objects it has, and how much it does. */
export function SystemPage() {
  const query = useQuery(serverFactsQuery());
  const { data: facts, error } = query;
  return (
    <Page
      title={texts.system}
      scroll
      actions={
        <>
          <Link to="/health" className={buttonClass("quiet")}>
            {texts.showHealth}
          </Link>
          <Link to="/queue" className={buttonClass("quiet")}>
            {texts.showQueue}
          </Link>
          <Link to="/capacity" className={buttonClass("quiet")}>
            {texts.showCapacity}
          </Link>
        </>
      }
    >
      <StaleError query={query} className="mb-2" />
      {error && !facts ? (
        <QueryError error={error} onRetry={() => void query.refetch()} />
      ) : !facts ? (
        <SkeletonRows rows={10} />
      ) : (
        <div className="flex flex-col gap-4">
          <ServerStats facts={facts} isLost={error !== null} />
          <div className="grid grid-cols-[minmax(0,1fr)] gap-4 lg:grid-cols-[2fr_1fr]">
            <Objects />
            <Setup facts={facts} />
          </div>
        </div>
      )}
    </Page>
  );
}
