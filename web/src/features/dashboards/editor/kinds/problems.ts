// Widgets of problems, hosts with problems, and triggers.
import {
  choice,
  flag,
  type Kind,
  number,
  OVERRIDE,
  objects,
  PERIOD,
  type Setting,
  severities,
  tags,
  text,
} from "../settings";
import { DIRECTION, OPERATIONAL_DATA, SIDE, UNACKNOWLEDGED } from "./options";

export const GROUPS = objects("groupids", "Host groups", "group", { from: "_hostgroupids" });
export const HOSTS = objects("hostids", "Hosts", "host", { from: "_hostids" });
const WITHOUT_GROUPS = objects("exclude_groupids", "Excluded host groups", "group");
const SUPPRESSED = flag("show_suppressed", "Show suppressed problems");
const SELECTED: readonly Setting[] = [
  GROUPS,
  WITHOUT_GROUPS,
  HOSTS,
  text("problem", "Problem"),
  severities(),
  ...tags("tags", "Problem tags", "evaltype"),
];
const GIVES_GROUPS = ["_hostgroupid", "_hostgroupids"] as const;
const SHOW_TAGS = { when: { name: "show_tags", is: ["1", "2", "3"] } };

const ORDERS = [
  ["4", "Time, newest first"],
  ["3", "Time, oldest first"],
  ["1", "Severity, highest first"],
  ["13", "Severity, lowest first"],
  ["15", "Problem, ascending"],
  ["16", "Problem, descending"],
  ["2", "Host, ascending"],
  ["14", "Host, descending"],
] as const;

const problems: Kind = {
  size: { width: 36, height: 5 },
  gives: ["_eventid"],
  settings: [
    choice("show", "Show", [
      ["1", "Recent problems"],
      ["3", "Problems"],
      ["2", "History"],
    ]),
    ...SELECTED,
    choice("show_tags", "Tags shown", [
      ["0", "None"],
      ["1", "1"],
      ["2", "2"],
      ["3", "3"],
    ]),
    choice(
      "tag_name_format",
      "Names of tags",
      [
        ["0", "Full"],
        ["1", "Shortened"],
        ["2", "None"],
      ],
      "0",
      SHOW_TAGS,
    ),
    text("tag_priority", "Tags shown first", "", SHOW_TAGS),
    choice("show_opdata", "Operational data", OPERATIONAL_DATA),
    flag("show_symptoms", "Show symptoms"),
    SUPPRESSED,
    choice("acknowledgement_status", "Acknowledgement", [
      ["0", "All"],
      ["1", "Unacknowledged"],
      ["2", "Acknowledged"],
    ]),
    flag("acknowledged_by_me", "Acknowledged by me", false, {
      when: { name: "acknowledgement_status", is: ["2"] },
    }),
    choice("sort_triggers", "Order", ORDERS),
    flag("show_timeline", "Show timeline", true, {
      when: { name: "sort_triggers", is: ["3", "4"] },
    }),
    flag("highlight_row", "Highlight the whole row"),
    number("show_lines", "Lines", 1, 1000, 25),
    OVERRIDE,
  ],
};

const BY_GROUP = { when: { name: "show_type", is: ["0"] } };
const problemsbysv: Kind = {
  size: { width: 36, height: 5 },
  gives: GIVES_GROUPS,
  settings: [
    ...SELECTED,
    choice("show_type", "Show", [
      ["0", "Host groups"],
      ["1", "Totals"],
    ]),
    choice("layout", "Layout", DIRECTION, "0", { when: { name: "show_type", is: ["1"] } }),
    choice("show_opdata", "Operational data", OPERATIONAL_DATA),
    SUPPRESSED,
    flag("hide_empty_groups", "Hide groups without problems", false, BY_GROUP),
    choice("ext_ack", "Acknowledgement", UNACKNOWLEDGED),
    flag("show_timeline", "Show timeline", true),
    OVERRIDE,
  ],
};

const problemhosts: Kind = {
  size: { width: 36, height: 5 },
  gives: GIVES_GROUPS,
  settings: [
    ...SELECTED,
    SUPPRESSED,
    flag("hide_empty_groups", "Hide groups without problems"),
    choice("ext_ack", "Acknowledgement", UNACKNOWLEDGED),
    OVERRIDE,
  ],
};

const trigover: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [
    choice("show", "Show", [
      ["1", "Recent problems"],
      ["3", "Problems"],
      ["2", "Any"],
    ]),
    GROUPS,
    HOSTS,
    ...tags("tags", "Problem tags", "evaltype"),
    SUPPRESSED,
    choice("style", "Position of hosts", SIDE),
    OVERRIDE,
  ],
};

const toptriggers: Kind = {
  size: { width: 36, height: 5 },
  gives: [],
  settings: [
    GROUPS,
    HOSTS,
    text("problem", "Problem"),
    severities(),
    ...tags("tags", "Problem tags", "evaltype"),
    number("show_lines", "Triggers", 1, 1000, 10),
    PERIOD,
    OVERRIDE,
  ],
};

export const PROBLEM_KINDS = { problems, problemsbysv, problemhosts, trigover, toptriggers };
