import { Link } from "@tanstack/react-router";
import { alertsQuery } from "~/api/alerts";
import { FIELD_TYPE, objectsOf } from "~/api/dashboards";
import { foundHostsQuery, networkRulesQuery } from "~/api/network";
import { serviceNamesQuery } from "~/api/services";
import { type Sli, slaQuery, sliQuery } from "~/api/slas";
import { haNodesQuery, serverFactsQuery, totalsQuery } from "~/api/system";
import { webStatesQuery } from "~/api/widget-web";
import { DeliveryMark, recipientOf } from "~/shared/alerts";
import { Found } from "~/shared/fallback";
import { problemOf } from "~/util/alerts";
import { formatCount } from "~/util/format";
import { percent, periodWords, sliWords, verdictOf } from "~/util/sla";
import { formatClock, resolveRange } from "~/util/time";
import { groupsFor, hostsFor, rangeFor, useBus } from "./bus";
import { Note, useData, type WidgetProps } from "./frame";
import { anyOf, Settings } from "./settings";
import { SmallTable } from "./small-table";
import { texts } from "./texts";

const LINK = "hover:underline";
/** Actions on problems of triggers, as the widget of Zabbix shows them. */
const TRIGGERS = 0;

/** `sort_triggers` of the action log: 3 is by time, oldest first. */
const OLDEST_FIRST = "3";

/** *Action log*: messages and commands. */
export function ActionLog({ widget }: WidgetProps) {
  const { signals } = useBus();
  const settings = Settings.of(widget);
  const span = resolveRange(rangeFor(signals, widget));
  // In steps, so that the query is not another one each second.
  const step = (clock: number) => Math.floor(clock / 60) * 60;
  const filter = {
    eventsource: TRIGGERS,
    statuses: settings.list("statuses"),
    text: settings.text("message") || undefined,
    userids: settings.list("userids"),
    actionids: settings.list("actionids"),
    mediatypeids: settings.list("mediatypeids"),
    from: span ? step(span.from) : undefined,
  };
  const query = useData(alertsQuery(filter, settings.number("show_lines", 25)));
  return (
    <Found query={query} gone={null}>
      {(alerts) => {
        const rows = settings.text("sort_triggers") === OLDEST_FIRST ? alerts.toReversed() : alerts;
        if (rows.length === 0) return <Note>{texts.noAlerts}</Note>;
        return (
          <SmallTable
            label={widget.name || texts.kinds.actionlog}
            head={[texts.time, texts.recipient, texts.message, texts.status]}
            rows={rows.map((alert) => ({
              id: alert.alertid,
              cells: [
                <span key="time" className="tabular whitespace-nowrap">
                  {formatClock(Number(alert.clock))}
                </span>,
                recipientOf(alert),
                <Link
                  key="message"
                  to="/problems"
                  search={{ event: problemOf(alert) }}
                  className={LINK}
                >
                  {alert.subject || alert.message}
                </Link>,
                <span key="status" title={alert.error}>
                  <DeliveryMark alert={alert} />
                </span>,
              ],
            }))}
          />
        );
      }}
    </Found>
  );
}

const UP = "0";

/** *Discovery status*: hosts that network discovery found, by rule. */
export function DiscoveryStatus({ widget }: WidgetProps) {
  const rules = useData(networkRulesQuery());
  const found = useData(foundHostsQuery(undefined));
  return (
    <Found query={rules} gone={null}>
      {(list) => {
        if (list.length === 0) return <Note>{texts.noRules}</Note>;
        const count = (name: string, up: boolean) =>
          found.data
            ? formatCount(
                found.data.filter((host) => host.rule === name && (host.status === UP) === up)
                  .length,
              )
            : "–";
        return (
          <SmallTable
            label={widget.name || texts.kinds.discovery}
            head={[texts.rule, texts.up, texts.down]}
            numbersFrom={1}
            rows={list.map(({ druleid, name, error }) => ({
              id: druleid,
              cells: [
                <Link
                  key="rule"
                  to="/discovery"
                  search={{ rule: druleid }}
                  className={LINK}
                  title={error}
                >
                  {name}
                </Link>,
                count(name, true),
                count(name, false),
              ],
            }))}
          />
        );
      }}
    </Found>
  );
}

const LOOKS = { met: "text-good-ink", missed: "font-medium text-bad-ink", unknown: "text-faint" };
const SERVICES_MAX = 100;

function SliTable({
  sli,
  slo,
  zone,
  label,
  names,
}: {
  sli: Sli;
  slo: number;
  zone: string | undefined;
  label: string;
  names: ReadonlyMap<string, string>;
}) {
  return (
    <SmallTable
      label={label}
      head={[
        texts.service,
        texts.objective,
        ...sli.periods.map((period) => periodWords(period, zone)),
      ]}
      numbersFrom={1}
      rows={sli.serviceids.slice(0, SERVICES_MAX).map((id, s) => ({
        id: String(id),
        cells: [
          names.get(String(id)) ?? texts.notVisible,
          percent(slo),
          ...sli.periods.map((period, p) => {
            const cell = sli.sli[p]?.[s];
            return (
              <span key={period.period_from} className={LOOKS[verdictOf(cell, slo)]}>
                {sliWords(cell, slo)}
              </span>
            );
          }),
        ],
      }))}
    />
  );
}

