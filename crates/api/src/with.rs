//! The `with_…` options: hosts and templates by what they have.

use crate::get::Get;
use crate::parts;

/// All `with_…` options about hosts.
pub(crate) const OPTIONS: &[&str] = &[
    "with_items",
    "with_item_prototypes",
    "with_simple_graph_items",
    "with_simple_graph_item_prototypes",
    "with_monitored_items",
    "with_triggers",
    "with_monitored_triggers",
    "with_graphs",
    "with_graph_prototypes",
    "with_httptests",
    "with_monitored_httptests",
];

/// Conditions of the options that are set, on the host id in `column`.
pub(crate) fn conditions(get: &Get<'_, '_>, column: &str) -> Vec<String> {
    let set = OPTIONS.iter().filter(|option| get.flag(option));
    set.map(|option| condition(option, column)).collect()
}

fn condition(option: &str, column: &str) -> String {
    let items = |test: &str| format!("{column} IN (SELECT hostid FROM items WHERE {test})");
    let triggers = |test: &str| {
        format!(
            "{column} IN (SELECT wi.hostid FROM items wi \
               JOIN functions wf ON wf.itemid = wi.itemid \
               JOIN triggers wt ON wt.triggerid = wf.triggerid \
             WHERE wt.flags IN (0, 4){test})"
        )
    };
    match option {
        "with_items" => items("flags IN (0, 4)"),
        "with_monitored_items" => items("flags IN (0, 4) AND status = 0"),
        "with_simple_graph_items" => {
            items("flags IN (0, 4) AND status = 0 AND value_type IN (0, 3)")
        }
        "with_item_prototypes" => items("flags = 2"),
        "with_simple_graph_item_prototypes" => items("flags = 2 AND value_type IN (0, 3)"),
        "with_triggers" => triggers(""),
        "with_monitored_triggers" => triggers(" AND wi.status = 0 AND wt.status = 0"),
        "with_graphs" => parts::GRAPH.of_hosts(column),
        "with_graph_prototypes" => parts::GRAPH_PROTOTYPE.of_hosts(column),
        "with_monitored_httptests" => items("type = 9 AND params <> '' AND status = 0"),
        _ => parts::WEB_SCENARIO.of_hosts(column),
    }
}

/// The options that look only at hosts which are switched on, when they are asked of groups.
pub(crate) fn wants_monitored(get: &Get<'_, '_>) -> bool {
    ["with_monitored_items", "with_monitored_triggers", "with_monitored_httptests"]
        .iter()
        .any(|option| get.flag(option))
}
