import { LENGTH_MIN_S } from "./maintenance";
import type { Tag } from "./tags";

/** What is silenced: hosts, or those of their problems that carry some tags. */
export interface SilenceTarget {
  hosts: readonly { hostid: string; name: string }[];
  /** The problem that it is about; without it the hosts as a whole. */
  problem?: { name: string; tags: readonly Tag[] };
}

const NAME_MAX = 128;
/** The begin of the name of every silence. */
const PREFIX = "Silenced by ";
/** Clocks of browsers differ from the server's: its limits lie this far around the silence. */
const SLACK_S = 3600;

/** Whether a maintenance was made by silencing something, and so may be ended by a click. */
export function isSilence(name: string): boolean {
  return name.startsWith(PREFIX);
}

/** Its name; `again` counts from 2, where the same name silences something else. */
export function silenceName(target: SilenceTarget, username: string, again = 1): string {
  const hosts = target.hosts.map((host) => host.name).join(", ");
  const what = target.problem?.tags.length ? `${target.problem.name} on ${hosts}` : `host ${hosts}`;
  const end = again > 1 ? ` (${again})` : "";
  const name = [...`${PREFIX}${username}: ${what}`];
  const room = NAME_MAX - end.length;
  return (name.length > room ? `${name.slice(0, room - 1).join("")}…` : name.join("")) + end;
}

/** The end of a silence of some minutes, on a whole minute. */
export function silenceEnd(minutes: number, now: number): number {
  return Math.ceil((now + minutes * 60) / 60) * 60;
}

/** Tomorrow at this hour, on the wall. */
export function tomorrowAt(hour: number, now: number): number {
  const d = new Date(now * 1000);
  return new Date(d.getFullYear(), d.getMonth(), d.getDate() + 1, hour).getTime() / 1000;
}

/** Problem tags as a maintenance takes them, each once. */
export function silenceTags(target: SilenceTarget): { tag: string; value: string; operator: 0 }[] {
  const seen = new Map(target.problem?.tags.map((tag) => [JSON.stringify(tag), tag]));
  return [...seen.values()].map(({ tag, value }) => ({ tag, value, operator: 0 }));
}

/**
 * Members of a maintenance with data collection that starts at once. The start is left to the
 * server's clock; only the length is counted by this one.
 */
export function silenceParams(target: SilenceTarget, until: number, now: number) {
  const start = now - (now % 60);
  return {
    maintenance_type: 0,
    active_since: start - SLACK_S,
    active_till: until + SLACK_S,
    hosts: target.hosts.map(({ hostid }) => ({ hostid })),
    groups: [],
    tags: silenceTags(target),
    tags_evaltype: 0,
    timeperiods: [{ timeperiod_type: 0, period: Math.max(LENGTH_MIN_S, until - start) }],
  } as const;
}
