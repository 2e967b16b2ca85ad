//! The `with_…` options: hosts and templates by what they have.

use const_format::formatcp;
use objects::sql::{FLAGS_PROTOTYPE, FLAGS_REAL, NUMERIC, STATUS_ENABLED, TYPE_WEB};

use crate::get::Get;
use crate::methods::{graph, httptest};

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
             WHERE wt.flags IN {FLAGS_REAL}{test})"
        )
    };
    match option {
        "with_items" => items(formatcp!("flags IN {FLAGS_REAL}")),
        "with_monitored_items" => {
            items(formatcp!("flags IN {FLAGS_REAL} AND status = {STATUS_ENABLED}"))
        }
        "with_simple_graph_items" => items(formatcp!(
            "flags IN {FLAGS_REAL} AND status = {STATUS_ENABLED} AND value_type IN {NUMERIC}"
        )),
        "with_item_prototypes" => items(formatcp!("flags = {FLAGS_PROTOTYPE}")),
        "with_simple_graph_item_prototypes" => {
            items(formatcp!("flags = {FLAGS_PROTOTYPE} AND value_type IN {NUMERIC}"))
        }
        "with_triggers" => triggers(""),
        "with_monitored_triggers" => triggers(formatcp!(
            " AND wi.status = {STATUS_ENABLED} AND wt.status = {STATUS_ENABLED}"
        )),
        "with_graphs" => graph::of_hosts(column, graph::Kind::Graph),
        "with_graph_prototypes" => graph::of_hosts(column, graph::Kind::Prototype),
        "with_monitored_httptests" => {
            items(formatcp!("type = {TYPE_WEB} AND params <> '' AND status = {STATUS_ENABLED}"))
        }
        _ => httptest::of_hosts(column),
    }
}

/// The options that look only at hosts which are switched on, when they are asked of groups.
pub(crate) fn wants_monitored(get: &Get<'_, '_>) -> bool {
    ["with_monitored_items", "with_monitored_triggers", "with_monitored_httptests"]
        .iter()
        .any(|option| get.flag(option))
}
