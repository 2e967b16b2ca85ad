import { formatUnits } from "./format";

/** One thing that can run out, as `capacity.get` tells it. */
export interface Resource {
  name: string;
  units: string;
  used: number;
  limit: number | null;
  source: "machine" | "configured" | "measured" | "estimated" | null;
  /** By how much it fills per second though the load stays the same; null = not known. */
  growth: number | null;
  /** Running out makes senders wait or costs speed, and breaks nothing. */
  soft: boolean;
}

/** What `vedette bench capacity` found; times in unix seconds, CPU seconds per million. */
export interface Measured {
  at: number;
  version: string;
  cores: number;
  values_per_s: number;
  values_cpu_s: number;
  checks_per_s: number;
  checks_cpu_s: number;
}

export interface Capacity {
  cores: number;
  measured: Measured | null;
  resources: Resource[];
  /** Name of what runs out first as the load grows. */
  first: string | null;
}

/** Title, and what it means to reach the limit. */
const WORDS: Readonly<Record<string, readonly [title: string, meaning: string]>> = {
  values: ["New values", "Senders wait. No values are lost, but graphs lag behind."],
  checks: ["Passive checks", "Checks are delayed and the queue grows."],
  shards: ["Busiest shard", "Senders wait. No values are lost, but graphs lag behind."],
  pollers: ["Poller threads", "Checks are delayed and the queue grows."],
  cpu: ["Processor", "Everything on this machine gets slower."],
  memory: ["Memory", "The operating system kills the largest process, probably this server."],
  disk: ["Disk", "History refuses values until space is free. Senders keep them."],
  files: ["Open files and sockets", "New connections and checks are refused."],
  value_queue: ["Queue before the shards", "Senders wait briefly. This queue absorbs bursts."],
  value_cache: ["Value cache", "Triggers over long periods read history from disk."],
  connections: ["Trapper connections", "New senders wait until other connections end."],
};

export function wordsOf(resource: Resource): readonly [title: string, meaning: string] {
  return WORDS[resource.name] ?? [resource.name, ""];
}

const SOURCES = {
  machine: "of this machine",
  configured: "built in or configured",
  measured: "measured on this machine",
  estimated: "estimated from the current load",
} as const;

export function sourceText(resource: Resource): string {
  return resource.source ? SOURCES[resource.source] : "unknown";
}

/** Used part of the limit in per cent; `null` while the limit is unknown. */
export function usedPercent({ used, limit }: Resource): number | null {
  return limit === null || limit <= 0 ? null : (used / limit) * 100;
}

/** How many times the present load fits: "2.4 ×". */
export function headroom(resource: Resource): string {
  const percent = usedPercent(resource);
  if (percent === null) return "–";
  if (percent <= 0.1) return "over 1000 ×";
  const times = 100 / percent;
  return `${times >= 10 ? Math.round(times) : times.toFixed(1)} ×`;
}

/** A figure in the units of its resource. */
export function figure(value: number, { units }: Resource): string {
  if (units === "%") return `${value.toFixed(1)} %`;
  if (units === "/s") return `${formatUnits(value < 10 ? value : Math.round(value), "")}/s`;
  return formatUnits(value, units);
}

/** What is used most first; what is unknown after that, soft limits last. */
export function byUrgency(resources: readonly Resource[]): Resource[] {
  const rank = (resource: Resource) => (resource.soft ? 2 : usedPercent(resource) === null ? 1 : 0);
  return [...resources].sort(
    (a, b) => rank(a) - rank(b) || (usedPercent(b) ?? 0) - (usedPercent(a) ?? 0),
  );
}

/** When it will be full: "in 12 days"; over a year says nothing that will stay true. */
export function fullIn({ used, limit, growth }: Resource): string | null {
  if (growth === null || growth <= 0 || limit === null) return null;
  const seconds = (limit - used) / growth;
  if (seconds > 366 * 86_400) return null;
  const days = Math.floor(seconds / 86_400);
  if (days >= 2) return `in ${days} days`;
  const hours = Math.floor(seconds / 3600);
  return hours >= 2 ? `in ${hours} hours` : "within two hours";
}
