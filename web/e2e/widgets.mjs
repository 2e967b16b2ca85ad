// A dashboard with every kind of widget, and what its widgets show.

import { call, until } from "./lib.mjs";

const MINUTE = 60;
const CORES = 4;

/** Two hosts with items, values of an hour, a trigger with a problem, and a position. */
async function hosts() {
  const { groupids } = await call("hostgroup.create", { name: "Widget hosts" });
  const groups = [{ groupid: groupids[0] }];
  const made = [];
  for (const [n, [lat, lon]] of [
    ["56.95", "24.1"],
    ["59.44", "24.75"],
  ].entries()) {
    const host = `widget-${n + 1}`;
    const inventory = { location_lat: lat, location_lon: lon };
    const { hostids } = await call("host.create", {
      host,
      groups,
      inventory_mode: 0,
      inventory,
      tags: [{ tag: "site", value: n ? "tallinn" : "riga" }],
    });
    const item = (name, key_, units, value_type = 0) => ({
      hostid: hostids[0],
      name,
      key_,
      units,
      value_type,
      type: 2,
      history: "31d",
    });
    const { itemids } = await call("item.create", [
      item("CPU utilization", "cpu", "%"),
      item("Memory used", "memory", "B", 3),
      item("Log of the board", "log", "", 4),
      ...Array.from({ length: CORES }, (_, core) =>
        item(`Core ${core}: load`, `core[${core}]`, "%"),
      ),
      item("Never sent", "never", ""),
    ]);
    made.push({ host, hostid: hostids[0], itemids });
  }
  await call("trigger.create", {
    description: "CPU of widget-1 is busy",
    priority: 4,
    expression: "last(/widget-1/cpu)>80",
  });
  return { groupid: groupids[0], made };
}

/** Values of the last hour: a wave for each item. */
async function values(made) {
  const now = Math.floor(Date.now() / 1000);
  const rows = made.flatMap(({ host }, n) =>
    Array.from({ length: 60 }, (_, minute) => {
      const clock = now - (60 - minute) * MINUTE;
      const wave = Math.sin(minute / 8 + n) * 20;
      return [
        { host, key: "cpu", value: n ? 40 + wave : 70 + wave + (minute > 50 ? 20 : 0), clock },
        { host, key: "memory", value: Math.round((2 + n + wave / 40) * 2 ** 30), clock },
        ...Array.from({ length: CORES }, (_, core) => ({
          host,
          key: `core[${core}]`,
          value: Math.abs(wave * 2 + core * 12),
          clock,
        })),
        ...(minute % 12 ? [] : [{ host, key: "log", value: `Board ${n} says ${minute}`, clock }]),
      ];
    }).flat(),
  );
  const push = () => call("history.push", rows);
  await until("values of the widgets", async () => {
    const { data } = await push();
    return data.every((row) => !row.error);
  });
  await call("history.push", [{ host: "widget-1", key: "cpu", value: 93 }]);
  await until("a problem of the widgets", async () => {
    const found = await call("problem.get", { search: { name: "CPU of widget-1" } });
    return found.length > 0;
  });
}

/** A rule that has discovered two disks, with prototypes of an item and a graph. */
async function discovered({ hostid, host }) {
  const rule = { name: "Disks", key_: "disks", type: 2 };
  const { itemids } = await call("discoveryrule.create", { hostid, ...rule });
  const prototype = await call("itemprototype.create", {
    hostid,
    ruleid: itemids[0],
    name: "Disk {#DISK} used",
    key_: "disk[{#DISK}]",
    type: 2,
    value_type: 0,
    units: "%",
  });
  const graph = await call("graphprototype.create", {
    name: "Disk {#DISK}",
    gitems: [{ itemid: prototype.itemids[0], color: "1E88E5", drawtype: 1 }],
  });
  const found = JSON.stringify([{ "{#DISK}": "sda" }, { "{#DISK}": "sdb" }]);
  await until("discovered disks", async () => {
    await call("history.push", [{ host, key: "disks", value: found }]);
    const rows = await call("graph.get", { hostids: hostid, search: { name: "Disk sd" } });
    return rows.length === 2;
  });
  return { itemid: prototype.itemids[0], graphid: graph.graphids[0] };
}

