//! What an import would change: the tree of now beside the tree to come, object by object.

use serde_json::{Map, json};

use super::{Rules, text};
use crate::call::{Call, Json};
use crate::error::ApiResult;
use crate::exchange::export;

/// Lists whose elements are objects of their own, with the rule that governs them.
const LISTS: &[(&str, &str)] = &[
    ("items", "items"),
    ("triggers", "triggers"),
    ("discovery_rules", "discoveryRules"),
    ("item_prototypes", "discoveryRules"),
    ("trigger_prototypes", "discoveryRules"),
    ("graph_prototypes", "discoveryRules"),
    ("host_prototypes", "discoveryRules"),
    ("valuemaps", "valueMaps"),
    ("dashboards", "templateDashboards"),
    ("httptests", "httptests"),
    ("graphs", "graphs"),
];

pub(super) fn compare(call: &Call<'_>, rules: &Rules, tree: &Json) -> ApiResult<Json> {
    let after: Vec<Json> =
        tree.get("templates").and_then(Json::as_array).cloned().unwrap_or_default();
    let names: Vec<&str> = after.iter().map(|template| text(template, "template")).collect();
    let mut before = Vec::new();
    for (name, node) in names.iter().zip(&after) {
        let rows = call.rows(
            "SELECT hostid FROM hosts WHERE kind = 1 AND (host = ? OR (uuid = ? AND uuid <> ''))",
            &[(*name).into(), text(node, "uuid").into()],
        )?;
        if let Some(row) = rows.first() {
            let tree = export::templates(call, &[row.id("hostid")])?;
            before.extend(
                tree.get("templates").and_then(Json::as_array).cloned().unwrap_or_default(),
            );
        }
    }
    let mut found = Map::new();
    if let Some(changes) = lists(rules, "templates", &before, &after) {
        found.insert("templates".into(), changes);
    }
    Ok(if found.is_empty() { json!([]) } else { Json::Object(found) })
}

/// Added, updated and removed elements; `None` = no difference that the rules allow.
fn lists(rules: &Rules, rule: &str, before: &[Json], after: &[Json]) -> Option<Json> {
    let rule_of = rules.of(rule);
    let same = |one: &Json, other: &Json| {
        let uuid = text(one, "uuid");
        (!uuid.is_empty() && uuid == text(other, "uuid")) || name(one) == name(other)
    };
    let mut changes: Map<String, Json> = Map::new();
    let mut put = |kind: &str, change: Json| {
        if let Json::Array(list) = changes.entry(kind).or_insert_with(|| json!([])) {
            list.push(change);
        }
    };
    for one in after {
        match before.iter().find(|other| same(one, other)) {
            None if rule_of.create => put("added", json!({ "after": one })),
            Some(other) => {
                if let Some(change) = object(rules, rule_of.update, other, one) {
                    put("updated", change);
                }
            }
            None => {}
        }
    }
    if rule_of.delete {
        for gone in before.iter().filter(|other| !after.iter().any(|one| same(one, other))) {
            put("removed", json!({ "before": gone }));
        }
    }
    (!changes.is_empty()).then_some(Json::Object(changes))
}

fn name(node: &Json) -> String {
    let parts = ["key", "template", "host", "name", "expression", "recovery_expression"];
    parts.iter().map(|part| text(node, part)).collect::<Vec<_>>().join("\n")
}

/// The difference of one object: its own members, and below them the lists of others.
fn object(rules: &Rules, update: bool, before: &Json, after: &Json) -> Option<Json> {
    let own = |node: &Json| -> Map<String, Json> {
        let members = node.as_object().into_iter().flatten();
        let members = members.filter(|(name, _)| !LISTS.iter().any(|(list, _)| list == name));
        // What an export leaves out because it is the default.
        let plain = members.filter(|(name, value)| !(*name == "delay" && *value == "0"));
        plain.map(|(name, value)| (name.clone(), value.clone())).collect()
    };
    let (one, other) = (own(before), own(after));
    let mut below = Map::new();
    for (list, rule) in LISTS {
        let of = |node: &Json| node.get(list).and_then(Json::as_array).cloned().unwrap_or_default();
        if let Some(changes) = lists(rules, rule, &of(before), &of(after)) {
            below.insert((*list).to_owned(), changes);
        }
    }
    let differs = update && !equal(&one, &other);
    if !differs && below.is_empty() {
        return None;
    }
    let mut change = Map::new();
    change.insert("before".into(), Json::Object(one));
    change.insert("after".into(), Json::Object(other));
    change.extend(below);
    Some(Json::Object(change))
}

/// Members in any order.
fn equal(one: &Map<String, Json>, other: &Map<String, Json>) -> bool {
    one.len() == other.len() && one.iter().all(|(name, value)| other.get(name) == Some(value))
}
