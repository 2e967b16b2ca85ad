//! Graphs and the items that they show.

use super::{Word, YES, always, text, text_or, word};

/// A graph or graph prototype; items come beside.
pub(in crate::exchange) const GRAPH: &[Word] = &[
    text("uuid", "uuid"),
    always("name", "name"),
    text_or("width", "width", "900"),
    text_or("height", "height", "200"),
    text_or("yaxismin", "yaxismin", "0"),
    text_or("yaxismax", "yaxismax", "100"),
    word("show_work_period", "show_work_period", YES, "1"),
    word("show_triggers", "show_triggers", YES, "1"),
    word(
        "type",
        "graphtype",
        &[("NORMAL", "0"), ("STACKED", "1"), ("PIE", "2"), ("EXPLODED", "3")],
        "0",
    ),
    word("show_legend", "show_legend", YES, "1"),
    word("show_3d", "show_3d", YES, "0"),
    text_or("percent_left", "percent_left", "0"),
    text_or("percent_right", "percent_right", "0"),
    word("ymin_type_1", "ymin_type", AXIS, "0"),
    word("ymax_type_1", "ymax_type", AXIS, "0"),
];

const AXIS: &[(&str, &str)] = &[("CALCULATED", "0"), ("FIXED", "1"), ("ITEM", "2")];

/// Members with the item of an end of the Y axis, in an export and in the API.
pub(in crate::exchange) const GRAPH_AXES: &[(&str, &str)] =
    &[("ymin_item_1", "ymin_itemid"), ("ymax_item_1", "ymax_itemid")];

/// An item of a graph; `item` comes beside.
pub(in crate::exchange) const GRAPH_ITEM: &[Word] = &[
    text_or("sortorder", "sortorder", "0"),
    word(
        "drawtype",
        "drawtype",
        &[
            ("SINGLE_LINE", "0"),
            ("FILLED_REGION", "1"),
            ("BOLD_LINE", "2"),
            ("DOTTED_LINE", "3"),
            ("DASHED_LINE", "4"),
            ("GRADIENT_LINE", "5"),
        ],
        "0",
    ),
    always("color", "color"),
    word("yaxisside", "yaxisside", &[("LEFT", "0"), ("RIGHT", "1")], "0"),
    word(
        "calc_fnc",
        "calc_fnc",
        &[("MIN", "1"), ("AVG", "2"), ("MAX", "4"), ("ALL", "7"), ("LAST", "9")],
        "2",
    ),
    word("type", "type", &[("SIMPLE", "0"), ("GRAPH_SUM", "2")], "0"),
];
