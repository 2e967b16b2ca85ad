// What the form of a widget edits: a table of settings for each kind of widget (`kinds`).
import { FIELD_TYPE } from "~/api/dashboards";
import {
  type Fields,
  fieldValue,
  listValues,
  NUMBER_FIELD,
  referenceOf,
  rowsOf,
  TEXT_FIELD,
  withList,
  withValue,
} from "./fields";
import type { Size } from "./geometry";

export type Options = readonly (readonly [value: string, label: string])[];

/** What a widget reads from another: a member of its selection. */
export type DataType =
  | "_hostid"
  | "_hostids"
  | "_hostgroupid"
  | "_hostgroupids"
  | "_itemid"
  | "_itemids"
  | "_graphid"
  | "_mapid"
  | "_timeperiod"
  | "_eventid";

export type ObjectKind = keyof typeof FIELD_TYPE;

interface Common {
  /** The name of its fields, without the number of a list. */
  name: string;
  label: string;
  /** It counts only while another setting of the form has one of these values. */
  when?: { name: string; is: readonly string[] };
}

export interface Choice extends Common {
  kind: "choice";
  options: Options;
  initial: string;
}
interface Flag extends Common {
  kind: "flag";
  initial: boolean;
}
interface NumberSetting extends Common {
  kind: "number";
  min: number;
  max: number;
  initial: number;
}
interface TextSetting extends Common {
  kind: "text";
  initial: string;
  required: boolean;
  /** Several lines. */
  tall: boolean;
}
/** Six hexadecimal digits; "": the colour that follows from the theme. */
interface Colour extends Common {
  kind: "colour";
  /** New rows start with it. */
  initial: string;
}
interface Several extends Common {
  kind: "several";
  options: Options;
  initial: readonly string[];
}
interface Severities extends Common {
  kind: "severities";
}
/** Names with `*` for any text. */
interface Patterns extends Common {
  kind: "patterns";
  required: boolean;
}
interface Tags extends Common {
  kind: "tags";
}
export interface Objects extends Common {
  kind: "objects";
  of: ObjectKind;
  many: boolean;
  required: boolean;
  /** What the dashboard or another widget can give in place of the objects. */
  from?: DataType;
}
/** The host, from the dashboard or another widget, in place of the hosts of all other settings. */
interface Override extends Common {
  kind: "override";
  from: DataType;
}
/** From the dashboard, another widget, or its own start and end. */
interface Period extends Common {
  kind: "period";
}
export interface Rows extends Common {
  kind: "rows";
  /** What a row is. */
  word: string;
  settings: readonly Setting[];
  required: boolean;
  /** Rows refer to others by their number, which stays; the first one is 1. */
  numbered?: boolean;
}

export type Setting =
  | Choice
  | Flag
  | NumberSetting
  | TextSetting
  | Colour
  | Several
  | Severities
  | Patterns
  | Tags
  | Objects
  | Override
  | Period
  | Rows;

/** A kind of widget. */
export interface Kind {
  /** Of a new widget. */
  size: Size;
  settings: readonly Setting[];
  /** What others can read of its selection. */
  gives: readonly DataType[];
}

type More = Pick<Common, "when">;

export const choice = (
  name: string,
  label: string,
  options: Options,
  initial = options[0]?.[0] ?? "",
  more: More = {},
): Choice => ({ kind: "choice", name, label, options, initial, ...more });
export const flag = (name: string, label: string, initial = false, more: More = {}): Setting => ({
  kind: "flag",
  name,
  label,
  initial,
  ...more,
});
export const number = (
  name: string,
  label: string,
  min: number,
  max: number,
  initial: number,
  more: More = {},
): Setting => ({ kind: "number", name, label, min, max, initial, ...more });
export const text = (
  name: string,
  label: string,
  initial = "",
  more: More & { required?: boolean; tall?: boolean } = {},
): Setting => ({ kind: "text", name, label, initial, required: false, tall: false, ...more });
export const colour = (name: string, label: string, initial = "", more: More = {}): Setting => ({
  kind: "colour",
  name,
  label,
  initial,
  ...more,
});
export const several = (
  name: string,
  label: string,
  options: Options,
  initial: readonly string[],
): Setting => ({ kind: "several", name, label, options, initial });
export const severities = (more: More = {}): Setting => ({
  kind: "severities",
  name: "severities",
  label: "Severity",
  ...more,
});
export const patterns = (
  name: string,
  label: string,
  more: More & { required?: boolean } = {},
): Setting => ({ kind: "patterns", name, label, required: false, ...more });
export const objects = (
  name: string,
  label: string,
  of: ObjectKind,
  more: More & { from?: DataType; many?: boolean; required?: boolean } = {},
): Setting => ({ kind: "objects", name, label, of, many: true, required: false, ...more });
export const rows = (
  name: string,
  label: string,
  word: string,
  settings: readonly Setting[],
  required = false,
): Setting => ({ kind: "rows", name, label, word, settings, required });