/** *SLA report*: indicators of services by period. */
export function SlaReport({ widget }: WidgetProps) {
  const settings = Settings.of(widget);
  const [slaid = ""] = objectsOf(widget, FIELD_TYPE.sla);
  const [serviceid] = objectsOf(widget, FIELD_TYPE.service);
  const sla = useData({ ...slaQuery(slaid), enabled: slaid !== "" });
  const sli = useData(
    sliQuery({
      slaid,
      serviceids: serviceid ? [serviceid] : undefined,
      periods: settings.number("show_periods", 20),
    }),
  );
  const ids = sli.data?.serviceids.slice(0, SERVICES_MAX).map(String) ?? [];
  const names = useData(serviceNamesQuery(ids));
  if (slaid === "") return <Note>{texts.noSla}</Note>;
  return (
    <Found query={sla} gone={<Note>{texts.notVisible}</Note>}>
      {({ name, slo, timezone }) => (
        <Found query={sli} gone={null}>
          {(data) =>
            data.serviceids.length === 0 ? (
              <Note>{texts.noServices}</Note>
            ) : (
              <>
                <p className="px-3 py-1 text-xs text-soft">
                  <Link to="/sla-report" search={{ sla: slaid }} className={LINK}>
                    {name}
                  </Link>
                </p>
                {data.serviceids.length > SERVICES_MAX && (
                  <Note>{texts.onlyFirst(SERVICES_MAX)}</Note>
                )}
                <SliTable
                  sli={data}
                  slo={Number(slo)}
                  zone={timezone === "system" ? undefined : timezone}
                  label={widget.name || name}
                  names={new Map(names.data?.map((one) => [one.serviceid, one.name]))}
                />
              </>
            )
          }
        </Found>
      )}
    </Found>
  );
}

/** *Web monitoring*: scenarios that work and fail, by host group. */
export function WebMonitoring({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData(
    webStatesQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      tags: settings.tags("tags"),
      anyTag: anyOf(settings.text("evaltype")),
    }),
  );
  return (
    <Found query={query} gone={null}>
      {(groups) =>
        groups.length === 0 ? (
          <Note>{texts.noScenarios}</Note>
        ) : (
          <SmallTable
            label={widget.name || texts.kinds.web}
            head={[texts.hostGroup, texts.ok, texts.failed, texts.unknown]}
            numbersFrom={1}
            rows={groups.map((group) => ({
              id: group.groupid,
              cells: [
                <Link key="group" to="/hosts" search={{ group: group.groupid }} className={LINK}>
                  {group.name}
                </Link>,
                formatCount(group.ok),
                <span
                  key="failed"
                  className={group.failed > 0 ? "font-medium text-bad-ink" : undefined}
                >
                  {formatCount(group.failed)}
                </span>,
                formatCount(group.unknown),
              ],
            }))}
          />
        )
      }
    </Found>
  );
}

/** `info_type`: 1 shows the nodes of a cluster. */
const NODES = "1";
const NODE_STATES = ["standby", "stopped", "unavailable", "active"] as const;

function Nodes({ widget }: WidgetProps) {
  const query = useData(haNodesQuery());
  return (
    <Found query={query} gone={null}>
      {(nodes) =>
        nodes.length === 0 ? (
          <Note>{texts.noNodes}</Note>
        ) : (
          <SmallTable
            label={widget.name || texts.kinds.systeminfo}
            head={[texts.name, texts.address, texts.lastSeen, texts.status]}
            rows={nodes.map((node) => ({
              id: node.ha_nodeid,
              cells: [
                node.name || texts.singleServer,
                `${node.address}:${node.port}`,
                formatClock(Number(node.lastaccess)),
                texts.nodes[NODE_STATES[Number(node.status)] ?? "unavailable"],
              ],
            }))}
          />
        )
      }
    </Found>
  );
}

/** *System information*: numbers of objects, or nodes of a cluster. */
export function SystemInfo({ widget }: WidgetProps) {
  const isNodes = Settings.of(widget).text("info_type") === NODES;
  const totals = useData({ ...totalsQuery(), enabled: !isNodes });
  const facts = useData({ ...serverFactsQuery(), enabled: !isNodes });
  if (isNodes) return <Nodes widget={widget} />;
  return (
    <Found query={totals} gone={null}>
      {({ hosts, templates, items, triggers, users }) => (
        <SmallTable
          label={widget.name || texts.kinds.systeminfo}
          head={[
            <Link key="system" to="/system" className={LINK}>
              {texts.kinds.systeminfo}
            </Link>,
            texts.value,
            texts.details,
          ]}
          rows={[
            { id: "api", cells: [texts.apiVersion, facts.data?.apiVersion ?? texts.unknown, ""] },
            {
              id: "hosts",
              cells: [
                texts.hosts,
                formatCount(hosts.enabled + hosts.disabled),
                texts.hostDetails(hosts.enabled, hosts.disabled),
              ],
            },
            { id: "templates", cells: [texts.templates, formatCount(templates), ""] },
            {
              id: "items",
              cells: [
                texts.items,
                formatCount(items.supported + items.notSupported + items.idle),
                texts.itemDetails(items.supported, items.notSupported, items.idle),
              ],
            },
            {
              id: "triggers",
              cells: [
                texts.triggers,
                formatCount(triggers.problem + triggers.ok + triggers.unknown + triggers.idle),
                texts.triggerDetails(
                  triggers.problem,
                  triggers.ok,
                  triggers.unknown,
                  triggers.idle,
                ),
              ],
            },
            { id: "users", cells: [texts.users, formatCount(users), ""] },
          ]}
        />
      )}
    </Found>
  );
}
