import type { Widget } from "~/api/dashboards";
import type { Kind } from "./kinds";
import { notApplied as problemsNotApplied } from "./problem-filter";
import { texts } from "./texts";

/** Settings of all kinds: those of the bus and the frame. */
const COMMON = ["reference", "rf_rate", "override_hostid._reference", "dynamic"];
const HOSTS = ["groupids", "groupids._reference", "hostids", "hostids._reference"];
const TAGS = ["evaltype", "tags.tag", "tags.operator", "tags.value"];
const TIME = ["time_period.from", "time_period.to", "time_period._reference"];
const THRESHOLDS = ["thresholds.color", "thresholds.threshold"];
const ITEM = ["itemid", "itemid._reference"];
const HOST_TAGS = [
  "evaltype_host",
  "host_tags_evaltype",
  "host_tags.tag",
  "host_tags.operator",
  "host_tags.value",
];
const ITEM_TAGS = [
  "items",
  "evaltype_item",
  "item_tags_evaltype",
  "item_tags.tag",
  "item_tags.operator",
  "item_tags.value",
];
const SETS = [
  "ds.hosts",
  "ds.items",
  "ds.itemids",
  "ds.itemids._reference",
  "ds.dataset_type",
  "ds.color",
  "ds.data_set_label",
  "ds.aggregate_function",
  "ds.override_hostid._reference",
];

const sides = (side: string) =>
  ["", "_min", "_max", "_scale", "_units", "_static_units"].map((end) => side + end);
const styles = (of: string) =>
  ["color", "type", "width", "fill", "transparency", "axisy", "timeshift", "missingdatafunc"].map(
    (name) => `${of}.${name}`,
  );

