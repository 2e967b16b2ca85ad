// Widgets that draw values over time, and shares of values.
import {
  choice,
  colour,
  flag,
  type Kind,
  number,
  OVERRIDE,
  objects,
  PERIOD,
  patterns,
  rows,
  type Setting,
  severities,
  tags,
  text,
} from "../settings";
import { AGGREGATES, HISTORY, LEGEND_ROWS, NO_AGGREGATE } from "./options";

const TYPES = [
  ["0", "Line"],
  ["1", "Points"],
  ["2", "Staircase"],
  ["3", "Bar"],
] as const;
const MISSING = [
  ["0", "None"],
  ["1", "Connected"],
  ["2", "Treated as 0"],
  ["3", "Last known"],
] as const;
const AXES = [
  ["0", "Left"],
  ["1", "Right"],
] as const;
const AXIS_UNITS = [
  ["0", "Auto"],
  ["1", "Static"],
] as const;
const FIRST_COLOUR = "FF465C";
const GIVES_PERIOD = ["_timeperiod"] as const;

const BY_PATTERN = { when: { name: "dataset_type", is: ["1"] } };
const BY_ITEM = { when: { name: "dataset_type", is: ["0"] } };
const SOURCE: readonly Setting[] = [
  choice(
    "dataset_type",
    "Items",
    [
      ["1", "By patterns"],
      ["0", "Chosen"],
    ],
    "1",
  ),
  patterns("hosts", "Host patterns", { required: true, ...BY_PATTERN }),
  patterns("items", "Item patterns", { required: true, ...BY_PATTERN }),
  objects("itemids", "Items", "item", { required: true, ...BY_ITEM }),
];

const LINE: readonly Setting[] = [
  choice("type", "Draw", TYPES),
  choice("stacked", "Stacked", [
    ["0", "No"],
    ["1", "Yes"],
  ]),
  number("width", "Width", 0, 10, 1),
  number("pointsize", "Size of points", 1, 10, 3),
  number("transparency", "Transparency", 0, 10, 5),
  number("fill", "Fill", 0, 10, 3),
  choice("missingdatafunc", "Missing data", MISSING),
  choice("axisy", "Y axis", AXES),
  text("timeshift", "Time shift"),
];
const AGGREGATED = { when: { name: "aggregate_function", is: AGGREGATES.map(([one]) => one) } };

/** The settings of the left or right axis. */
const axis = (side: string, label: string): Setting[] => {
  const shown = { when: { name: side, is: ["1"] } };
  return [
    flag(side, `Show the ${label} axis`, true),
    text(`${side}_min`, `Minimum of the ${label} axis`, "", shown),
    text(`${side}_max`, `Maximum of the ${label} axis`, "", shown),
    choice(`${side}_units`, `Units of the ${label} axis`, AXIS_UNITS, "0", shown),
    text(`${side}_static_units`, `Static units of the ${label} axis`, "", {
      when: { name: `${side}_units`, is: ["1"] },
    }),
  ];
};

const LEGEND = { when: { name: "legend", is: ["1"] } };
const legend = (statistic: Setting): Setting[] => [
  flag("legend", "Show legend", true),
  statistic,
  flag("legend_aggregation", "Show aggregation in the legend", false, LEGEND),
  choice("legend_lines_mode", "Rows of the legend", LEGEND_ROWS, "0", LEGEND),
  number("legend_lines", "Number of rows of the legend", 1, 10, 1, LEGEND),
  number("legend_columns", "Columns of the legend", 1, 4, 4, LEGEND),
];
const PROBLEMS = { when: { name: "show_problems", is: ["1"] } };

const svggraph: Kind = {
  size: { width: 36, height: 5 },
  gives: GIVES_PERIOD,
  settings: [
    rows(
      "ds",
      "Data sets",
      "data set",
      [
        ...SOURCE,
        colour("color", "Colour", FIRST_COLOUR),
        ...LINE,
        choice("aggregate_function", "Aggregation", NO_AGGREGATE),
        text("aggregate_interval", "Interval of aggregation", "1h", AGGREGATED),
        choice(
          "aggregate_grouping",
          "Aggregate",
          [
            ["0", "Each item"],
            ["1", "The data set"],
          ],
          "0",
          AGGREGATED,
        ),
        choice(
          "approximation",
          "Approximation",
          [
            ["7", "All"],
            ["1", "Minimum"],
            ["2", "Average"],
            ["4", "Maximum"],
          ],
          "2",
        ),
        text("data_set_label", "Label"),
      ],
      true,
    ),
    choice("source", "Data", HISTORY),
    flag("simple_triggers", "Simple triggers"),
    flag("working_time", "Working time"),
    flag("percentile_left", "Percentile line of the left axis"),
    text("percentile_left_value", "Percentile of the left axis", "", {
      when: { name: "percentile_left", is: ["1"] },
    }),
    flag("percentile_right", "Percentile line of the right axis"),
    text("percentile_right_value", "Percentile of the right axis", "", {
      when: { name: "percentile_right", is: ["1"] },
    }),
    PERIOD,
    ...axis("lefty", "left"),
    ...axis("righty", "right"),
    flag("axisx", "Show the time axis", true),
    ...legend(flag("legend_statistic", "Show minimum, average and maximum", false, LEGEND)),
    flag("show_problems", "Show problems"),
    flag("graph_item_problems", "Only problems of the items shown", true, PROBLEMS),
    patterns("problemhosts", "Hosts of problems", PROBLEMS),
    severities(PROBLEMS),
    text("problem_name", "Problem", "", PROBLEMS),
    ...tags("tags", "Problem tags", "evaltype", PROBLEMS),
    rows("or", "Overrides", "override", [
      patterns("hosts", "Host patterns", { required: true }),
      patterns("items", "Item patterns", { required: true }),
      colour("color", "Colour", FIRST_COLOUR),
      ...LINE.filter(({ name }) => name !== "stacked"),
    ]),
    OVERRIDE,
  ],
};

