import type { Facts, GroupFacts } from "~/api/map-facts";
import type { MapElement, MapLink } from "~/api/maps";
import { MapElementType } from "~/api/schema";
import { countsInWords, type HostTone, toneOf, worstOf } from "~/util/host-state";
import { highest, toSeverity } from "~/util/severity";
import { texts } from "./texts";

/** The state of an element. `null`: it has none. Unknown is "off", never "good". */
export interface ElementState {
  tone: HostTone | null;
  words: string;
}

/** `permission` of elements that show what the user may not read. */
const DENIED = -1;

const OFF = (words: string): ElementState => ({ tone: "off", words });

function ofHost(hostid: string | undefined, facts: Facts): ElementState {
  const state = facts.states.get(hostid ?? "");
  const tone = toneOf(state, facts.hosts.get(hostid ?? "")?.monitored === true);
  if (tone === "off") return OFF(texts.unknown);
  return { tone, words: tone === "good" ? texts.noProblems : countsInWords(state?.problems ?? []) };
}

function ofGroup(group: GroupFacts | undefined): ElementState {
  if (!group) return OFF(texts.unknown);
  const worst = worstOf(group.problems);
  if (worst !== null) return { tone: worst, words: countsInWords(group.problems) };
  if (group.monitored === 0) return OFF(group.hosts === 0 ? texts.noHosts : texts.unknown);
  return group.withData === group.monitored
    ? { tone: "good", words: texts.noProblems }
    : OFF(texts.unknown);
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
  if (element.permission === DENIED) return OFF(texts.notVisible);
  switch (element.elementtype) {
    case MapElementType.Host:
      return ofHost(element.elements[0]?.hostid, facts);
    case MapElementType.HostGroup:
      return ofGroup(facts.groups.get(element.elements[0]?.groupid ?? ""));
    case MapElementType.Trigger:
      return ofTriggers(idsOf(element, "triggerid"), facts);
    default:
      return OFF(texts.openMap);
  }
}

/** The name of what an element shows. */
export function nameOf(element: Pick<MapElement, "elements" | "label">, facts: Facts): string {
  const one = element.elements[0] ?? {};
  const name =
    facts.hosts.get(one.hostid ?? "")?.name ??
    facts.groups.get(one.groupid ?? "")?.name ??
    facts.triggers.get(one.triggerid ?? "")?.description ??
    facts.maps.get(one.sysmapid ?? "");
  return name ?? element.label;
}

/** How a link is drawn. */
export interface LinkLook {
  /** Of CSS. */
  color: string;
  drawtype: string;
  /** The state of its triggers; empty without triggers. */
  words: string;
}

/**
 * The look of a link: that of its trigger with the most severe problem, otherwise its own. It is grey
 * while the state of a trigger is unknown.
 */
export function lookOf(link: MapLink, facts: Facts): LinkLook {
  const own = { color: `#${link.color}`, drawtype: link.drawtype };
  const indicators = link.linktriggers;
  if (indicators.length === 0) return { ...own, words: "" };
  const { tone, words } = ofTriggers(
    indicators.map(({ triggerid }) => triggerid),
    facts,
  );
  if (tone === "off") return { ...own, color: "var(--line-strong)", words };
  const worst = indicators.find(({ triggerid }) => {
    const trigger = facts.triggers.get(triggerid);
    return trigger?.problem && toSeverity(trigger.priority) === tone;
  });
  return worst ? { color: `#${worst.color}`, drawtype: worst.drawtype, words } : { ...own, words };
}
