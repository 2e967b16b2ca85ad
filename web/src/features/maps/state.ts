import type { Facts } from "~/api/map-facts";
import type { MapElement, MapLink } from "~/api/maps";
import { MapElementType } from "~/api/schema";
import { countsInWords, type HostTone, worstOf } from "~/util/host-state";
import { highest, toSeverity } from "~/util/severity";
import { texts } from "./texts";

/** The state of an element. `null`: it has none. Unknown is "off", never "good". */
export interface ElementState {
  tone: HostTone | null;
  words: string;
}

const OFF = (words: string): ElementState => ({ tone: "off", words });

function ofHosts(hostids: readonly string[], facts: Facts): ElementState {
  const monitored = hostids.filter((id) => facts.hosts.get(id)?.monitored);
  if (monitored.length === 0) return OFF(hostids.length === 0 ? texts.noHosts : texts.unknown);
  const counts = [0, 0, 0, 0, 0, 0];
  let known = true;
  for (const id of monitored) {
    const state = facts.states.get(id);
    known &&= state?.data === true;
    for (const [severity, count] of (state?.problems ?? []).entries())
      counts[severity] = (counts[severity] ?? 0) + count;
  }
  const worst = worstOf(counts);
  if (worst !== null) return { tone: worst, words: countsInWords(counts) };
  return known ? { tone: "good", words: texts.noProblems } : OFF(texts.unknown);
}

function ofTriggers(triggerids: readonly string[], facts: Facts): ElementState {
  const triggers = triggerids.map((id) => facts.triggers.get(id));
  const open = triggers.filter((trigger) => trigger?.problem);
  if (open.length > 0) {
    const tone = highest(open.map((one) => toSeverity(one?.priority))) ?? 0;
    const words = open.length === 1 ? (open[0]?.description ?? "") : texts.more(open.length);
    return { tone, words };
  }
  const hosts = triggers.flatMap((trigger) => trigger?.hostids ?? []);
  const fresh = hosts.every((id) => facts.states.get(id)?.data);
  const known = triggers.length > 0 && fresh && triggers.every((trigger) => trigger?.known);
  return known ? { tone: "good", words: texts.noProblems } : OFF(texts.unknown);
}

const idsOf = (element: MapElement, key: keyof MapElement["elements"][number]) =>
  element.elements.flatMap((one) => one[key] ?? []);

/** The state of an element, from what the user may see of it. */
export function stateOf(element: MapElement, facts: Facts): ElementState {
  if (element.elementtype === MapElementType.Image) return { tone: null, words: "" };
  if (element.permission === 0) return OFF(texts.notVisible);
  switch (element.elementtype) {
    case MapElementType.Host:
      return ofHosts(idsOf(element, "hostid"), facts);
    case MapElementType.HostGroup: {
      const groups = new Set(idsOf(element, "groupid"));
      const members = [...facts.hosts].filter(([, host]) =>
        host.groupids.some((id) => groups.has(id)),
      );
      return ofHosts(
        members.map(([id]) => id),
        facts,
      );
    }
    case MapElementType.Trigger:
      return ofTriggers(idsOf(element, "triggerid"), facts);
    default:
      return OFF(texts.openMap);
  }
}

/** The name of what an element shows. */
export function nameOf(element: MapElement, facts: Facts): string {
  const one = element.elements[0] ?? {};
  const name =
    facts.hosts.get(one.hostid ?? "")?.name ??
    facts.groups.get(one.groupid ?? "") ??
    facts.triggers.get(one.triggerid ?? "")?.description ??
    facts.maps.get(one.sysmapid ?? "");
  return name ?? element.label;
}

/** The look of a link: that of its trigger with the most severe problem, otherwise its own. */
export function lookOf(link: MapLink, facts: Facts): { color: string; drawtype: string } {
  let worst: { color: string; drawtype: string } | null = null;
  let severity = -1;
  for (const one of link.linktriggers) {
    const trigger = facts.triggers.get(one.triggerid);
    if (!trigger?.problem || Number(trigger.priority) <= severity) continue;
    severity = Number(trigger.priority);
    worst = one;
  }
  return worst ?? link;
}
