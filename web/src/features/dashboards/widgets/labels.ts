import { formatNumber, formatUnits, formatValue, isNumeric, type Mapping } from "~/util/format";

/** What labels can show of an item. */
export interface Labelled {
  name: string;
  key_: string;
  value_type: string;
  units: string;
  lastvalue: string;
  /** "0": no value yet. */
  lastclock: string;
  hosts: readonly { name: string; host?: string }[];
  mappings?: readonly Mapping[];
}

/** How a value is written. */
export interface ValueLook {
  /** Digits after the point; undefined: as everywhere else. */
  decimals?: number;
  /** In place of the units of the item. */
  units?: string;
  /** The units are hidden. */
  bare?: boolean;
}

/** A number and its units apart, so that a widget can draw them in different sizes. */
export interface Written {
  value: string;
  units: string;
}

const UNSCALED = new Set(["%", "ms", "rpm", "RPM", ""]);
const PREFIXES = ["", "K", "M", "G", "T", "P", "E", "Z", "Y"];

function fixed(value: number, decimals: number): string {
  // Zabbix drops zeros at the end.
  const text = value.toFixed(Math.min(decimals, 10));
  return text.includes(".") ? text.replace(/\.?0+$/, "") : text;
}

/** A number in its units, with so many digits after the point. */
export function writeNumber(value: number, units: string, look: ValueLook = {}): Written {
  const own = look.units || units;
  if (look.decimals === undefined || ["s", "uptime", "unixtime"].includes(own)) {
    if (look.bare) return { value: formatNumber(value), units: "" };
    const text = formatUnits(value, own);
    const at = text.lastIndexOf(" ");
    const parts = ["s", "uptime", "unixtime"].includes(own) || at < 0;
    return parts
      ? { value: text, units: "" }
      : { value: text.slice(0, at), units: text.slice(at + 1) };
  }
  const plain = own.startsWith("!") ? own.slice(1) : own;
  if (own.startsWith("!") || UNSCALED.has(own)) {
    return { value: fixed(value, look.decimals), units: look.bare ? "" : plain };
  }
  const base = own === "B" || own === "Bps" ? 1024 : 1000;
  let power = 0;
  let scaled = value;
  while (Math.abs(scaled) >= base && power < PREFIXES.length - 1) {
    scaled /= base;
    power++;
  }
  return {
    value: fixed(scaled, look.decimals),
    units: `${PREFIXES[power]}${look.bare ? "" : plain}`,
  };
}

/** The newest value of an item as a widget writes it. Null: the item has no value. */
export function writeValue(item: Labelled, look: ValueLook = {}): Written | null {
  if (item.lastclock === "0") return null;
  const number = Number(item.lastvalue);
  const mapped = item.mappings?.length
    ? formatValue(item.lastvalue, { ...item, mappings: item.mappings })
    : item.lastvalue;
  if (mapped !== item.lastvalue || !isNumeric(item.value_type) || !Number.isFinite(number)) {
    return { value: mapped, units: "" };
  }
  return writeNumber(number, item.units, look);
}

export const inOne = ({ value, units }: Written) => (units ? `${value} ${units}` : value);

const host = (item: Labelled) => item.hosts[0];

function macro(name: string, item: Labelled): string | undefined {
  switch (name) {
    case "ITEM.NAME":
      return item.name;
    case "ITEM.KEY":
      return item.key_;
    case "HOST.NAME":
      return host(item)?.name;
    case "HOST.HOST":
      return host(item)?.host ?? host(item)?.name;
    case "ITEM.LASTVALUE":
    case "ITEM.VALUE": {
      const written = writeValue(item);
      return written ? inOne(written) : undefined;
    }
    default:
      return undefined;
  }
}

/** Arguments in quotes, or up to a comma. */
function parameters(text: string): string[] {
  const found = text.matchAll(/\s*(?:"((?:\\.|[^"\\])*)"|([^,]*))\s*(?:,|$)/g);
  return [...found]
    .map(([, quoted, plain]) =>
      quoted === undefined ? (plain ?? "") : quoted.replaceAll('\\"', '"'),
    )
    .slice(0, 2);
}

/** `regsub` of Zabbix: the text of the second argument with `\1` for groups; no match gives nothing. */
function substitute(value: string, args: readonly string[], flags: string): string {
  const [pattern = "", output = ""] = args;
  try {
    const groups = new RegExp(pattern, flags).exec(value);
    if (!groups) return "";
    return output.replace(/\\(\d)/g, (_, n) => groups[Number(n)] ?? "");
  } catch {
    return value;
  }
}

function apply(value: string, item: Labelled, name: string, call: string, args: string): string {
  const given = parameters(args);
  switch (call) {
    case "regsub":
      return substitute(value, given, "");
    case "iregsub":
      return substitute(value, given, "i");
    case "fmtnum": {
      const number = Number(name.startsWith("ITEM.") ? item.lastvalue : value);
      return Number.isFinite(number) ? number.toFixed(Math.min(20, Number(given[0]) || 0)) : value;
    }
    default:
      return value;
  }
}

const MACRO = /\{\{([A-Z.]+)\d?\}\.(\w+)\(((?:"(?:\\.|[^"\\])*"|[^")])*)\)\}|\{([A-Z.]+)\d?\}/g;

/** A label with the macros of its item in place. Macros that are unknown here stay as they are. */
export function expandLabel(label: string, item: Labelled): string {
  return label.replace(MACRO, (whole, inner, call, args, plain) => {
    const name = inner ?? plain;
    const value = macro(name, item);
    if (value === undefined) return name.startsWith("ITEM.") ? "*UNKNOWN*" : whole;
    return inner ? apply(value, item, name, call, args ?? "") : value;
  });
}
