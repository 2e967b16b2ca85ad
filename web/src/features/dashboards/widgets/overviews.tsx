import { Link } from "@tanstack/react-router";
import type { ReactNode } from "react";
import { State } from "~/api/schema";
import { scopedItemsQuery } from "~/api/widget-items";
import { overviewTriggersQuery } from "~/api/widget-triggers";
import { Found } from "~/shared/fallback";
import { LastValue } from "~/shared/value";
import { SeverityMark } from "~/ui/severity";
import { severityName, toSeverity } from "~/util/severity";
import { groupsFor, hostsFor, useBus } from "./bus";
import { Note, useData, type WidgetProps } from "./frame";
import { HostLink } from "./host-link";
import { anyOf, Settings } from "./settings";
import { SmallTable } from "./small-table";
import { texts } from "./texts";

/** Rows that are read. */
const TRIGGERS_MAX = 300;
const ITEMS_MAX = 500;
/** `show` of a trigger overview: 2 is all triggers, else those with a problem. `layout`: 1 has hosts at the left. */
const ANY = "2";
const HOSTS_LEFT = "1";
const PROBLEM = "1";

interface Host {
  hostid: string;
  name: string;
}

/** Rows that hosts have in common, with a cell where a host has one. */
export interface Matrix<T> {
  hosts: Host[];
  names: string[];
  at: (hostid: string, name: string) => T | undefined;
}

export function matrixOf<T>(
  rows: readonly T[],
  nameOf: (row: T) => string,
  hostsOf: (row: T) => readonly Host[],
): Matrix<T> {
  const cells = new Map<string, T>();
  const hosts = new Map<string, Host>();
  const names = new Set<string>();
  for (const row of rows) {
    const name = nameOf(row);
    names.add(name);
    for (const host of hostsOf(row)) {
      hosts.set(host.hostid, host);
      if (!cells.has(`${host.hostid} ${name}`)) cells.set(`${host.hostid} ${name}`, row);
    }
  }
  const byName = (a: string, b: string) => a.localeCompare(b, "en", { numeric: true });
  return {
    hosts: [...hosts.values()].sort((a, b) => byName(a.name, b.name)),
    names: [...names].sort(byName),
    at: (hostid, name) => cells.get(`${hostid} ${name}`),
  };
}

function Overview<T>({
  matrix,
  label,
  first,
  layout,
  cell,
}: {
  matrix: Matrix<T>;
  label: string;
  first: string;
  layout: string;
  cell: (row: T) => ReactNode;
}) {
  const { hosts, names, at } = matrix;
  const of = (host: Host, name: string) => {
    const row = at(host.hostid, name);
    return row ? cell(row) : <span className="text-faint">–</span>;
  };
  if (layout === HOSTS_LEFT) {
    return (
      <SmallTable
        label={label}
        head={[texts.host, ...names]}
        rows={hosts.map((host) => ({
          id: host.hostid,
          cells: [<HostLink key="host" {...host} />, ...names.map((name) => of(host, name))],
        }))}
      />
    );
  }
  return (
    <SmallTable
      label={label}
      head={[first, ...hosts.map((host) => <HostLink key={host.hostid} {...host} />)]}
      rows={names.map((name) => ({
        id: name,
        cells: [name, ...hosts.map((host) => of(host, name))],
      }))}
    />
  );
}

/** *Trigger overview*: states of triggers by host. */
export function TriggerOverview({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData(
    overviewTriggersQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      tags: settings.tags("tags"),
      anyTag: anyOf(settings.text("evaltype")),
      onlyProblems: settings.text("show", PROBLEM) !== ANY,
      limit: TRIGGERS_MAX,
    }),
  );
  return (
    <Found query={query} gone={null}>
      {(triggers) =>
        triggers.length === 0 ? (
          <Note>{texts.noTriggers}</Note>
        ) : (
          <>
            {triggers.length === TRIGGERS_MAX && <Note>{texts.onlyFirst(TRIGGERS_MAX)}</Note>}
            <Overview
              matrix={matrixOf(
                triggers,
                (trigger) => trigger.description,
                (trigger) => trigger.hosts,
              )}
              label={widget.name || texts.trigger}
              first={texts.trigger}
              layout={settings.text("layout", settings.text("style"))}
              cell={(trigger) => {
                if (trigger.state === State.NotSupported)
                  return <span className="text-soft">{texts.unknown}</span>;
                if (trigger.value !== PROBLEM)
                  return <span className="text-good-ink">{texts.ok}</span>;
                const severity = toSeverity(trigger.priority);
                return (
                  <Link
                    to="/problems"
                    search={{ host: trigger.hosts[0]?.hostid }}
                    className="inline-flex items-center gap-1.5 hover:underline"
                  >
                    <SeverityMark severity={severity} /> {severityName(severity)}
                  </Link>
                );
              }}
            />
          </>
        )
      }
    </Found>
  );
}

/** *Data overview*: newest values by item and host. */
export function DataOverview({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData(
    scopedItemsQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      tags: settings.tags("tags"),
      anyTag: anyOf(settings.text("evaltype")),
      limit: ITEMS_MAX,
    }),
  );
  return (
    <Found query={query} gone={null}>
      {(items) =>
        items.length === 0 ? (
          <Note>{texts.noItemsFound}</Note>
        ) : (
          <>
            {items.length === ITEMS_MAX && <Note>{texts.onlyFirst(ITEMS_MAX)}</Note>}
            <Overview
              matrix={matrixOf(
                items,
                (item) => item.name,
                (item) => item.hosts,
              )}
              label={widget.name || texts.item}
              first={texts.item}
              layout={settings.text("layout", settings.text("style"))}
              cell={(item) => (
                <Link to="/graph" search={{ items: item.itemid }} className="hover:underline">
                  <LastValue item={item} />
                </Link>
              )}
            />
          </>
        )
      }
    </Found>
  );
}
