import { Judged } from "../engines/lines";
import { type EngineSeen, type EngineStatus, type GroupSeen, isShort, type Tone } from "./seen";
import { sums as texts } from "./texts";

interface Said {
  tone: Tone;
  words: string;
}

/** How well the VIPs of a group are served. */
export function vipSum({ vips }: GroupSeen, stale: boolean): Said {
  if (vips.length === 0) return { tone: "off", words: texts.noVips };
  if (stale) return { tone: "off", words: texts.unknownNow };
  const short = vips.filter(isShort).length;
  if (short === 0) return { tone: "good", words: texts.allServed(vips.length) };
  const unserved = vips.filter((vip) => vip.tone === "bad").length;
  const words = texts.short(short, vips.length);
  if (unserved === 0) return { tone: "warn", words: `${words}.` };
  return { tone: "bad", words: `${words}, ${texts.unserved(unserved)}.` };
}

const OTHERS = [
  ["down", texts.down],
  ["draining", texts.draining],
  ["waiting", texts.waiting],
  ["unknown", texts.unknown],
] as const satisfies readonly (readonly [EngineStatus, (count: number) => string])[];

/** How many engines of a group are up, and what the others do. */
export function engineSum({ engines }: GroupSeen, stale: boolean): Said {
  if (engines.length === 0) return { tone: "bad", words: texts.noEngines };
  const count = (status: EngineStatus) =>
    engines.filter((engine: EngineSeen) => engine.status === status).length;
  const up = count("up");
  const others = OTHERS.flatMap(([status, words]) =>
    count(status) > 0 ? [words(count(status))] : [],
  );
  const words = texts.enginesUp(up, engines.length);
  if (others.length === 0) return { tone: "good", words: `${words}.` };
  const tone = stale ? "off" : up === 0 ? "bad" : "warn";
  return { tone, words: `${words}: ${others.join(", ")}.` };
}

/** The state of a group in two sentences. */
export function Summary({ seen, stale }: { seen: GroupSeen; stale: boolean }) {
  return (
    <div aria-live="polite" className="flex flex-wrap gap-x-6 gap-y-1 pb-3 text-sm">
      <Judged {...vipSum(seen, stale)} />
      <Judged {...engineSum(seen, stale)} />
    </div>
  );
}
