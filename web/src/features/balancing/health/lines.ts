import type { ServerHealth } from "~/api/balancing";
import { texts } from "../texts";

export type Tone = "good" | "bad" | "off" | "warn";

/** A state in words, with its colour; what is unknown is never good. */
export interface State {
  tone: Tone;
  words: string;
}

const STATES: Readonly<Record<string, State>> = {
  up: { tone: "good", words: texts.isUp },
  down: { tone: "bad", words: texts.isDown },
  down_on_some: { tone: "bad", words: texts.downOnSome },
  not_checked: { tone: "off", words: texts.notChecked },
  drain: { tone: "warn", words: texts.draining },
  disabled: { tone: "warn", words: texts.disabled },
};
const RESULTS: Readonly<Record<string, State>> = {
  passes: { tone: "good", words: texts.passes },
  fails: { tone: "bad", words: texts.fails },
};
const EFFECTS: Readonly<Record<string, string>> = {
  drain: texts.drainingHost,
  down: texts.downHost,
};
const UNKNOWN: State = { tone: "off", words: texts.unknown };

export const stateOf = (state: string): State => STATES[state] ?? UNKNOWN;
const resultOf = (result: string): State => RESULTS[result] ?? UNKNOWN;

/** A result of a monitor, by whom it was found. */
export interface Line extends State {
  key: string;
  monitor: string;
  by: string;
  reason: string;
  /** Unix times in seconds; 0: never or not known. */
  changedAt: number;
  checkedAt: number;
}

/** What a check of the host that fails does to the server. */
function failedHost(server: ServerHealth, effect: string): string {
  if (server.host_effect_ignored) return texts.ignoredHost;
  return EFFECTS[effect] ?? texts.monitoredHost;
}

const RANK: Readonly<Record<Tone, number>> = { bad: 0, warn: 1, off: 2, good: 3 };

/** All results of a server; those that do not pass come first. */
export function linesOf(server: ServerHealth): Line[] {
  const hosts = server.host_checks.map((check) => ({
    ...resultOf(check.result),
    key: `host ${check.name}`,
    monitor: check.name,
    by: check.result === "fails" ? failedHost(server, check.effect) : texts.monitoredHost,
    reason: check.reason,
    changedAt: 0,
    checkedAt: 0,
  }));
  const engines = server.engines.flatMap((engine) =>
    engine.monitors.map((monitor) => ({
      ...resultOf(monitor.result),
      key: `${engine.engineid} ${monitor.name}`,
      monitor: monitor.name,
      by: engine.name,
      reason: monitor.reason,
      changedAt: Number(monitor.changed_at),
      checkedAt: Number(monitor.checked_at),
    })),
  );
  return [...hosts, ...engines].sort((one, other) => RANK[one.tone] - RANK[other.tone]);
}