const graph: Kind = {
  size: { width: 36, height: 5 },
  gives: GIVES_PERIOD,
  settings: [
    choice("source_type", "Source", [
      ["0", "Graph"],
      ["1", "Item"],
    ]),
    objects("graphid", "Graph", "graph", {
      from: "_graphid",
      many: false,
      required: true,
      when: { name: "source_type", is: ["0"] },
    }),
    objects("itemid", "Item", "item", {
      from: "_itemid",
      many: false,
      required: true,
      when: { name: "source_type", is: ["1"] },
    }),
    PERIOD,
    flag("show_legend", "Show legend", true),
    OVERRIDE,
  ],
};

const graphprototype: Kind = {
  size: { width: 48, height: 5 },
  gives: GIVES_PERIOD,
  settings: [
    choice("source_type", "Source", [
      ["2", "Graph prototype"],
      ["3", "Item prototype"],
    ]),
    objects("graphid", "Graph prototype", "graphPrototype", {
      many: false,
      required: true,
      when: { name: "source_type", is: ["2"] },
    }),
    objects("itemid", "Item prototype", "itemPrototype", {
      many: false,
      required: true,
      when: { name: "source_type", is: ["3"] },
    }),
    PERIOD,
    flag("show_legend", "Show legend", true),
    number("columns", "Columns", 1, 72, 2),
    number("rows", "Rows", 1, 64, 1),
    OVERRIDE,
  ],
};

const DOUGHNUT = { when: { name: "draw_type", is: ["1"] } };
const TOTAL = { when: { name: "total_show", is: ["1"] } };
const MERGED = { when: { name: "merge", is: ["1"] } };
const WIDTHS = ["20", "30", "40", "50"].map((width) => [width, `${width} %`] as const);

const piechart: Kind = {
  size: { width: 24, height: 5 },
  gives: [],
  settings: [
    rows(
      "ds",
      "Data sets",
      "data set",
      [
        ...SOURCE,
        colour("color", "Colour", FIRST_COLOUR),
        choice("aggregate_function", "Aggregation", AGGREGATES, "7"),
        choice("dataset_aggregation", "Aggregation of the data set", NO_AGGREGATE),
        text("data_set_label", "Label"),
      ],
      true,
    ),
    choice("source", "Data", HISTORY),
    choice("draw_type", "Draw", [
      ["0", "Pie"],
      ["1", "Doughnut"],
    ]),
    choice("width", "Width", WIDTHS, "50", DOUGHNUT),
    number("stroke", "Width of the stroke", 0, 10, 0, DOUGHNUT),
    number("space", "Space between sectors", 0, 10, 1),
    flag("merge", "Merge small sectors"),
    number("merge_percent", "Merge sectors smaller than (%)", 1, 10, 1, MERGED),
    colour("merge_color", "Colour of merged sectors", "", MERGED),
    flag("total_show", "Show the total", false, DOUGHNUT),
    choice(
      "value_size_type",
      "Size of the total",
      [
        ["0", "Auto"],
        ["1", "Custom"],
      ],
      "0",
      TOTAL,
    ),
    number("value_size", "Size of the total (%)", 1, 100, 20, {
      when: { name: "value_size_type", is: ["1"] },
    }),
    number("decimal_places", "Decimal places", 0, 6, 2, TOTAL),
    flag("units_show", "Show other units", false, TOTAL),
    text("units", "Units", "", { when: { name: "units_show", is: ["1"] } }),
    flag("value_bold", "Total in bold", false, TOTAL),
    colour("value_color", "Colour of the total", "", TOTAL),
    PERIOD,
    ...legend(flag("legend_value", "Show values in the legend", false, LEGEND)),
    OVERRIDE,
  ],
};

export const GRAPH_KINDS = { svggraph, graph, graphprototype, piechart };
