import { kindName } from "../../widgets/kinds";
import { choice, type Kind, type Options } from "../settings";
import { ESTATE_KINDS } from "./estate";
import { GRAPH_KINDS } from "./graphs";
import { PROBLEM_KINDS } from "./problems";
import { VALUE_KINDS } from "./values";

/** The kinds of widgets of Zabbix 7.0, by their `type`. */
const KINDS: ReadonlyMap<string, Kind> = new Map(
  Object.entries({ ...PROBLEM_KINDS, ...VALUE_KINDS, ...GRAPH_KINDS, ...ESTATE_KINDS }),
);

/** A kind that this table does not have: its fields stay as they are. */
const UNKNOWN: Kind = {
  size: { width: 36, height: 5 },
  settings: [],
  gives: [],
};

export const kindOf = (type: string): Kind => KINDS.get(type) ?? UNKNOWN;

/** Types with their labels, in the order of these. */
export const KIND_OPTIONS: Options = [...KINDS.keys()]
  .map((type) => [type, kindName(type)] as const)
  .sort(([, a], [, b]) => a.localeCompare(b, "en"));

/** Seconds between two reads of a widget's data; all kinds have it. */
export const REFRESH = choice(
  "rf_rate",
  "Refresh interval",
  [
    ["-1", "Default"],
    ["0", "No refresh"],
    ["10", "10 seconds"],
    ["30", "30 seconds"],
    ["60", "1 minute"],
    ["120", "2 minutes"],
    ["600", "10 minutes"],
    ["900", "15 minutes"],
  ],
  "-1",
);
