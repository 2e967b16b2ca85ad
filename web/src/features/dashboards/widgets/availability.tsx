import { type ReachableHost, reachableHostsQuery } from "~/api/widget-hosts";
import { combined, interfaceName } from "~/shared/availability";
import { Found } from "~/shared/fallback";
import { formatCount } from "~/util/format";
import { groupsFor, useBus } from "./bus";
import { Note, useData, type WidgetProps } from "./frame";
import { Settings } from "./settings";
import { SmallTable } from "./small-table";
import { texts } from "./texts";

/** Hosts that are counted. */
const HOSTS_MAX = 10_000;
/** `interface_type` of active checks; the others are the types of interfaces. */
const ACTIVE = "5";
const TYPES = ["1", ACTIVE, "2", "4", "3"];

export interface Tally {
  available: number;
  unavailable: number;
  mixed: number;
  unknown: number;
  total: number;
}

/** Availability of hosts by the kind of interface. A host whose interfaces of a kind differ is mixed. */
export function tallyOf(hosts: readonly ReachableHost[], types: readonly string[]): Tally {
  const tally: Tally = { available: 0, unavailable: 0, mixed: 0, unknown: 0, total: 0 };
  for (const host of hosts) {
    const states = [
      ...host.interfaces
        .filter(({ type }) => types.includes(type))
        .map(({ available = "0" }) => available),
      ...(types.includes(ACTIVE) && host.active_available !== "0" ? [host.active_available] : []),
    ];
    if (states.length === 0) continue;
    tally.total++;
    const all = combined(states);
    if (states.includes("2") && states.includes("1")) tally.mixed++;
    else if (all === "2") tally.unavailable++;
    else if (all === "1" && !states.includes("0")) tally.available++;
    else tally.unknown++;
  }
  return tally;
}

const NAMES = (type: string) => (type === ACTIVE ? texts.activeChecks : interfaceName(type));

/** *Host availability*: how many hosts respond, by the kind of interface. */
export function HostAvailability({ widget }: WidgetProps) {
  const bus = useBus();
  const settings = Settings.of(widget);
  const query = useData(
    reachableHostsQuery({
      hostids: bus.pageHost ? [bus.pageHost] : [],
      groupids: bus.pageHost ? [] : groupsFor(bus, widget),
      status: "0",
      withoutMaintenance: !settings.flag("maintenance"),
      limit: HOSTS_MAX,
    }),
  );
  const chosen = settings.list("interface_type");
  const types = chosen.length > 0 ? TYPES.filter((type) => chosen.includes(type)) : TYPES;
  return (
    <Found query={query} gone={null}>
      {(hosts) => {
        if (hosts.length === 0) return <Note>{texts.noHostsFound}</Note>;
        const rows = settings.flag("only_totals")
          ? []
          : types.map((type) => ({ id: type, name: NAMES(type), tally: tallyOf(hosts, [type]) }));
        const all = [{ id: "all", name: texts.total, tally: tallyOf(hosts, types) }, ...rows];
        return (
          <SmallTable
            label={widget.name || texts.hosts}
            head={["", texts.available, texts.unavailable, texts.mixed, texts.unknown, texts.total]}
            numbersFrom={1}
            rows={all.map(({ id, name, tally }) => ({
              id,
              cells: [
                name,
                <span key="a" className={tally.available > 0 ? "text-good-ink" : undefined}>
                  {formatCount(tally.available)}
                </span>,
                <span
                  key="u"
                  className={tally.unavailable > 0 ? "font-medium text-bad-ink" : undefined}
                >
                  {formatCount(tally.unavailable)}
                </span>,
                formatCount(tally.mixed),
                formatCount(tally.unknown),
                formatCount(tally.total),
              ],
            }))}
          />
        );
      }}
    </Found>
  );
}
