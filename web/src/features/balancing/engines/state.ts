import type { Engine } from "~/api/engines";
import { formatAgo, formatClock } from "~/util/time";
import { rollouts, states as words } from "./texts";

type Tone = "good" | "warn" | "bad" | "off";

/** Something about an engine; only what is known to be right is "good". */
interface Judged {
  tone: Tone;
  words: string;
}

/** What an engine does about the current configuration. */
export type Progress = "current" | "waiting" | "refused" | "away";

export interface EngineState {
  progress: Progress;
  connection: Judged;
  configuration: Judged;
}

/** Connected engines report at least every 15 s; the server ends silent connections after 30 s. */
const SILENT_S = 30;

type Reported = Pick<
  Engine,
  "lastaccess" | "address" | "running_hash" | "desired_hash" | "error" | "enrolment_expires_at"
>;

function neverConnected(engine: Reported, now: number): EngineState {
  const until = Number(engine.enrolment_expires_at);
  const why =
    until === 0
      ? words.neverNoToken
      : until > now
        ? words.neverToken(formatClock(until, "minute"))
        : words.neverExpired;
  return {
    progress: "away",
    connection: { tone: "off", words: why },
    configuration: { tone: "off", words: words.unknown },
  };
}

function connectedState(engine: Reported): Judged & { progress: Progress } {
  if (engine.error) {
    return { progress: "refused", tone: "bad", words: words.refused(engine.error) };
  }
  if (engine.running_hash === "") return { progress: "waiting", tone: "warn", words: words.none };
  if (engine.running_hash !== engine.desired_hash) {
    return { progress: "waiting", tone: "warn", words: words.older };
  }
  return { progress: "current", tone: "good", words: words.current };
}

/** What the last report said of the configuration; the engine may have changed since. */
function lastKnown(engine: Reported): Judged {
  if (engine.error) return { tone: "bad", words: words.wasRefused(engine.error) };
  return engine.running_hash === engine.desired_hash
    ? { tone: "off", words: words.wasCurrent }
    : { tone: "warn", words: words.wasOlder };
}

/** An engine in sentences. `now`: Unix seconds of the server. */
export function engineState(engine: Reported, now: number): EngineState {
  const last = Number(engine.lastaccess);
  if (last === 0) return neverConnected(engine, now);
  const ago = formatAgo(last, now);
  if (now - last > SILENT_S) {
    return {
      progress: "away",
      connection: { tone: "bad", words: words.from(words.gone(ago), engine.address) },
      configuration: lastKnown(engine),
    };
  }
  const { progress, ...configuration } = connectedState(engine);
  return {
    progress,
    connection: { tone: "good", words: words.from(words.connected(ago), engine.address) },
    configuration,
  };
}

const ONE: Record<Progress, Judged> = {
  current: { tone: "good", words: rollouts.one },
  waiting: { tone: "warn", words: rollouts.oneWaits },
  refused: { tone: "bad", words: rollouts.oneRefuses },
  away: { tone: "bad", words: rollouts.oneAway },
};

/** How far the current configuration has come among the engines of a group. */
export function rollout(engines: readonly Reported[], now: number): Judged {
  const all = engines.map((engine) => engineState(engine, now).progress);
  const count = (progress: Progress) => all.filter((one) => one === progress).length;
  const [first] = all;
  if (first === undefined) return { tone: "warn", words: rollouts.nobody };
  if (all.length === 1) return ONE[first];
  const current = count("current");
  if (current === all.length) return { tone: "good", words: rollouts.all(all.length) };
  const others = (
    [
      ["refused", rollouts.refuse],
      ["waiting", rollouts.wait],
      ["away", rollouts.away],
    ] as const
  ).flatMap(([progress, words]) => (count(progress) > 0 ? [words(count(progress))] : []));
  const tone = count("refused") > 0 || count("away") === all.length ? "bad" : "warn";
  return { tone, words: `${rollouts.some(current, all.length)}: ${others.join(", ")}.` };
}
