import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useMemo } from "react";
import {
  type FoundHost,
  type FoundService,
  foundHostsQuery,
  networkRulesQuery,
} from "~/api/network";
import { DiscoveryState } from "~/api/schema";
import { ListPage, NoRows } from "~/shared/list-page";
import { cx } from "~/ui/cx";
import { SearchBox, Select } from "~/ui/field";
import { Segmented } from "~/ui/segmented";
import { Dot } from "~/ui/severity";
import { type Column, VirtualTable } from "~/ui/table";
import { useFilters, useNow } from "~/util/hooks";
import { checkWords } from "~/util/network";
import { parseSearch, replacesEntry } from "~/util/search";
import { formatAgo, formatClock } from "~/util/time";
import { texts } from "./texts";

const route = getRouteApi("/inside/discovery");
const NO_FILTERS = { text: undefined, state: undefined, rule: undefined };
const SHOWN = [
  ["all", "All"],
  ["up", "Up"],
  ["down", "Down"],
] as const;
const STEP_S = 10;

const addresses = (host: FoundHost) => [...new Set(host.services.map((service) => service.ip))];
const names = (host: FoundHost) => [
  ...new Set(host.services.map((service) => service.dns).filter(Boolean)),
];

function Since({ host, now }: { host: FoundHost; now: number }) {
  const up = host.status === DiscoveryState.Up;
  const since = Number(up ? host.lastup : host.lastdown);
  return (
    <span className="inline-flex items-center gap-1.5" title={texts.sinceTime(formatClock(since))}>
      <Dot tone={up ? "good" : "bad"} />
      {up ? texts.up : texts.down} <span className="text-soft">{formatAgo(since, now)}</span>
    </span>
  );
}

function Address({ host }: { host: FoundHost }) {
  return (
    <span className="truncate" title={addresses(host).join(", ")}>
      <span className="font-medium">{addresses(host).join(", ")}</span>{" "}
      <span className="text-soft">{names(host).join(", ")}</span>
    </span>
  );
}

function Service({ service, words }: { service: FoundService; words: string }) {
  const down = service.status !== DiscoveryState.Up;
  const since = Number(down ? service.lastdown : service.lastup);
  const title = `${down ? "Down" : "Up"} since ${formatClock(since)} ${service.value}`;
  return (
    <span
      title={title.trim()}
      className={cx(
        "rounded border px-1.5 text-xs whitespace-nowrap",
        down ? "text-faint line-through" : "text-soft",
      )}
    >
      {words}
    </span>
  );
}

function Services({ host, words }: { host: FoundHost; words: ReadonlyMap<string, string> }) {
  return (
    <span className="flex gap-1 overflow-hidden">
      {host.services.map((service) => (
        <Service
          key={service.dserviceid}
          service={service}
          words={
            service.port === "0"
              ? (words.get(service.dcheckid) ?? "")
              : `${words.get(service.dcheckid) ?? ""} ${service.port}`
          }
        />
      ))}
    </span>
  );
}

function Monitored({ host }: { host: FoundHost }) {
  const hosts = new Map(
    host.services.flatMap((service) => service.hosts.map((one) => [one.hostid, one.name] as const)),
  );
  if (hosts.size === 0) return <span className="text-faint">{texts.notMonitored}</span>;
  return (
    <span className="flex gap-2 overflow-hidden">
      {[...hosts].map(([hostid, name]) => (
        <Link
          key={hostid}
          to="/hosts/$hostid"
          params={{ hostid }}
          className="truncate hover:underline"
        >
          {name}
        </Link>
      ))}
    </span>
  );
}

function columnsOf(words: ReadonlyMap<string, string>, now: number): Column<FoundHost>[] {
  const since = (host: FoundHost) => <Since host={host} now={now} />;
  return [
    {
      id: "summary",
      header: texts.host,
      width: "minmax(0, 1fr)",
      on: "narrow",
      cell: (host) => (
        <span className="flex min-w-0 flex-col">
          <Address host={host} />
          <span className="text-xs">{since(host)}</span>
        </span>
      ),
    },
    {
      id: "address",
      header: texts.address,
      width: "minmax(12rem, 1.2fr)",
      on: "wide",
      cell: (host) => <Address host={host} />,
    },
    { id: "state", header: texts.state, width: "11rem", on: "wide", cell: since },
    {
      id: "monitored",
      header: texts.monitoredAs,
      width: "minmax(9rem, 1fr)",
      on: "wide",
      cell: (host) => <Monitored host={host} />,
    },
    {
      id: "services",
      header: texts.services,
      width: "minmax(12rem, 2fr)",
      on: "wide",
      cell: (host) => <Services host={host} words={words} />,
    },
    {
      id: "rule",
      header: texts.rule,
      width: "minmax(8rem, 0.8fr)",
      on: "wide",
      cell: (host) => <span className="text-soft">{host.rule}</span>,
    },
  ];
}

/** What network discovery has found. */
export function DiscoveryPage() {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const now = Math.floor(useNow() / STEP_S) * STEP_S;
  const { data: rules } = useQuery(networkRulesQuery());
  const query = useQuery(foundHostsQuery(search.rule));
  const { data } = query;
  const change = (next: Partial<typeof search>) =>
    void navigate({
      search: (old) => ({ ...old, ...next }),
      replace: replacesEntry(parseSearch(location.search), next),
    });
  const rows = useMemo(() => {
    const needle = (search.text ?? "").toLowerCase();
    return data?.filter((host) => {
      if (search.state && (search.state === "up") !== (host.status === DiscoveryState.Up))
        return false;
      const values = host.services.map((service) => service.value);
      const all = [...addresses(host), ...names(host), ...values].join(" ").toLowerCase();
      return all.includes(needle);
    });
  }, [data, search.text, search.state]);
  const columns = useMemo(() => {
    const checks = rules?.flatMap((rule) => rule.dchecks) ?? [];
    const short = (words: string) => words.replace(/ \([^)]*\)$/, "");
    return columnsOf(new Map(checks.map((c) => [c.dcheckid ?? "", short(checkWords(c))])), now);
  }, [rules, now]);
  const { text, setText, onClear } = useFilters(search, change, NO_FILTERS);
  return (
    <ListPage
      title={texts.discovery}
      count={rows?.length}
      filters={
        <>
          <SearchBox
            label={texts.searchDiscoveredHosts}
            value={text}
            onChange={setText}
            className="w-64"
          />
          <Segmented
            label={texts.state}
            value={SHOWN.find(([state]) => state === search.state)?.[0] ?? "all"}
            onChange={(v) => change({ state: v === "all" ? undefined : v })}
            options={SHOWN}
          />
          <Select
            aria-label={texts.discoveryRule}
            className="max-w-56"
            options={[
              ["", texts.allRules],
              ...(rules ?? []).map((rule) => [rule.druleid, rule.name] as const),
            ]}
            value={search.rule ?? ""}
            onChange={(e) => change({ rule: e.target.value || undefined })}
          />
        </>
      }
      onClear={onClear}
      query={query}
    >
      {rows && (
        <VirtualTable
          label={texts.discoveredHosts}
          columns={columns}
          count={rows.length}
          rowAt={(index) => rows[index]}
          idOf={(host) => host.dhostid}
          empty={
            <NoRows icon="search" word={texts.discoveredHost} onClear={onClear} action={undefined}>
              {texts.hostsThatDiscoveryRules}
            </NoRows>
          }
        />
      )}
    </ListPage>
  );
}
