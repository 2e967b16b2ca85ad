import type { LineLook } from "~/charts/palette";
import { AGGREGATES, type Aggregate } from "~/util/aggregates";
import { sourceOf } from "./bus";
import { isWild } from "./patterns";
import type { Settings } from "./settings";

/** `missingdatafunc` of a data set. */
const MISSING = ["gap", "joined", "zero", "last"] as const;
/** `approximation` of a data set: which value of many a point shows. */
const APPROXIMATIONS: Record<string, Approximation> = {
  "1": "min",
  "2": "avg",
  "4": "max",
  "7": "all",
};
const SHAPES = [undefined, "points", "stairs", "bars"] as const;
/** `dataset_type`: items one by one; otherwise patterns. */
const ITEMS = "0";
/** `aggregate_grouping`: all items of the data set are one line. */
const BY_DATA_SET = "1";

export type Approximation = "min" | "avg" | "max" | "all";

/** How the lines of a data set are made and drawn. */
export interface LineStyle {
  look: LineLook;
  missing: (typeof MISSING)[number];
  stacked: boolean;
  /** A time such as `-1d`, by which the values are older. */
  shift: string;
  aggregate?: Aggregate;
  /** Seconds of a step of the aggregation. */
  every: number;
  together: boolean;
  approximation: Approximation;
}

/** An item of a data set: its id, or the reference of the widget that selects it. */
export interface ChosenItem {
  itemid?: string;
  reference?: string;
  color?: string;
  /** Of a pie: 1 is the total. */
  isTotal: boolean;
}

export interface DataSet extends LineStyle {
  /** Patterns of names; or `items`. */
  hosts: readonly string[];
  names: readonly string[];
  items: readonly ChosenItem[];
  label: string;
  /** Reference of the widget whose host replaces `hosts`. */
  override?: string;
}

const SECONDS: Record<string, number> = { s: 1, m: 60, h: 3600, d: 86_400, w: 604_800 };

/** Seconds of `30m`, `1h`; the default if it cannot be read. */
export function secondsOf(text: string, otherwise: number): number {
  const [, digits, unit = ""] = /^(\d+)([smhdw]?)$/.exec(text) ?? [];
  return digits ? Math.max(1, Number(digits) * (SECONDS[unit] ?? 1)) : otherwise;
}

function styleOf(part: Settings): LineStyle {
  const aggregate = AGGREGATES[part.number("aggregate_function", 0)];
  const shape = SHAPES[part.number("type", 0)];
  // Numbers from 0 to 10; lines cannot be transparent here, areas are.
  const opacity = 1 - part.number("transparency", 5) / 10;
  const isArea = shape === undefined || shape === "stairs";
  return {
    look: {
      shape,
      color: part.color("color"),
      width: part.number("width", 1) || 1.5,
      point: part.number("pointsize", 3) + 2,
      fill:
        shape === "bars"
          ? Math.max(0.15, opacity)
          : isArea
            ? (part.number("fill", 3) / 10) * opacity
            : 0,
      right: part.flag("axisy"),
    },
    missing: MISSING[part.number("missingdatafunc", 0)] ?? "gap",
    stacked: part.flag("stacked"),
    shift: part.text("timeshift"),
    aggregate,
    every: secondsOf(part.text("aggregate_interval", "1h"), 3600),
    together: aggregate !== undefined && part.text("aggregate_grouping") === BY_DATA_SET,
    approximation: APPROXIMATIONS[part.text("approximation", "2")] ?? "avg",
  };
}

/** The data sets of a graph or pie. */
export function dataSetsOf(settings: Settings): DataSet[] {
  return settings.parts("ds").map((part) => {
    const isItems = part.text("dataset_type", "1") === ITEMS;
    const colors = part.list("color").map((color) => `#${color}`);
    const references = part.parts("itemids").map((item) => item.text("_reference"));
    const ids = part.list("itemids");
    const types = part.list("type");
    const chosen = ids.map((itemid): Omit<ChosenItem, "isTotal" | "color"> => ({ itemid }));
    for (const text of references) {
      const source = sourceOf(text);
      if (source) chosen.push({ reference: source.reference });
    }
    return {
      ...styleOf(part),
      hosts: isItems ? [] : part.list("hosts"),
      names: isItems ? [] : part.list("items"),
      items: isItems
        ? chosen.map((item, n) => ({
            ...item,
            color: colors[n] ?? colors[0],
            isTotal: types[n] === "1",
          }))
        : [],
      label: part.text("data_set_label"),
      override: sourceOf(part.text("override_hostid._reference"))?.reference,
    };
  });
}

/** Settings that replace those of the data set for some of its items. */
export interface Override {
  hosts: readonly string[];
  names: readonly string[];
  part: Settings;
}

export const overridesOf = (settings: Settings): Override[] =>
  settings
    .parts("or")
    .map((part) => ({ hosts: part.list("hosts"), names: part.list("items"), part }));

const matchesAny = (patterns: readonly string[], text: string) =>
  patterns.length === 0 || patterns.some((pattern) => isWild(pattern, text));

/** The style of an item after the overrides that select it; later ones win. */
export function overridden(
  style: LineStyle,
  overrides: readonly Override[],
  host: string,
  name: string,
): LineStyle {
  let result = style;
  for (const { hosts, names, part } of overrides) {
    if (!matchesAny(hosts, host) || !matchesAny(names, name)) continue;
    const color = part.color("color");
    const fill = part.maybe("fill");
    const width = part.maybe("width");
    const side = part.text("axisy");
    result = {
      ...result,
      shift: part.text("timeshift", result.shift),
      missing: MISSING[part.number("missingdatafunc", MISSING.indexOf(result.missing))] ?? "gap",
      look: {
        ...result.look,
        ...(color && { color }),
        ...(width !== undefined && { width: width || 1.5 }),
        ...(fill !== undefined && {
          fill: (fill / 10) * (1 - part.number("transparency", 5) / 10),
        }),
        ...(side !== "" && { right: side === "1" }),
        ...(part.text("type") !== "" && { shape: SHAPES[part.number("type", 0)] }),
      },
    };
  }
  return result;
}