/** Settings that each kind applies, by the names of their fields without numbers. */
const APPLIED: Record<Kind, readonly string[]> = {
  actionlog: [
    "userids",
    "actionids",
    "mediatypeids",
    "statuses",
    "message",
    "show_lines",
    "sort_triggers",
    ...TIME,
  ],
  clock: ["time_type", "clock_type", ...ITEM, "show", "time_sec", "time_format", "tzone_timezone"],
  dataover: [...HOSTS, ...TAGS, "layout", "style"],
  discovery: [],
  favgraphs: [],
  favmaps: [],
  gauge: [
    ...ITEM,
    "min",
    "max",
    "angle",
    "show",
    "description",
    "decimal_places",
    "units",
    "units_show",
    "bg_color",
    "value_color",
    "value_arc_color",
    "value_arc_size",
    "empty_color",
    "needle_color",
    "scale_show_units",
    "scale_decimal_places",
    "th_show_arc",
    "th_show_labels",
    ...THRESHOLDS,
  ],
  geomap: [...HOSTS, ...TAGS, "default_view"],
  graph: ["source_type", "graphid", "graphid._reference", ...ITEM, "show_legend", ...TIME],
  graphprototype: ["source_type", "graphid", "itemid", "columns", "rows", "show_legend", ...TIME],
  honeycomb: [
    ...HOSTS,
    ...HOST_TAGS,
    ...ITEM_TAGS,
    "maintenance",
    "show",
    "bg_color",
    "interpolation",
    ...THRESHOLDS,
    ...["primary", "secondary"].flatMap((label) =>
      ["", "_type", "_decimal_places", "_units", "_units_show", "_color"].map(
        (end) => `${label}_label${end}`,
      ),
    ),
  ],
  hostavail: ["groupids", "groupids._reference", "interface_type", "maintenance", "only_totals"],
  hostnavigator: [
    "groupids",
    "groupids._reference",
    "hosts",
    "host_tags_evaltype",
    "host_tags.tag",
    "host_tags.operator",
    "host_tags.value",
    "status",
    "severities",
    "maintenance",
    "group_by.attribute",
    "group_by.tag_name",
    "show_lines",
  ],
  item: [
    ...ITEM,
    "show",
    "description",
    "decimal_places",
    "units",
    "units_show",
    "units_pos",
    "units_color",
    "value_color",
    "desc_color",
    "time_color",
    "bg_color",
    "up_color",
    "down_color",
    "updown_color",
    "aggregate_function",
    ...TIME,
    ...THRESHOLDS,
  ],
  itemhistory: [
    "layout",
    "show_lines",
    "sortorder",
    "show_timestamp",
    "show_column_header",
    ...TIME,
    ...[
      "name",
      "itemid",
      "itemid._reference",
      "base_color",
      "display",
      "min",
      "max",
      "monospace_font",
      "highlights.color",
      "highlights.pattern",
      "thresholds.color",
      "thresholds.threshold",
    ].map((name) => `columns.${name}`),
  ],
  itemnavigator: [
    ...HOSTS,
    ...HOST_TAGS,
    ...ITEM_TAGS,
    "state",
    "group_by.attribute",
    "group_by.tag_name",
    "show_lines",
  ],
  map: ["sysmapid", "sysmapid._reference", "source_type"],
  navtree: ["navtree.name", "navtree.parent", "navtree.order", "navtree.sysmapid"],
  piechart: [
    ...SETS,
    "ds.type",
    "ds.dataset_aggregation",
    "draw_type",
    "width",
    "space",
    "merge",
    "merge_percent",
    "merge_color",
    "total_show",
    "units",
    "units_show",
    "decimal_places",
    "legend",
    "legend_value",
    "legend_lines",
    ...TIME,
  ],
  plaintext: ["itemids", "show_lines", ...TIME],
  problemhosts: [...HOSTS, "severities", "hide_empty_groups"],
  problems: [],
  problemsbysv: [],
  slareport: ["slaid", "serviceid", "show_periods"],
  svggraph: [
    ...SETS,
    ...styles("ds"),
    "ds.pointsize",
    "ds.stacked",
    "ds.aggregate_interval",
    "ds.aggregate_grouping",
    "ds.approximation",
    "or.hosts",
    "or.items",
    ...styles("or"),
    ...sides("lefty"),
    ...sides("righty"),
    "axisx",
    "percentile_left",
    "percentile_left_value",
    "percentile_right",
    "percentile_right_value",
    "simple_triggers",
    "show_problems",
    "severities",
    "problem_name",
    ...TAGS,
    "legend",
    "legend_statistic",
    "legend_lines",
    "graph_time",
    "time_from",
    "time_to",
    ...TIME,
  ],
  systeminfo: ["info_type"],
  tophosts: [
    ...HOSTS,
    ...TAGS,
    "maintenance",
    "column",
    "order",
    "show_lines",
    "count",
    ...[
      "name",
      "data",
      "item",
      "text",
      "aggregate_function",
      "time_period.from",
      "time_period.to",
      "display",
      "min",
      "max",
      "decimal_places",
      "base_color",
      "thresholds.color",
      "thresholds.threshold",
    ].map((name) => `columns.${name}`),
    "columnsthresholds.color",
    "columnsthresholds.threshold",
    ...TIME,
  ],
  toptriggers: [...HOSTS, "problem", "severities", ...TAGS, "show_lines", ...TIME],
  trigover: [...HOSTS, ...TAGS, "show", "layout", "style"],
  url: ["url"],
  web: [...HOSTS, ...TAGS],
};

/** Values that change nothing in what the widget shows. */
const SHOWN: Readonly<Record<string, readonly string[]>> = {
  "columns.history": ["0", "1"],
  dynamic: ["0"],
  graph_item_problems: ["1"],
  history: ["0", "1"],
  legend_aggregation: ["0"],
  maintenance: ["1"],
  show_suppressed: ["0"],
  show_problems: ["0"],
  source: ["0"],
  working_time: ["0"],
};

/** Sizes, weights and positions of texts: drawings fit their texts to the room. */
const SIZES =
  /_(?:size|size_type|bold|h_pos|v_pos|arc_size)$|^units_pos$|^stroke$|^legend_(?:columns|lines_mode)$/;

const withoutNumbers = (name: string) => name.replace(/\.\d+/g, "");

/** Words for the settings of a widget that it does not apply. */
export function notApplied(widget: Widget, kind: Kind): string[] {
  if (kind === "problems" || kind === "problemsbysv") return problemsNotApplied(widget);
  const applied = new Set([...COMMON, ...APPLIED[kind]]);
  const names = widget.fields.flatMap(({ name, value }) => {
    const base = withoutNumbers(name);
    if (applied.has(base) || SHOWN[base]?.includes(value)) return [];
    return [SIZES.test(base) ? texts.sizes : (texts.settings[base] ?? base)];
  });
  return [...new Set(names)];
}
