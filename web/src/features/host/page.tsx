import { useQuery } from "@tanstack/react-query";
import { getRouteApi, Link } from "@tanstack/react-router";
import { useState } from "react";
import { discoveryRulesQuery } from "~/api/discovery";
import { hostStatesQuery } from "~/api/host-states";
import { type Host, hostQuery } from "~/api/hosts";
import { hostItemsQuery, type ItemRow } from "~/api/items";
import { Status } from "~/api/schema";
import { mayConfigure } from "~/api/session-store";
import { triggersQuery } from "~/api/triggers";
import { HostDashboards } from "~/features/dashboards";
import { MassChangeButton } from "~/features/mass-change";
import { CreateLink, DiscoveryTable, TriggerTable } from "~/shared/config-tables";
import { QueryError, StaleError } from "~/shared/fallback";
import { ItemTable } from "~/shared/item-table";
import { MacrosView } from "~/shared/macros-view";
import { CRUMB, Page, Sheet } from "~/shared/page";
import { ScriptsButton } from "~/shared/scripts/button";
import { HostMark, RunningNotes, useMaintenances } from "~/shared/silence";
import { ValueMaps } from "~/shared/value-maps";
import { WebScenarios } from "~/shared/web-scenarios";
import { Button, buttonClass } from "~/ui/button";
import { cx } from "~/ui/cx";
import { SearchBox } from "~/ui/field";
import { Icon } from "~/ui/icon";
import { Tabs } from "~/ui/segmented";
import { Dot, SeverityBadge } from "~/ui/severity";
import { Empty, SkeletonRows } from "~/ui/state";
import { formatCount, plural } from "~/util/format";
import { useTyped } from "~/util/hooks";
import { countsInWords, stateInWords, toneOf, totalOf, worstOf } from "~/util/host-state";
import { DEFAULT_RANGE, type TimeRange } from "~/util/time";
import { HostGraphs } from "./graphs";
import { HostActions, HostFacts, InterfaceErrors } from "./header";
import { HostOverview } from "./overview";
import { texts } from "./texts";

const route = getRouteApi("/inside/hosts/$hostid");
const TABS = [
  "overview",
  "latest",
  "graphs",
  "dashboards",
  "triggers",
  "discovery",
  "web",
  "macros",
  "valuemaps",
] as const;
type Tab = (typeof TABS)[number];

function StateMark({ host }: { host: Host }) {
  const { data } = useQuery(hostStatesQuery([host.hostid]));
  const state = data?.get(host.hostid);
  const monitored = host.status === Status.Enabled;
  const worst = state && monitored ? worstOf(state.problems) : null;
  if (!state || worst === null) {
    const tone = toneOf(state, monitored);
    return (
      <span
        className={cx(
          "inline-flex items-center gap-1.5 text-sm font-normal",
          tone === "good" ? "text-good-ink" : "text-faint",
        )}
      >
        <Dot tone={tone} /> {stateInWords(state, monitored)}
      </span>
    );
  }
  return (
    <span className="flex items-center gap-2 text-sm font-normal">
      <SeverityBadge severity={worst} />
      <span className="text-soft" title={countsInWords(state.problems)}>
        {plural(totalOf(state.problems), "problem")}
      </span>
    </span>
  );
}

function Latest({ items, hostid }: { items: readonly ItemRow[] | undefined; hostid: string }) {
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const [selected, setSelected] = useState<ReadonlySet<string>>(new Set());
  const [text, setText] = useTyped(
    search.text ?? "",
    (value) =>
      void navigate({ search: (old) => ({ ...old, text: value || undefined }), replace: true }),
  );
  const needle = text.toLowerCase();
  const ids = (items ?? [])
    .filter(
      (item) =>
        item.name.toLowerCase().includes(needle) || item.key_.toLowerCase().includes(needle),
    )
    .map((item) => item.itemid);
  if (!items) return <SkeletonRows rows={12} />;
  return (
    <div className="flex min-h-0 flex-1 flex-col gap-3">
      <div className="flex flex-wrap items-center gap-2">
        <SearchBox
          label={texts.searchNamesAndKeys}
          value={text}
          onChange={setText}
          className="w-72"
        />
        <MassChangeButton
          selection={{ ids: selected.size > 0 ? [...selected] : ids }}
          count={selected.size || ids.length}
          all={selected.size === 0}
        />
        {selected.size > 0 && (
          <>
            <Link
              to="/graph"
              search={{ items: [...selected].slice(0, 20).join(",") }}
              className={buttonClass("primary")}
            >
              <Icon name="graph" size={15} />
              {texts.showGraphOf(selected.size)}
            </Link>
            <Button look="quiet" onClick={() => setSelected(new Set())}>
              {texts.deselect}
            </Button>
          </>
        )}
      </div>
      <Sheet>
        <ItemTable
          list={{ count: ids.length, idAt: (index) => ids[index] }}
          selected={selected}
          onSelect={setSelected}
          onOpen={(item) => void navigate({ to: "/graph", search: { items: item.itemid } })}
          empty={
            <Empty
              icon="latest"
              title={items.length ? texts.noItemMatchesThis : texts.thisHostHasNoItems}
              action={
                !items.length && (
                  <Link
                    to="/hosts/$hostid/edit"
                    params={{ hostid }}
                    className={buttonClass("primary")}
                  >
                    {texts.linkATemplate}
                  </Link>
                )
              }
            >
              {items.length ? texts.searchForAPart : texts.linkATemplateTo}
            </Empty>
          }
        />
      </Sheet>
    </div>
  );
}

