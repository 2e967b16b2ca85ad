//! Graphs, graph prototypes and the items that they show.

mod checks;
mod get;
mod items;
mod values;
mod write;

use const_format::formatcp;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_REAL};

use crate::call::Method;
use crate::object::Access::{Optional, ReadOnly, Required};
use crate::object::FieldKind::{Id, Int, Name, Nested, OneOf, Text};
use crate::object::{Field, Object, field};

pub(crate) use get::{attach_to_hosts, of_hosts, of_hosts_by_id};

pub(crate) const METHODS: &[Method] = &[
    Method::user("graph.get", |call, input| get::get(call, input, Kind::Graph)),
    Method::admin("graph.create", |call, input| write::create(call, input, Kind::Graph)),
    Method::admin("graph.update", |call, input| write::update(call, input, Kind::Graph)),
    Method::admin("graph.delete", |call, input| write::delete(call, input, Kind::Graph)),
    Method::user("graphitem.get", items::get),
    Method::user("graphprototype.get", |call, input| get::get(call, input, Kind::Prototype)),
    Method::admin("graphprototype.create", |call, input| {
        write::create(call, input, Kind::Prototype)
    }),
    Method::admin("graphprototype.update", |call, input| {
        write::update(call, input, Kind::Prototype)
    }),
    Method::admin("graphprototype.delete", |call, input| {
        write::delete(call, input, Kind::Prototype)
    }),
];

/// Which of the two objects.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Graph,
    /// `graphprototype`
    Prototype,
}

impl Kind {
    pub(crate) fn object(self) -> &'static Object {
        match self {
            Self::Graph => &GRAPH,
            Self::Prototype => &PROTOTYPE,
        }
    }

    /// Condition on `flags` of what the object's methods see.
    fn condition(self) -> &'static str {
        match self {
            Self::Graph => formatcp!("t.flags IN {FLAGS_REAL}"),
            Self::Prototype => formatcp!("t.flags = {FLAGS_PROTOTYPE}"),
        }
    }

    /// As messages name it.
    fn word(self) -> &'static str {
        match self {
            Self::Graph => "graph",
            Self::Prototype => "graph prototype",
        }
    }

    /// As messages start with it.
    fn title(self) -> &'static str {
        match self {
            Self::Graph => "Graph",
            Self::Prototype => "Graph prototype",
        }
    }
}

/// Whole numbers of a database column.
const INT: crate::object::FieldKind = Int(-2_147_483_648, 2_147_483_647);

const ID: Field = field("graphid", Id, ReadOnly, "Id.");
const NAME: Field = field("name", Name(128), Required, "Name; unique on its hosts.");
const WIDTH: Field = field("width", INT, Optional, "Width, pixels.");
const HEIGHT: Field = field("height", INT, Optional, "Height, pixels.");
const Y_MIN: Field = field("yaxismin", Text(0), Optional, "Fixed lower end of the Y axis.");
const Y_MAX: Field = field("yaxismax", Text(0), Optional, "Fixed upper end of the Y axis.");
const TEMPLATEID: Field = field("templateid", Id, ReadOnly, "Parent on the template.");
const WORK_PERIOD: Field = field("show_work_period", INT, Optional, "1: working time is marked.");
const TRIGGERS: Field = field("show_triggers", INT, Optional, "1: trigger lines are drawn.");
const TYPE: Field =
    field("graphtype", INT, Optional, "0 normal, 1 stacked, 2 pie, 3 exploded (pie).");
const LEGEND: Field = field("show_legend", INT, Optional, "1: with a legend.");
const IN_3D: Field = field("show_3d", INT, Optional, "1: pies in 3D.");
const LEFT: Field = field("percent_left", Text(0), Optional, "Percentile of the left axis.");
const RIGHT: Field = field("percent_right", Text(0), Optional, "Percentile of the right axis.");
const MIN_TYPE: Field =
    field("ymin_type", INT, Optional, "Lower end: 0 calculated, 1 fixed, 2 item.");
const MAX_TYPE: Field =
    field("ymax_type", INT, Optional, "Upper end: 0 calculated, 1 fixed, 2 item.");
const MIN_ITEM: Field = field("ymin_itemid", Id, Optional, "Item of the lower end.");
const MAX_ITEM: Field = field("ymax_itemid", Id, Optional, "Item of the upper end.");
const FLAGS: Field =
    field("flags", OneOf(&[0, 2, 4]), ReadOnly, "0 plain, 2 prototype, 4 discovered.");
const DISCOVER: Field = field("discover", OneOf(&[0, 1]), Optional, "1 is not discovered.");
const UUID: Field = field("uuid", Text(32), Optional, "Universal id; templates only.");
const GITEMS: Field =
    field("gitems", Nested, Required, "Items: `[{itemid, color, drawtype, sortorder, …}]`.");

pub(crate) static GRAPH: Object = Object {
    name: "graph",
    table: "graphs",
    key: "graphid",
    keys: "graphids",
    fields: &[
        ID,
        NAME,
        WIDTH,
        HEIGHT,
        Y_MIN,
        Y_MAX,
        TEMPLATEID,
        WORK_PERIOD,
        TRIGGERS,
        TYPE,
        LEGEND,
        IN_3D,
        LEFT,
        RIGHT,
        MIN_TYPE,
        MAX_TYPE,
        MIN_ITEM,
        MAX_ITEM,
        FLAGS,
        UUID,
        GITEMS,
    ],
    strict: false,
    sort: &["graphid", "name", "graphtype"],
};

pub(crate) static PROTOTYPE: Object = Object {
    name: "graphprototype",
    table: "graphs",
    key: "graphid",
    keys: "graphids",
    fields: &[
        ID,
        NAME,
        WIDTH,
        HEIGHT,
        Y_MIN,
        Y_MAX,
        TEMPLATEID,
        WORK_PERIOD,
        TRIGGERS,
        TYPE,
        LEGEND,
        IN_3D,
        LEFT,
        RIGHT,
        MIN_TYPE,
        MAX_TYPE,
        MIN_ITEM,
        MAX_ITEM,
        FLAGS,
        DISCOVER,
        UUID,
        GITEMS,
    ],
    strict: false,
    sort: &["graphid", "name", "graphtype"],
};

/// Items of graphs. The members of `gitems` are these.
pub(crate) static ITEM: Object = Object {
    name: "graphitem",
    table: "graph_items",
    key: "gitemid",
    keys: "gitemids",
    fields: &[
        field("gitemid", Id, ReadOnly, "Id."),
        field("graphid", Id, ReadOnly, "Graph."),
        field("itemid", Id, Required, "Item or item prototype."),
        field("drawtype", INT, Optional, DRAW_TYPES),
        field("sortorder", INT, Optional, "Position."),
        field("color", Text(6), Required, "Six hexadecimal digits."),
        field("yaxisside", INT, Optional, "0 left, 1 right."),
        field("calc_fnc", INT, Optional, "1 minimum, 2 average, 4 maximum, 7 all, 9 last (pie)."),
        field("type", INT, Optional, "0 simple, 2 sum of the graph (pie)."),
    ],
    strict: false,
    sort: &["gitemid"],
};

const DRAW_TYPES: &str =
    "0 line, 1 filled region, 2 bold line, 3 dots, 4 dashed line, 5 gradient line.";

#[cfg(test)]
mod tests;