/** A classic graph, a map, a service with an SLA, and a web scenario. */
async function others({ hostid, itemids }) {
  const graph = await call("graph.create", {
    name: "CPU of the board",
    gitems: [{ itemid: itemids[0], color: "E53935" }],
  });
  const map = await call("map.create", {
    name: "Map of the board",
    width: 400,
    height: 200,
    selements: [
      {
        selementid: "1",
        elementtype: 0,
        iconid_off: 1,
        label: "widget-1",
        x: 60,
        y: 60,
        elements: [{ hostid }],
      },
    ],
  });
  const tags = [{ tag: "board", value: "yes" }];
  const service = await call("service.create", {
    name: "Board service",
    algorithm: 1,
    sortorder: 0,
    tags,
  });
  const sla = await call("sla.create", {
    name: "Board SLA",
    period: 0,
    slo: 99.5,
    effective_date: Math.floor(Date.now() / 86_400_000) * 86_400 - 5 * 86_400,
    timezone: "UTC",
    service_tags: [{ tag: "board", operator: 0, value: "yes" }],
  });
  await call("httptest.create", {
    hostid,
    name: "Board page",
    delay: "1h",
    steps: [{ name: "Start", url: "http://127.0.0.1:1/", no: 1 }],
  });
  return {
    graphid: graph.graphids[0],
    sysmapid: map.sysmapids[0],
    serviceid: service.serviceids[0],
    slaid: sla.slaids[0],
  };
}

const TYPES = { itemid: 4, prototype: 5, graphid: 6, sysmapid: 8, serviceid: 9, slaid: 10 };
const text = (name, value) => ({ type: 1, name, value: String(value) });
const number = (name, value) => ({ type: 0, name, value: String(value) });
const object = (type, name, value) => ({ type, name, value });

/** Thresholds in three colours. */
const thresholds = [
  ["43A047", 0],
  ["FFB300", 60],
  ["E53935", 80],
].flatMap(([color, from], n) => [
  text(`thresholds.${n}.color`, color),
  text(`thresholds.${n}.threshold`, from),
]);

