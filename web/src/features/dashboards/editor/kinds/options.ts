// Choices that several kinds of widgets have.
import type { Options } from "../settings";

export const HORIZONTAL: Options = [
  ["0", "Left"],
  ["1", "Centre"],
  ["2", "Right"],
];
export const VERTICAL: Options = [
  ["0", "Top"],
  ["1", "Middle"],
  ["2", "Bottom"],
];
export const UNITS_POSITION: Options = [
  ["0", "Before the value"],
  ["1", "Above the value"],
  ["2", "After the value"],
  ["3", "Below the value"],
];
export const DIRECTION: Options = [
  ["0", "Horizontal"],
  ["1", "Vertical"],
];
export const HISTORY: Options = [
  ["0", "Auto"],
  ["1", "History"],
  ["2", "Trends"],
];
export const AGGREGATES: Options = [
  ["1", "Minimum"],
  ["2", "Maximum"],
  ["3", "Average"],
  ["4", "Count"],
  ["5", "Sum"],
  ["6", "First"],
  ["7", "Last"],
];
export const NO_AGGREGATE: Options = [["0", "Not used"], ...AGGREGATES];
export const OPERATIONAL_DATA: Options = [
  ["0", "None"],
  ["1", "Separately"],
  ["2", "With the problem's name"],
];
export const UNACKNOWLEDGED: Options = [
  ["0", "All"],
  ["2", "Separated"],
  ["1", "Unacknowledged only"],
];
export const PROBLEMS_COUNTED: Options = [
  ["1", "Unsuppressed"],
  ["0", "All"],
  ["2", "None"],
];
export const SIDE: Options = [
  ["0", "Left"],
  ["1", "Top"],
];
export const LEGEND_ROWS: Options = [
  ["0", "Fixed"],
  ["1", "Variable"],
];
