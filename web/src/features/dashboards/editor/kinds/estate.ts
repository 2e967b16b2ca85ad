// Widgets of hosts, maps, services, the server, and those that show nothing of what is monitored.
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
  several,
  severities,
  tags,
  text,
} from "../settings";
import { DIRECTION, PROBLEMS_COUNTED } from "./options";
import { GROUPS, HOSTS } from "./problems";

const NOTHING: readonly Setting[] = [];
const IN_MAINTENANCE = flag("maintenance", "Include hosts in maintenance");

const clock: Kind = {
  size: { width: 12, height: 3 },
  gives: [],
  settings: [
    choice("time_type", "Time", [
      ["0", "Local time"],
      ["1", "Server time"],
      ["2", "Host time"],
    ]),
    objects("itemid", "Item", "item", {
      many: false,
      required: true,
      when: { name: "time_type", is: ["2"] },
    }),
    choice("clock_type", "Clock", [
      ["0", "Analog"],
      ["1", "Digital"],
    ]),
    several(
      "show",
      "Show",
      [
        ["1", "Date"],
        ["2", "Time"],
        ["3", "Time zone"],
      ],
      ["2"],
    ),
    colour("bg_color", "Background colour"),
    ...(
      [
        flag("date_bold", "Date: bold"),
        colour("date_color", "Date: colour"),
        flag("time_bold", "Time: bold"),
        colour("time_color", "Time: colour"),
        flag("time_sec", "Time: seconds", true),
        choice("time_format", "Time: format", [
          ["0", "24 hours"],
          ["1", "12 hours"],
        ]),
        flag("tzone_bold", "Time zone: bold"),
        colour("tzone_color", "Time zone: colour"),
        text("tzone_timezone", "Time zone, as Europe/Riga"),
        choice("tzone_format", "Time zone: format", [
          ["0", "Short"],
          ["1", "Full"],
        ]),
      ] satisfies Setting[]
    ).map((setting) => ({ ...setting, when: { name: "clock_type", is: ["1"] } })),
    OVERRIDE,
  ],
};

const url: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [text("url", "URL", "", { required: true }), OVERRIDE],
};

const map: Kind = {
  size: { width: 54, height: 5 },
  gives: ["_hostid", "_hostids", "_hostgroupid", "_hostgroupids"],
  settings: [objects("sysmapid", "Map", "map", { from: "_mapid", many: false, required: true })],
};

const navtree: Kind = {
  size: { width: 18, height: 5 },
  gives: ["_mapid"],
  settings: [
    {
      kind: "rows",
      name: "navtree",
      label: "Entries",
      word: "entry",
      required: false,
      numbered: true,
      settings: [
        text("name", "Name", "", { required: true }),
        number("parent", "Below the entry with this number; 0: at the top", 0, 9999, 0),
        number("order", "Position among the entries of its level", 1, 9999, 1),
        objects("sysmapid", "Map", "map", { many: false }),
      ],
    },
    flag("show_unavailable", "Show maps that are not visible to the user"),
  ],
};

const geomap: Kind = {
  size: { width: 36, height: 5 },
  gives: ["_hostid", "_hostids"],
  settings: [
    GROUPS,
    HOSTS,
    ...tags("tags", "Host tags", "evaltype"),
    text("default_view", "Initial view: latitude,longitude,zoom"),
    OVERRIDE,
  ],
};

const hostavail: Kind = {
  size: { width: 18, height: 3 },
  gives: [],
  settings: [
    GROUPS,
    several(
      "interface_type",
      "Interfaces",
      [
        ["5", "Agent (active checks)"],
        ["1", "Agent (passive checks)"],
        ["2", "SNMP"],
        ["4", "JMX"],
        ["3", "IPMI"],
      ],
      [],
    ),
    choice("layout", "Layout", DIRECTION),
    IN_MAINTENANCE,
    flag("only_totals", "Only totals"),
    OVERRIDE,
  ],
};

/** How a navigator groups: by tags if `tagged` has the attribute. */
const grouping = (attributes: readonly (readonly [string, string])[], tagged: readonly string[]) =>
  rows("group_by", "Group by", "group", [
    choice("attribute", "Attribute", attributes),
    text("tag_name", "Tag", "", { required: true, when: { name: "attribute", is: tagged } }),
  ]);

