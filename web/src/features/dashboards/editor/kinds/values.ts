// Widgets of single values, and lists of values.
import {
  choice,
  colour,
  flag,
  type Kind,
  number,
  OVERRIDE,
  objects,
  PERIOD,
  rows,
  type Setting,
  several,
  THRESHOLDS,
  tags,
  text,
} from "../settings";
import {
  DIRECTION,
  HISTORY,
  HORIZONTAL,
  NO_AGGREGATE,
  SIDE,
  UNITS_POSITION,
  VERTICAL,
} from "./options";
import { GROUPS, HOSTS } from "./problems";

export const ITEM = objects("itemid", "Item", "item", {
  from: "_itemid",
  many: false,
  required: true,
});
const NAME_MACRO = "{ITEM.NAME}";

/** Settings of a part of the widget, which count while the part is shown. */
const part = (shown: string, settings: readonly Setting[]): Setting[] =>
  settings.map((setting) => ({ ...setting, when: { name: "show", is: [shown] } }));
const size = (name: string, label: string, initial: number) =>
  number(name, `${label}: size (%)`, 1, 100, initial);
const bold = (name: string, label: string, initial = false) =>
  flag(name, `${label}: bold`, initial);

const item: Kind = {
  size: { width: 12, height: 3 },
  gives: [],
  settings: [
    ITEM,
    several(
      "show",
      "Show",
      [
        ["1", "Description"],
        ["2", "Value"],
        ["3", "Time"],
        ["4", "Change indicator"],
      ],
      ["1", "2", "3", "4"],
    ),
    ...part("1", [
      text("description", "Description", NAME_MACRO, { required: true, tall: true }),
      choice("desc_h_pos", "Description: horizontal position", HORIZONTAL, "1"),
      choice("desc_v_pos", "Description: vertical position", VERTICAL, "2"),
      size("desc_size", "Description", 15),
      bold("desc_bold", "Description"),
      colour("desc_color", "Description: colour"),
    ]),
    ...part("2", [
      number("decimal_places", "Decimal places", 0, 10, 2),
      size("decimal_size", "Decimal places", 35),
      choice("value_h_pos", "Value: horizontal position", HORIZONTAL, "1"),
      choice("value_v_pos", "Value: vertical position", VERTICAL, "1"),
      size("value_size", "Value", 45),
      bold("value_bold", "Value", true),
      colour("value_color", "Value: colour"),
      flag("units_show", "Show units", true),
      text("units", "Units in place of the item's"),
      choice("units_pos", "Position of units", UNITS_POSITION, "2"),
      size("units_size", "Units", 35),
      bold("units_bold", "Units", true),
      colour("units_color", "Units: colour"),
    ]),
    ...part("3", [
      choice("time_h_pos", "Time: horizontal position", HORIZONTAL, "1"),
      choice("time_v_pos", "Time: vertical position", VERTICAL, "0"),
      size("time_size", "Time", 15),
      bold("time_bold", "Time"),
      colour("time_color", "Time: colour"),
    ]),
    ...part("4", [
      colour("up_color", "Colour of a rise"),
      colour("down_color", "Colour of a fall"),
      colour("updown_color", "Colour of a change of text"),
    ]),
    colour("bg_color", "Background colour"),
    choice("aggregate_function", "Aggregation", NO_AGGREGATE),
    PERIOD,
    choice("history", "Data", HISTORY),
    THRESHOLDS,
    OVERRIDE,
  ],
};

