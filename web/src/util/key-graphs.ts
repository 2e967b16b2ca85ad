import { State, ValueType } from "~/api/schema";

/** What choosing needs to know of an item. */
export interface GraphableItem {
  itemid: string;
  name: string;
  key_: string;
  value_type: string;
  units: string;
  lastclock: string;
  state: string;
}

export interface KeyGraph<I extends GraphableItem> {
  title: string;
  items: I[];
}

interface Rule {
  title: string;
  keys: RegExp;
  /** No more lines than these. */
  max?: number;
  /** One graph per captured group (an interface, a device). */
  each?: boolean;
}

/** What a person looks at first, in that order. Keys of agents, of SNMP templates and of Vedette itself. */
const RULES: readonly Rule[] = [
  { title: "CPU utilization", keys: /^system\.cpu\.util$/ },
  { title: "CPU by kind", keys: /^system\.cpu\.util\[,(user|system|iowait|steal|softirq)\]$/ },
  { title: "Load average", keys: /^system\.cpu\.load\[.*\]$/, max: 3 },
  {
    title: "Memory",
    keys: /^vm\.memory\.(util|utilization)$|^vm\.memory\.size\[p(used|available)\]$/,
    max: 2,
  },
  { title: "Memory size", keys: /^vm\.memory\.size\[(available|used|total)\]$/, max: 3 },
  { title: "File systems, space used", keys: /^vfs\.fs\.(dependent\.)?size\[.*,pused\]$/, max: 6 },
  { title: "Traffic", keys: /^net\.if\.(?:in|out)\["?([^",\]]+)"?(?:,bytes)?\]$/, each: true },
  { title: "Disk", keys: /^vfs\.dev\.(?:read|write)\.rate\[([^\]]+)\]$/, each: true },
  { title: "Disk utilization", keys: /^vfs\.dev\.util\[.*\]$/, max: 6 },
  {
    title: "New values per second",
    keys: /^zabbix\[wcache,values\]$|^zabbix\[vps,written\]$/,
    max: 2,
  },
  { title: "Queue", keys: /^zabbix\[queue(,10m)?\]$/ },
  { title: "Processes", keys: /^proc\.num(\[.*,run\]|\[\])?$/, max: 2 },
  { title: "Swap", keys: /^system\.swap\.size\[,pfree\]$/ },
  { title: "Response", keys: /^(icmppingsec|net\.tcp\.service\.perf)/, max: 4 },
];

/** The built-in loopback and virtual interfaces say little. */
const DULL = /^(lo|veth|docker|br-|virbr|tun|dummy)/;

function perCapture<I extends GraphableItem>(rule: Rule, items: I[]): KeyGraph<I>[] {
  const groups = new Map<string, I[]>();
  for (const item of items) {
    const name = rule.keys.exec(item.key_)?.[1] ?? "";
    if (DULL.test(name)) continue;
    groups.set(name, [...(groups.get(name) ?? []), item]);
  }
  return [...groups]
    .slice(0, 2)
    .map(([name, own]) => ({ title: `${rule.title} ${name}`, items: own.slice(0, 2) }));
}

/** Only lines with one unit share an axis honestly: keeps the first item's. */
function sameUnits<I extends GraphableItem>(items: I[]): I[] {
  return items.filter((item) => item.units === items[0]?.units);
}

/**
 * The graphs that say most about a host, chosen by the keys of its items; where none is known, the
 * first numbers that have values.
 */
export function keyGraphs<I extends GraphableItem>(items: readonly I[], max = 6): KeyGraph<I>[] {
  const usable = items.filter(
    (item) =>
      (item.value_type === ValueType.Float || item.value_type === ValueType.Unsigned) &&
      item.state === State.Normal &&
      item.lastclock !== "0" &&
      item.units !== "unixtime" &&
      item.units !== "uptime",
  );
  const graphs: KeyGraph<I>[] = [];
  for (const rule of RULES) {
    const matching = usable.filter((item) => rule.keys.test(item.key_));
    if (matching.length === 0) continue;
    if (rule.each) graphs.push(...perCapture(rule, matching));
    else graphs.push({ title: rule.title, items: sameUnits(matching).slice(0, rule.max ?? 5) });
  }
  if (graphs.length === 0) {
    for (const item of usable.slice(0, max)) graphs.push({ title: item.name, items: [item] });
  }
  return graphs.slice(0, max);
}
