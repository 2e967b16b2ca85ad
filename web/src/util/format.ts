import { MappingType, ValueType } from "~/api/schema";
import { formatClock, formatDuration } from "./time";

const PREFIXES = ["", "K", "M", "G", "T", "P", "E", "Z", "Y"];
/** Units that never get a prefix in Zabbix's dialect. */
const PLAIN_UNITS = new Set(["%", "ms", "rpm", "RPM"]);

/** A row of a value map. `type`: 0 equals, 1 at least, 2 at most, 3 in range, 4 matches, 5 default. */
export interface Mapping {
  type: string;
  value: string;
  newvalue: string;
}

function trim(value: number, digits: number): string {
  if (!Number.isFinite(value)) return String(value);
  const text = value.toFixed(digits);
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** Three or four significant figures, without useless zeros. */
export function formatNumber(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0";
  if (size >= 1e15 || size < 1e-6) return value.toExponential(2);
  if (size >= 100) return trim(value, size % 1 === 0 ? 0 : 1);
  if (size >= 1) return trim(value, 2);
  return trim(value, Math.min(8, 2 - Math.floor(Math.log10(size))));
}

function scaled(value: number, unit: string): string {
  const base = unit === "B" || unit === "Bps" ? 1024 : 1000;
  let power = 0;
  let rest = value;
  while (Math.abs(rest) >= base && power < PREFIXES.length - 1) {
    rest /= base;
    power++;
  }
  const suffix = `${PREFIXES[power]}${unit}`;
  return suffix ? `${formatNumber(rest)} ${suffix}` : formatNumber(rest);
}

function seconds(value: number): string {
  const size = Math.abs(value);
  if (size === 0) return "0 s";
  if (size < 1e-3) return `${formatNumber(value * 1e6)} µs`;
  if (size < 1) return `${formatNumber(value * 1e3)} ms`;
  if (size < 60) return `${formatNumber(value)} s`;
  return `${value < 0 ? "-" : ""}${formatDuration(size)}`;
}

/** A number with its unit, as the field writes it: `1.5 GB`, `37 %`, `2d 4h`. */
export function formatUnits(value: number, units: string): string {
  if (units === "s") return seconds(value);
  if (units === "uptime") return formatDuration(value);
  if (units === "unixtime") return value > 0 ? formatClock(value) : "never";
  if (units.startsWith("!")) return `${formatNumber(value)} ${units.slice(1)}`.trim();
  if (PLAIN_UNITS.has(units)) return `${formatNumber(value)} ${units}`;
  return scaled(value, units);
}

/** A number as it is compared: integers whole, so that 64 bits do not round; null for other texts. */
type Exact = bigint | number | null;

function exact(text: string): Exact {
  const trimmed = text.trim();
  if (/^[+-]?\d+$/.test(trimmed)) return BigInt(trimmed.replace(/^\+/, ""));
  if (trimmed === "") return null;
  const value = Number(trimmed);
  return Number.isNaN(value) ? null : value;
}

/** Inline flags of PCRE at the start of a pattern, which JavaScript takes beside it. */
function pattern(text: string): RegExp | null {
  const flags = /^\(\?([imsu]+)\)/.exec(text);
  try {
    return new RegExp(flags ? text.slice(flags[0].length) : text, flags?.[1] ?? "");
  } catch {
    return null;
  }
}

function matches(mapping: Mapping, text: string): boolean {
  const { type, value } = mapping;
  if (type === MappingType.Default) return true;
  if (type === MappingType.Regexp) return pattern(value)?.test(text) ?? false;
  if (type === MappingType.Equal && value === text) return true;
  const n = exact(text);
  if (n === null) return false;
  if (type === MappingType.InRange) return value.split(",").some((part) => inRange(part.trim(), n));
  const bound = exact(value);
  if (bound === null) return false;
  if (type === MappingType.Equal) return sameNumber(n, bound);
  return type === MappingType.AtLeast ? n >= bound : type === MappingType.AtMost && n <= bound;
}

function sameNumber(a: Exact, b: Exact): boolean {
  // bigint and number are of unlike types: == compares their mathematical values.
  // biome-ignore lint/suspicious/noDoubleEquals: see above
  return a == b;
}

function inRange(part: string, n: bigint | number): boolean {
  const bounds = /^(-?[\d.]+)-(-?[\d.]+)$/.exec(part);
  if (!bounds) return sameNumber(exact(part), n);
  const [low, high] = [exact(bounds[1] ?? ""), exact(bounds[2] ?? "")];
  return low !== null && high !== null && n >= low && n <= high;
}

/** The word a value map has for a value, or null. */
export function mapValue(mappings: readonly Mapping[], text: string): string | null {
  return mappings.find((mapping) => matches(mapping, text))?.newvalue ?? null;
}

/** What an item's value needs to be written: its type (0 float, 3 unsigned are numbers), units, map. */
export interface ValueFormat {
  value_type: string;
  units: string;
  mappings?: readonly Mapping[];
}

export function isNumeric(valueType: string): boolean {
  return valueType === ValueType.Float || valueType === ValueType.Unsigned;
}

/** A value as a person reads it: mapped, scaled, with its unit. */
export function formatValue(text: string, format: ValueFormat): string {
  const mapped = format.mappings?.length ? mapValue(format.mappings, text) : null;
  if (mapped !== null) return `${mapped} (${text})`;
  if (!isNumeric(format.value_type)) return text;
  const n = Number(text);
  return Number.isFinite(n) ? formatUnits(n, format.units) : text;
}

/** A count with thin groups: 12 345. */
export function formatCount(n: number): string {
  return n.toLocaleString("en-US").replaceAll(",", "\u202f");
}

/** `1 host`, `3 hosts`. */
export function plural(n: number, one: string, many = `${one}s`): string {
  return `${formatCount(n)} ${n === 1 ? one : many}`;
}