function NoHost() {
  return (
    <Page title={texts.host}>
      <Empty
        icon="hosts"
        title={texts.thisHostDoesNot}
        action={
          <Link to="/hosts" className={buttonClass("primary")}>
            {texts.allHosts}
          </Link>
        }
      >
        {texts.itWasDeletedOr}
      </Empty>
    </Page>
  );
}

export function HostPage() {
  const { hostid } = route.useParams();
  const search = route.useSearch();
  const navigate = route.useNavigate();
  const query = useQuery(hostQuery(hostid));
  const { data: host, error } = query;
  const { data: items } = useQuery(hostItemsQuery(hostid));
  const maintenances = useMaintenances(
    host?.maintenance_status === "1" ? [host.maintenanceid] : [],
  );
  const tab = TABS.find((name) => name === search.tab) ?? "overview";
  const triggers = useQuery({ ...triggersQuery(hostid), enabled: tab === "triggers" });
  const rules = useQuery({ ...discoveryRulesQuery(hostid), enabled: tab === "discovery" });
  const range: TimeRange = {
    from: search.from ?? DEFAULT_RANGE.from,
    to: search.to ?? DEFAULT_RANGE.to,
  };

  const onRange = ({ from, to }: TimeRange) =>
    void navigate({ search: (old) => ({ ...old, from, to }) });
  if (error && !host) {
    return (
      <Page title={texts.host}>
        <QueryError error={error} onRetry={() => void query.refetch()} />
      </Page>
    );
  }
  if (host === null) return <NoHost />;
  return (
    <Page
      title={host?.name ?? texts.host}
      scroll={tab !== "latest"}
      heading={
        <>
          <Link to="/hosts" className={CRUMB}>
            {texts.hosts}
          </Link>
          <span className="-mx-1 text-faint">/</span>
          <span className="truncate">{host?.name ?? "…"}</span>
          {host && <StateMark host={host} />}
          {host && <HostMark host={host} maintenances={maintenances} />}
        </>
      }
      actions={
        host && (
          <>
            <ScriptsButton target={{ hostid }} name={host.name} />
            {mayConfigure() && <HostActions host={host} />}
          </>
        )
      }
      bar={
        host && (
          <div className="flex w-full flex-col gap-2">
            <HostFacts host={host} />
            <InterfaceErrors host={host} />
            {host.maintenance_status === "1" && <RunningNotes ids={[host.maintenanceid]} />}
            <Tabs<Tab>
              label={texts.viewsOfTheHost}
              value={tab}
              onChange={(value) =>
                void navigate({
                  search: (old) => ({ ...old, tab: value === "overview" ? undefined : value }),
                })
              }
              options={[
                ["overview", texts.overview],
                ["latest", texts.latestData, formatCount(Number(host.items))],
                ["graphs", texts.graphs],
                ["dashboards", texts.dashboards],
                ["triggers", texts.triggers, formatCount(Number(host.triggers))],
                ["discovery", texts.discoveryRules, formatCount(Number(host.discoveries))],
                ["web", texts.webScenarios],
                ["macros", texts.macros],
                ["valuemaps", texts.valueMaps],
              ]}
            />
          </div>
        )
      }
    >
      <StaleError query={query} className="mb-2" />
      {!host ? (
        <SkeletonRows rows={10} />
      ) : tab === "overview" ? (
        <HostOverview host={host} items={items} range={range} onRange={onRange} />
      ) : tab === "graphs" ? (
        <HostGraphs host={host} range={range} onRange={onRange} />
      ) : tab === "dashboards" ? (
        <HostDashboards hostid={hostid} />
      ) : tab === "latest" ? (
        <Latest items={items} hostid={hostid} />
      ) : tab === "triggers" ? (
        <div className="flex flex-col gap-3">
          <CreateLink to="/triggers/new" ownerid={hostid}>
            {texts.createTrigger}
          </CreateLink>
          <TriggerTable query={triggers} showState />
        </div>
      ) : tab === "discovery" ? (
        <div className="flex flex-col gap-3">
          <CreateLink to="/rules/new" ownerid={hostid}>
            {texts.createDiscoveryRule}
          </CreateLink>
          <DiscoveryTable query={rules} />
        </div>
      ) : tab === "web" ? (
        <WebScenarios ownerid={hostid} template={false} />
      ) : tab === "macros" ? (
        <MacrosView ownerid={hostid} template={false} own={host.macros} />
      ) : (
        <ValueMaps ownerid={hostid} />
      )}
    </Page>
  );
}
