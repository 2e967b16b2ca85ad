import { type ReactNode, useEffect, useState } from "react";
import { hostStatesQuery } from "~/api/host-states";
import type { ItemRow } from "~/api/items";
import { State, Status } from "~/api/schema";
import { type NavigatedHost, navigatedHostsQuery } from "~/api/widget-hosts";
import { scopedItemsQuery } from "~/api/widget-items";
import { Found } from "~/shared/fallback";
import { LastValue } from "~/shared/value";
import { cx } from "~/ui/cx";
import { Icon } from "~/ui/icon";
import { Dot } from "~/ui/severity";
import { type HostState, stateInWords, toneOf, worstOf } from "~/util/host-state";
import { severityName } from "~/util/severity";
import type { Tag } from "~/util/tags";
import { groupsFor, hostsFor, referenceOf, type Signals, useBus } from "./bus";
import { Note, useData, type WidgetProps } from "./frame";
import { anyOf, Settings } from "./settings";
import { texts } from "./texts";
import { type Branch, branchesOf, type Level } from "./tree";

const LINES = 100;

interface NodeProps<T> {
  branch: Branch<T>;
  depth: number;
  idOf: (row: T) => string;
  selected: string | undefined;
  onSelect: (row: T) => void;
  line: (row: T) => ReactNode;
}

function Rows<T>({ branch, depth, idOf, selected, onSelect, line }: NodeProps<T>) {
  return branch.rows.map((row) => (
    <li key={idOf(row)}>
      <button
        type="button"
        aria-current={idOf(row) === selected || undefined}
        onClick={() => onSelect(row)}
        className={cx(
          "flex w-full items-center gap-2 py-1 pr-3 text-left text-sm outline-offset-[-2px] hover:bg-hover",
          idOf(row) === selected && "bg-accent-soft text-accent-ink",
        )}
        style={{ paddingLeft: 12 + depth * 16 }}
      >
        {line(row)}
      </button>
    </li>
  ));
}

function Node<T>(props: NodeProps<T>) {
  const { branch, depth } = props;
  const [isOpen, setOpen] = useState(depth < 2);
  return (
    <li>
      <button
        type="button"
        aria-expanded={isOpen}
        onClick={() => setOpen(!isOpen)}
        className="flex w-full items-center gap-1.5 py-1 pr-3 text-left text-sm font-medium outline-offset-[-2px] hover:bg-hover"
        style={{ paddingLeft: 8 + depth * 16 }}
      >
        <Icon name={isOpen ? "down" : "right"} size={13} />
        <span className="truncate">{branch.name}</span>
        <span className="tabular ml-auto text-xs text-soft">{branch.count}</span>
      </button>
      {isOpen && (
        <ul>
          {branch.branches.map((one) => (
            <Node key={one.name} {...props} branch={one} depth={depth + 1} />
          ))}
          <Rows {...props} depth={depth + 1} />
        </ul>
      )}
    </li>
  );
}

/** Rows in groups, one of which is selected for the widgets that listen. */
function Navigator<T>({
  rows,
  levels,
  signals,
  selected,
  widget,
  ...rest
}: WidgetProps & {
  rows: readonly T[];
  levels: readonly Level<T>[];
  idOf: (row: T) => string;
  signals: (row: T) => Partial<Signals>;
  selected: keyof Signals;
  line: (row: T) => ReactNode;
}) {
  const bus = useBus();
  const reference = referenceOf(widget) ?? `widget ${widget.widgetid}`;
  const chosen = bus.signals.get(reference)?.[selected];
  const tree = branchesOf(rows, levels);
  const first = firstOf(tree);
  const isGone = !rows.some((row) => rest.idOf(row) === chosen);
  const { send } = bus;
  const firstId = first && rest.idOf(first);
  // biome-ignore lint/correctness/useExhaustiveDependencies: the id stands for the first row
  useEffect(() => {
    if (isGone && first) send(reference, signals(first));
  }, [isGone, firstId, reference, send]);
  const node = {
    ...rest,
    depth: -1,
    branch: tree,
    selected: typeof chosen === "string" ? chosen : undefined,
    onSelect: (row: T) => send(reference, signals(row)),
  };
  return (
    <ul aria-label={widget.name || texts.navigator}>
      {tree.branches.map((branch) => (
        <Node key={branch.name} {...node} branch={branch} depth={0} />
      ))}
      <Rows {...node} depth={0} />
    </ul>
  );
}

const firstOf = <T,>(tree: Branch<T>): T | undefined =>
  tree.rows[0] ?? tree.branches.map(firstOf).find((row) => row !== undefined);

const tagLevel = <T,>(tag: string, of: (row: T) => readonly Tag[]): Level<T> => ({
  of: (row) =>
    of(row)
      .filter((one) => one.tag === tag)
      .map((one) => `${tag}: ${one.value}`),
  otherwise: texts.noTag(tag),
});