/** Every kind with its fields, its size, and a part of what it must show. */
function kinds({ groupid, made, disks, more }) {
  const [{ itemids }, other] = made;
  const cpu = object(TYPES.itemid, "itemid.0", itemids[0]);
  const group = object(2, "groupids.0", groupid);
  const columns = [
    [number("columns.0.data", 2), text("columns.0.name", "Name")],
    [
      number("columns.1.data", 1),
      text("columns.1.name", "CPU"),
      text("columns.1.item", "CPU utilization"),
      number("columns.1.display", 2),
    ],
  ].flat();
  return [
    ["item", [cpu, ...thresholds], 12, 4, /93 %/],
    ["gauge", [cpu, ...thresholds, number("th_show_arc", 1), text("units", "%")], 12, 4],
    [
      "piechart",
      [
        text("ds.0.hosts.0", "widget-*"),
        text("ds.0.items.0", "Memory used"),
        text("ds.0.color", "1E88E5"),
        number("draw_type", 1),
        number("total_show", 1),
      ],
      24,
      4,
      "widget-2: Memory used",
    ],
    ["clock", [], 12, 4],
    ["clock", [number("clock_type", 1)], 12, 4, /\d\d:\d\d:\d\d/],
    [
      "svggraph",
      [
        text("ds.0.hosts.0", "widget-*"),
        text("ds.0.items.0", "CPU*"),
        text("ds.0.color", "E53935"),
        number("show_problems", 1),
        number("legend_statistic", 1),
        number("legend_lines", 2),
        number("simple_triggers", 1),
      ],
      36,
      6,
      "widget-1: CPU utilization",
    ],
    [
      "svggraph",
      [
        text("ds.0.hosts.0", "widget-1"),
        text("ds.0.items.0", "Core*"),
        text("ds.0.color", "1E88E5"),
        number("ds.0.stacked", 1),
        text("ds.1.hosts.0", "widget-1"),
        text("ds.1.items.0", "Memory*"),
        text("ds.1.color", "43A047"),
        number("ds.1.axisy", 1),
        number("ds.1.type", 2),
      ],
      36,
      6,
      "Core 0: load",
    ],
    [
      "honeycomb",
      [
        group,
        text("items.0", "Core*"),
        text("primary_label", '{HOST.NAME} {{ITEM.NAME}.regsub("^(Core \\d)","\\1")}'),
        number("secondary_label_decimal_places", 0),
        text("reference", "HONEY"),
        ...thresholds,
      ],
      36,
      5,
    ],
    ["graph", [object(TYPES.graphid, "graphid.0", more.graphid)], 36, 5, "CPU utilization"],
    [
      "graphprototype",
      [object(7, "graphid.0", disks.graphid), number("columns", 2)],
      36,
      5,
      "Disk sda used",
    ],
    [
      "graph",
      [number("source_type", 1), text("itemid._reference", "HONEY._itemid")],
      36,
      5,
      /Core \d: load/,
    ],
    [
      "itemnavigator",
      [
        group,
        text("items.0", "Core*"),
        text("reference", "ITEMS"),
        number("group_by.0.attribute", 1),
      ],
      24,
      5,
      "Core 0: load",
    ],
    ["item", [text("itemid._reference", "ITEMS._itemid")], 12, 5, "Core 0: load"],
    [
      "itemhistory",
      [
        text("columns.0.name", "Log"),
        object(TYPES.itemid, "columns.0.itemid", itemids[2]),
        number("layout", 1),
      ],
      36,
      5,
      "Board 0 says 48",
    ],
    [
      "hostnavigator",
      [
        group,
        text("reference", "HOSTS"),
        number("group_by.0.attribute", 1),
        text("group_by.0.tag_name", "site"),
      ],
      24,
      5,
      "site: riga",
    ],
    ["problems", [text("hostids._reference", "HOSTS._hostid")], 48, 5, "CPU of widget-1 is busy"],
    ["tophosts", [group, ...columns, number("column", 1)], 36, 4, "widget-1"],
    ["dataover", [group], 36, 4, "Memory used"],
    ["problemhosts", [group], 36, 4, "Widget hosts"],
    ["trigover", [group, number("show", 2)], 36, 4, "CPU of widget-1 is busy"],
    ["toptriggers", [group], 36, 4, "CPU of widget-1 is busy"],
    ["problemsbysv", [group], 18, 5, "Disaster"],
    ["hostavail", [group], 36, 4, "Active checks"],
    ["systeminfo", [], 36, 5, "Version of the API"],
    ["systeminfo", [number("info_type", 1)], 36, 4, "Active"],
    ["actionlog", [], 36, 4, "No messages or commands in this time"],
    ["discovery", [], 18, 4],
    ["web", [group], 36, 4, "Widget hosts"],
    [
      "slareport",
      [object(TYPES.slaid, "slaid.0", more.slaid), number("show_periods", 4)],
      36,
      4,
      "Board service",
    ],
    ["geomap", [group], 36, 5, "widget-2"],
    [
      "navtree",
      [
        text("navtree.1.name", "Maps"),
        number("navtree.1.order", 1),
        text("navtree.2.name", "Board"),
        number("navtree.2.parent", 1),
        object(TYPES.sysmapid, "navtree.2.sysmapid", more.sysmapid),
        text("reference", "TREES"),
      ],
      18,
      5,
      "Board",
    ],
    ["map", [text("sysmapid._reference", "TREES._mapid")], 36, 5, "widget-1"],
    ["favgraphs", [], 18, 3, "Vedette does not store favourites of users."],
    ["favmaps", [], 18, 3, "Vedette does not store favourites of users."],
    ["url", [text("url", "https://example.com/board")], 18, 3, "https://example.com/board"],
    ["plaintext", [object(TYPES.itemid, "itemids.0", other.itemids[2])], 18, 4, "Board 1 says 48"],
    ["item", [object(TYPES.itemid, "itemid.0", itemids.at(-1))], 12, 4, "No value"],
  ];
}

const COLUMNS = 72;
/** Rows of a page; the grid has more. */
const ROWS = 44;

/** Widgets in lines from left to right, on as many pages as they need, with the texts that they must show. */
function placed(list) {
  let [x, y, tallest, at] = [0, 0, 0, 0];
  return list.map(([type, fields, width, height, shows], n) => {
    if (x + width > COLUMNS) [x, y, tallest] = [0, y + tallest, 0];
    if (y + height > ROWS) [x, y, tallest, at] = [0, 0, 0, at + 1];
    const widget = { type, name: `${n + 1} ${type}`, fields, width, height, x, y };
    x += width;
    tallest = Math.max(tallest, height);
    return { widget, at, shows };
  });
}

export const PAGES = ["Values", "Reports"];

/** Creates the dashboard; returns its id and the texts that its widgets must show. */
export async function allWidgets() {
  const { groupid, made } = await hosts();
  await values(made);
  const disks = await discovered(made[0]);
  const more = await others(made[0]);
  const all = placed(kinds({ groupid, made, disks, more }));
  const { dashboardids } = await call("dashboard.create", {
    name: "Every kind",
    // A slide show would turn pages while they are looked at.
    auto_start: 0,
    pages: [0, 1].map((page) => ({
      name: PAGES[page],
      widgets: all.filter(({ at }) => at === page).map(({ widget }) => widget),
    })),
  });
  return { dashboardid: dashboardids[0], all };
}