/** A row of tags with the operator between name and value, and how rows are combined. */
export const tags = (name: string, label: string, evaltype: string, more: More = {}): Setting[] => [
  choice(
    evaltype,
    label,
    [
      ["0", "And/Or"],
      ["2", "Or"],
    ],
    "0",
    more,
  ),
  { kind: "tags", name, label, ...more },
];
export const OVERRIDE: Setting = {
  kind: "override",
  name: "override_hostid",
  label: "Override host",
  from: "_hostid",
};
export const PERIOD: Setting = { kind: "period", name: "time_period", label: "Time period" };
export const THRESHOLDS: Setting = rows("thresholds", "Thresholds", "threshold", [
  colour("color", "Colour", "E97659"),
  text("threshold", "From value", "", { required: true }),
]);

/** The value of a setting with one, or the one that counts without a field. */
export function settingValue(fields: Fields, setting: Setting): string {
  const value = fieldValue(fields, setting.name);
  switch (setting.kind) {
    case "flag":
      return value ?? (setting.initial ? "1" : "0");
    case "number":
      return value ?? String(setting.initial);
    case "choice":
    case "text":
      return value ?? setting.initial;
    default:
      return value ?? "";
  }
}

/** Whether a setting counts, given the others of its form. */
export function counts(setting: Setting, settings: readonly Setting[], fields: Fields): boolean {
  const { when } = setting;
  if (!when) return true;
  const decisive = settings.find(({ name }) => name === when.name);
  if (!decisive || !counts(decisive, settings, fields)) return false;
  if (decisive.kind === "several") {
    const chosen = listValues(fields, decisive.name);
    return (chosen.length > 0 ? chosen : decisive.initial).some((one) => when.is.includes(one));
  }
  return when.is.includes(settingValue(fields, decisive));
}

const LONGEST = 9;
const isWhole = (value: string) => /^-?\d+$/.test(value) && value.length <= LONGEST;

/** What is wrong with a setting; undefined: nothing. */
function problemOf(setting: Setting, fields: Fields): string | undefined {
  const { label, name } = setting;
  switch (setting.kind) {
    case "number": {
      const value = settingValue(fields, setting);
      const right = isWhole(value) && Number(value) >= setting.min && Number(value) <= setting.max;
      return right ? undefined : `${label}: enter a number from ${setting.min} to ${setting.max}.`;
    }
    case "text":
      return setting.required && settingValue(fields, setting).trim() === ""
        ? `${label}: enter a text.`
        : undefined;
    case "patterns":
      return setting.required && listValues(fields, name).length === 0
        ? `${label}: enter at least one.`
        : undefined;
    case "objects":
      return setting.required && listValues(fields, name).length === 0 && !referenceOf(fields, name)
        ? `${label}: choose one.`
        : undefined;
    case "rows": {
      const list = rowsOf(fields, name);
      if (setting.required && list.length === 0) return `${label}: add at least one.`;
      return list.map((row) => problemIn(setting.settings, row)).find(Boolean);
    }
    default:
      return undefined;
  }
}

/** The first thing that is wrong with fields; undefined: nothing. */
export const problemIn = (settings: readonly Setting[], fields: Fields): string | undefined =>
  settings
    .filter((setting) => counts(setting, settings, fields))
    .map((setting) => problemOf(setting, fields))
    .find((problem) => problem !== undefined);

const INTEGERS: readonly Setting["kind"][] = ["choice", "flag", "number", "several", "severities"];

/** The type of the fields of a setting. */
export const fieldType = (setting: Setting): string =>
  setting.kind === "objects"
    ? FIELD_TYPE[setting.of]
    : INTEGERS.includes(setting.kind)
      ? NUMBER_FIELD
      : TEXT_FIELD;

/**
 * The fields with another value of a setting. The value that counts without a field has none, except in
 * rows: a row consists of its fields.
 */
export function withSetting(
  fields: Fields,
  setting: Setting,
  value: string,
  inRow: boolean,
): Fields {
  const isUsual = value === settingValue([], setting) && !(inRow && value !== "");
  return withValue(fields, setting.name, fieldType(setting), isUsual ? undefined : value);
}

/** The fields with other values of a list; the list that counts without fields has none. */
export function withSeveral(fields: Fields, setting: Setting, values: readonly string[]): Fields {
  const usual = setting.kind === "several" ? setting.initial : [];
  const same = values.length === usual.length && usual.every((one) => values.includes(one));
  return withList(fields, setting.name, fieldType(setting), same ? [] : values);
}

/** The fields that a new row starts with. */
export const freshRow = (settings: readonly Setting[]): Fields =>
  settings.flatMap((setting) => {
    const value = setting.kind === "colour" ? setting.initial : settingValue([], setting);
    return value === "" ? [] : [{ type: fieldType(setting), name: setting.name, value }];
  });