const gauge: Kind = {
  size: { width: 18, height: 5 },
  gives: [],
  settings: [
    ITEM,
    choice("angle", "Angle", [
      ["180", "180°"],
      ["270", "270°"],
    ]),
    text("min", "Minimum", "0", { required: true }),
    text("max", "Maximum", "100", { required: true }),
    several(
      "show",
      "Show",
      [
        ["1", "Description"],
        ["2", "Value"],
        ["5", "Value arc"],
        ["3", "Needle"],
        ["4", "Scale"],
      ],
      ["1", "2", "4", "5"],
    ),
    ...part("1", [
      text("description", "Description", NAME_MACRO, { required: true, tall: true }),
      size("desc_size", "Description", 15),
      bold("desc_bold", "Description"),
      choice(
        "desc_v_pos",
        "Description: position",
        [
          ["0", "Top"],
          ["1", "Bottom"],
        ],
        "1",
      ),
      colour("desc_color", "Description: colour"),
    ]),
    ...part("2", [
      number("decimal_places", "Decimal places", 0, 10, 2),
      bold("value_bold", "Value"),
      size("value_size", "Value", 25),
      colour("value_color", "Value: colour"),
      flag("units_show", "Show units", true),
      text("units", "Units in place of the item's"),
      size("units_size", "Units", 25),
      choice("units_pos", "Position of units", UNITS_POSITION, "2"),
      bold("units_bold", "Units"),
      colour("units_color", "Units: colour"),
    ]),
    ...part("5", [
      size("value_arc_size", "Value arc", 20),
      colour("value_arc_color", "Value arc: colour"),
    ]),
    ...part("3", [colour("needle_color", "Needle: colour")]),
    ...part("4", [
      flag("scale_show_units", "Scale: units", true),
      size("scale_size", "Scale", 15),
      number("scale_decimal_places", "Scale: decimal places", 0, 10, 0),
    ]),
    colour("empty_color", "Arc background"),
    colour("bg_color", "Background colour"),
    THRESHOLDS,
    flag("th_show_labels", "Thresholds: labels"),
    flag("th_show_arc", "Thresholds: arc"),
    size("th_arc_size", "Thresholds: arc", 5),
    OVERRIDE,
  ],
};

/** Labels of the cells of a honeycomb. */
const cellLabel = (
  at: string,
  prefix: string,
  label: string,
  initial: { type: string; text: string; size: number; bold: boolean },
): Setting[] =>
  part(at, [
    choice(
      `${prefix}_type`,
      `${label}: content`,
      [
        ["0", "Text"],
        ["1", "Value"],
      ],
      initial.type,
    ),
    text(prefix, `${label}: text`, initial.text, { required: true, tall: true }),
    number(`${prefix}_decimal_places`, `${label}: decimal places`, 0, 6, 2),
    choice(`${prefix}_size_type`, `${label}: size`, [
      ["0", "Auto"],
      ["1", "Custom"],
    ]),
    size(`${prefix}_size`, label, initial.size),
    bold(`${prefix}_bold`, label, initial.bold),
    colour(`${prefix}_color`, `${label}: colour`),
    flag(`${prefix}_units_show`, `${label}: units`, true),
    text(`${prefix}_units`, `${label}: units in place of the item's`),
    choice(
      `${prefix}_units_pos`,
      `${label}: position of units`,
      [
        ["0", "Before the value"],
        ["1", "After the value"],
      ],
      "1",
    ),
  ]);

const honeycomb: Kind = {
  size: { width: 24, height: 5 },
  gives: ["_hostid", "_hostids", "_itemid", "_itemids"],
  settings: [
    GROUPS,
    HOSTS,
    ...tags("host_tags", "Host tags", "evaltype_host"),
    { kind: "patterns", name: "items", label: "Item patterns", required: true },
    ...tags("item_tags", "Item tags", "evaltype_item"),
    flag("maintenance", "Include hosts in maintenance"),
    several(
      "show",
      "Show",
      [
        ["1", "Primary label"],
        ["2", "Secondary label"],
      ],
      ["1", "2"],
    ),
    ...cellLabel("1", "primary_label", "Primary label", {
      type: "0",
      text: "{HOST.NAME}",
      size: 20,
      bold: false,
    }),
    ...cellLabel("2", "secondary_label", "Secondary label", {
      type: "1",
      text: "{{ITEM.LASTVALUE}.fmtnum(2)}",
      size: 30,
      bold: true,
    }),
    colour("bg_color", "Background colour"),
    flag("interpolation", "Colours between thresholds"),
    THRESHOLDS,
    OVERRIDE,
  ],
};