/** `group_by.N.attribute` of the item navigator: host group, host, tag of the host, tag of the item. */
function itemLevel(part: Settings, hosts: ReadonlyMap<string, NavigatedHost>): Level<ItemRow> {
  const host = (item: ItemRow) => hosts.get(item.hostid);
  switch (part.text("attribute")) {
    case "1":
      return { of: (item) => item.hosts.map(({ name }) => name), otherwise: texts.unknown };
    case "2":
      return tagLevel(part.text("tag_name"), (item) => host(item)?.tags ?? []);
    case "3":
      return tagLevel(part.text("tag_name"), (item) => item.tags);
    default:
      return {
        of: (item) => host(item)?.hostgroups.map(({ name }) => name) ?? [],
        otherwise: texts.unknown,
      };
  }
}

/** `state` of the item navigator: -1 is any. */
const ANY = "-1";

/** *Item navigator*: items in groups; the selected one is shown by other widgets. */
export function ItemNavigator({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const state = settings.text("state", ANY);
  const lines = settings.number("show_lines", LINES);
  const query = useData(
    scopedItemsQuery({
      hostids: hostsFor(bus, widget),
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      hostTags: bus.pageHost ? [] : settings.tags("host_tags"),
      anyHostTag: anyOf(settings.text("host_tags_evaltype")),
      names: settings.list("items"),
      tags: settings.tags("item_tags"),
      anyTag: anyOf(settings.text("item_tags_evaltype")),
      state: state === ANY ? undefined : state,
      limit: lines,
    }),
  );
  const levels = settings.parts("group_by");
  const ids = [...new Set(query.data?.map((item) => item.hostid))];
  const hosts = useData({
    ...navigatedHostsQuery({ hostids: ids, limit: ids.length }),
    enabled: ids.length > 0 && levels.length > 0,
  });
  const byId = new Map(hosts.data?.map((host) => [host.hostid, host]));
  const withHost = ids.length > 1;
  return (
    <Found query={query} gone={null}>
      {(items) =>
        items.length === 0 ? (
          <Note>{texts.noItemsFound}</Note>
        ) : (
          <>
            {items.length === lines && <Note>{texts.onlyFirst(lines)}</Note>}
            <Navigator
              widget={widget}
              rows={items}
              levels={levels.map((part) => itemLevel(part, byId))}
              idOf={(item) => item.itemid}
              selected="_itemid"
              signals={(item) => ({
                _itemid: item.itemid,
                _hostid: item.hostid,
                _hostids: [item.hostid],
              })}
              line={(item) => (
                <>
                  {item.state === State.NotSupported && <Dot tone="bad" />}
                  <span className="truncate">
                    {withHost ? `${item.hosts[0]?.name}: ${item.name}` : item.name}
                  </span>
                  <span className="ml-auto max-w-[45%] shrink-0 truncate text-xs">
                    <LastValue item={item} />
                  </span>
                </>
              )}
            />
          </>
        )
      }
    </Found>
  );
}

/** `group_by.N.attribute` of the host navigator: host group, tag, severity. */
function hostLevel(
  part: Settings,
  states: ReadonlyMap<string, HostState> | undefined,
): Level<NavigatedHost> {
  switch (part.text("attribute")) {
    case "1":
      return tagLevel(part.text("tag_name"), (host) => host.tags);
    case "2":
      return {
        of: (host) => {
          const worst = worstOf(states?.get(host.hostid)?.problems ?? []);
          return worst === null ? [] : [severityName(worst)];
        },
        otherwise: texts.noSeverity,
      };
    default:
      return { of: (host) => host.hostgroups.map(({ name }) => name), otherwise: texts.unknown };
  }
}

/** *Host navigator*: hosts in groups; the selected one is shown by other widgets. */
export function HostNavigator({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const lines = settings.number("show_lines", LINES);
  const status = settings.text("status", ANY);
  const query = useData(
    navigatedHostsQuery({
      groupids: groupsFor(bus, widget),
      patterns: settings.list("hosts"),
      tags: settings.tags("host_tags"),
      anyTag: anyOf(settings.text("host_tags_evaltype")),
      status: status === ANY ? undefined : status,
      withoutMaintenance: !settings.flag("maintenance"),
      severities: settings.list("severities").map(Number),
      limit: lines,
    }),
  );
  const states = useData(hostStatesQuery(query.data?.map((host) => host.hostid) ?? []));
  return (
    <Found query={query} gone={null}>
      {(hosts) =>
        hosts.length === 0 ? (
          <Note>{texts.noHostsFound}</Note>
        ) : (
          <>
            {hosts.length === lines && <Note>{texts.onlyFirst(lines)}</Note>}
            <Navigator
              widget={widget}
              rows={hosts}
              levels={settings.parts("group_by").map((part) => hostLevel(part, states.data))}
              idOf={(host) => host.hostid}
              selected="_hostid"
              signals={(host) => ({ _hostid: host.hostid, _hostids: [host.hostid] })}
              line={(host) => {
                const state = states.data?.get(host.hostid);
                const isMonitored = host.status === Status.Enabled;
                return (
                  <>
                    <Dot tone={toneOf(state, isMonitored)} />
                    <span className="truncate">{host.name}</span>
                    <span className="ml-auto shrink-0 text-xs text-soft">
                      {stateInWords(state, isMonitored)}
                    </span>
                  </>
                );
              }}
            />
          </>
        )
      }
    </Found>
  );
}