const hostnavigator: Kind = {
  size: { width: 12, height: 5 },
  gives: ["_hostid", "_hostids"],
  settings: [
    objects("groupids", "Host groups", "group", { from: "_hostgroupid" }),
    patterns("hosts", "Host patterns"),
    choice("status", "Status of hosts", [
      ["-1", "Any"],
      ["0", "Enabled"],
      ["1", "Disabled"],
    ]),
    ...tags("host_tags", "Host tags", "host_tags_evaltype"),
    severities(),
    IN_MAINTENANCE,
    choice("problems", "Problems counted", PROBLEMS_COUNTED),
    grouping(
      [
        ["0", "Host group"],
        ["1", "Tag value"],
        ["2", "Severity"],
      ],
      ["1"],
    ),
    number("show_lines", "Hosts", 1, 9999, 100),
    OVERRIDE,
  ],
};

const itemnavigator: Kind = {
  size: { width: 12, height: 5 },
  gives: ["_itemid", "_itemids"],
  settings: [
    objects("groupids", "Host groups", "group", { from: "_hostgroupid" }),
    objects("hostids", "Hosts", "host", { from: "_hostid" }),
    ...tags("host_tags", "Host tags", "host_tags_evaltype"),
    patterns("items", "Item patterns"),
    ...tags("item_tags", "Item tags", "item_tags_evaltype"),
    choice("state", "State of items", [
      ["-1", "All"],
      ["0", "Normal"],
      ["1", "Not supported"],
    ]),
    choice("problems", "Problems counted", PROBLEMS_COUNTED),
    grouping(
      [
        ["0", "Host group"],
        ["1", "Host name"],
        ["2", "Tag of the host"],
        ["3", "Tag of the item"],
      ],
      ["2", "3"],
    ),
    number("show_lines", "Items", 1, 9999, 100),
    OVERRIDE,
  ],
};

const web: Kind = {
  size: { width: 18, height: 3 },
  gives: ["_hostgroupid", "_hostgroupids"],
  settings: [
    GROUPS,
    objects("exclude_groupids", "Excluded host groups", "group"),
    HOSTS,
    ...tags("tags", "Tags of scenarios", "evaltype"),
    flag("maintenance", "Include hosts in maintenance", true),
    OVERRIDE,
  ],
};

const actionlog: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [
    objects("userids", "Recipients", "user"),
    objects("actionids", "Actions", "action"),
    objects("mediatypeids", "Media types", "mediaType"),
    several(
      "statuses",
      "Status",
      [
        ["0", "In progress"],
        ["1", "Sent"],
        ["2", "Failed"],
      ],
      [],
    ),
    text("message", "Text of the message"),
    PERIOD,
    choice("sort_triggers", "Order", [
      ["4", "Time, newest first"],
      ["3", "Time, oldest first"],
      ["5", "Media type, ascending"],
      ["6", "Media type, descending"],
      ["7", "Status, ascending"],
      ["8", "Status, descending"],
      ["11", "Recipient, ascending"],
      ["12", "Recipient, descending"],
    ]),
    number("show_lines", "Lines", 1, 1000, 25),
  ],
};

const slareport: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [
    objects("slaid", "SLA", "sla", { many: false, required: true }),
    objects("serviceid", "Service", "service", { many: false }),
    number("show_periods", "Periods", 1, 100, 20),
    text("date_period.from", "From, as 2026-01-31"),
    text("date_period.to", "To, as 2026-12-31"),
  ],
};

const systeminfo: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [
    choice("info_type", "Show", [
      ["0", "State of the server"],
      ["1", "High availability nodes"],
    ]),
  ],
};

const discovery: Kind = {
  size: { width: 18, height: 3 },
  gives: [],
  settings: NOTHING,
};
const favgraphs: Kind = {
  size: { width: 12, height: 3 },
  gives: [],
  settings: NOTHING,
};

export const ESTATE_KINDS = {
  clock,
  url,
  map,
  navtree,
  geomap,
  hostavail,
  hostnavigator,
  itemnavigator,
  web,
  actionlog,
  slareport,
  systeminfo,
  discovery,
  favgraphs,
  favmaps: favgraphs,
};