const DISPLAYS = [
  ["1", "As it is"],
  ["2", "Bar"],
  ["3", "Indicators"],
] as const;
const VALUE = { when: { name: "data", is: ["1"] } };
const RANGED = { when: { name: "display", is: ["2", "3"] } };

const tophosts: Kind = {
  size: { width: 36, height: 5 },
  gives: ["_hostid", "_hostids"],
  settings: [
    GROUPS,
    HOSTS,
    ...tags("tags", "Host tags", "evaltype"),
    flag("maintenance", "Include hosts in maintenance"),
    rows(
      "columns",
      "Columns",
      "column",
      [
        text("name", "Name"),
        choice("data", "Data", [
          ["1", "Item value"],
          ["2", "Host name"],
          ["3", "Text"],
        ]),
        text("item", "Item name", "", { required: true, ...VALUE }),
        text("text", "Text", "", { required: true, when: { name: "data", is: ["3"] } }),
        choice("aggregate_function", "Aggregation", NO_AGGREGATE, "0", VALUE),
        { ...PERIOD, ...VALUE },
        choice("display", "Display", DISPLAYS, "1", VALUE),
        text("min", "Minimum", "", RANGED),
        text("max", "Maximum", "", RANGED),
        choice(
          "history",
          "History or trends",
          [
            ["1", "Auto"],
            ["2", "History"],
            ["3", "Trends"],
          ],
          "1",
          VALUE,
        ),
        number("decimal_places", "Decimal places", 0, 10, 2, VALUE),
        colour("base_color", "Colour"),
        { ...THRESHOLDS, ...VALUE },
      ],
      true,
    ),
    number("column", "Order by column, counted from 0", 0, 99, 0),
    choice("order", "Order", [
      ["2", "Highest first"],
      ["3", "Lowest first"],
    ]),
    number("show_lines", "Hosts", 1, 100, 10),
    OVERRIDE,
  ],
};

const itemhistory: Kind = {
  size: { width: 18, height: 6 },
  gives: ["_itemid", "_itemids"],
  settings: [
    choice("layout", "Layout", DIRECTION),
    rows(
      "columns",
      "Columns",
      "column",
      [
        text("name", "Name", "", { required: true }),
        objects("itemid", "Item", "item", { many: false, required: true }),
        choice("display", "Display", [...DISPLAYS, ["4", "HTML"], ["5", "Single line"]]),
        number("max_length", "Length of a line", 1, 500, 100, {
          when: { name: "display", is: ["5"] },
        }),
        text("min", "Minimum", "", RANGED),
        text("max", "Maximum", "", RANGED),
        choice("history", "History or trends", HISTORY),
        flag("monospace_font", "Monospace font"),
        flag("local_time", "Time of the log entry"),
        flag("show_thumbnail", "Show thumbnails"),
        colour("base_color", "Colour"),
        rows("highlights", "Highlights", "highlight", [
          text("pattern", "Regular expression", "", { required: true }),
          colour("color", "Colour", "E97659"),
        ]),
        THRESHOLDS,
      ],
      true,
    ),
    number("show_lines", "Lines", 1, 1000, 25),
    choice("sortorder", "New values", [
      ["0", "At the top"],
      ["1", "At the bottom"],
    ]),
    flag("show_timestamp", "Show timestamp"),
    choice(
      "show_column_header",
      "Heads of columns",
      [
        ["0", "Off"],
        ["1", "Horizontal"],
        ["2", "Vertical"],
      ],
      "2",
    ),
    PERIOD,
    OVERRIDE,
  ],
};

const dataover: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [
    GROUPS,
    HOSTS,
    ...tags("tags", "Item tags", "evaltype"),
    flag("show_suppressed", "Show suppressed problems"),
    choice("style", "Position of hosts", SIDE),
    OVERRIDE,
  ],
};

export const VALUE_KINDS = { item, gauge, honeycomb, tophosts, itemhistory, dataover };
