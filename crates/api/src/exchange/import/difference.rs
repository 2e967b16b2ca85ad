//! What an import would change: the tree of now beside the tree after the import, object by
//! object. The import is carried out and taken back: what it makes of a text nobody else knows.

use const_format::formatcp;
use objects::sql::KIND_TEMPLATE;
use serde_json::{Map, json};

use super::{Import, Rules, text};
use crate::call::{Call, Json};
use crate::error::{ApiError, ApiResult};
use crate::exchange::export;

/// Lists whose elements are objects of their own, with the rule that governs them.
const LISTS: &[(&str, &str)] = &[
    ("template_groups", "template_groups"),
    ("host_groups", "host_groups"),
    ("templates", "templates"),
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
    let mut found = None;
    let done = call.together(|call| {
        let before = export::templates(call, &templates(call, tree)?)?;
        // Deletions reach beyond the database; what would go is seen without them.
        Import::new(call, rules.without_deletions()).tree(tree)?;
        let after = export::templates(call, &templates(call, tree)?)?;
        found = Some((before, after));
        // An error takes everything back.
        Err::<(), _>(ApiError::application("BUG: the comparison was not taken back"))
    });
    let Some((before, after)) = found else {
        return done.map(|()| json!([]));
    };
    let changes = members(rules, &before, &after, tree);
    Ok(if changes.is_empty() { json!([]) } else { Json::Object(changes) })
}

/// Ids of the import's templates that exist.
fn templates(call: &Call<'_>, tree: &Json) -> ApiResult<Vec<u64>> {
    let mut ids = Vec::new();
    for node in elements(tree, "templates") {
        let rows = call.rows(
            formatcp!("SELECT hostid FROM hosts WHERE kind = {KIND_TEMPLATE} AND (host = ? OR (uuid = ? AND uuid <> ''))"),
            &[text(node, "template").into(), text(node, "uuid").into()],
        )?;
        ids.extend(rows.first().map(|row| row.id("hostid")));
    }
    Ok(ids)
}

fn elements<'t>(node: &'t Json, name: &str) -> &'t [Json] {
    node.get(name).and_then(Json::as_array).map_or(&[], Vec::as_slice)
}

/// Objects below one node. Template linkage has the name of the list of templates, but only its
/// names.
fn members(rules: &Rules, before: &Json, after: &Json, wanted: &Json) -> Map<String, Json> {
    let mut changes = Map::new();
    for (name, rule) in LISTS {
        if let Some(found) = list(rules, name, rule, [before, after, wanted]) {
            changes.insert((*name).to_owned(), found);
        }
    }
    changes
}

/// Added, updated and removed elements; `None` = no difference that the rules allow.
fn list(rules: &Rules, name: &str, rule: &str, nodes: [&Json; 3]) -> Option<Json> {
    let [before, after, wanted] = nodes.map(|node| elements(node, name));
    // What links to another template is a member of the template, no object.
    let object_of = |node: &&Json| !(name == "templates" && node.get("template").is_none());
    let mut changes: Map<String, Json> = Map::new();
    let mut put = |kind: &str, change: Json| {
        if let Json::Array(list) = changes.entry(kind).or_insert_with(|| json!([])) {
            list.push(change);
        }
    };
    for one in after.iter().filter(object_of) {
        match before.iter().find(|other| same(one, other)) {
            None => put("added", added(rules, one)),
            Some(other) => {
                let empty = Json::Null;
                let wanted = wanted.iter().find(|wanted| same(one, wanted)).unwrap_or(&empty);
                if let Some(change) = object(rules, other, one, wanted) {
                    put("updated", change);
                }
            }
        }
    }
    // Whole templates and groups do not go because a text does not name them.
    if rules.of(rule).delete && name != "templates" {
        let gone = before.iter().filter(|other| !wanted.iter().any(|one| same(one, other)));
        gone.for_each(|gone| put("removed", json!({ "before": gone })));
    }
    (!changes.is_empty()).then_some(Json::Object(changes))
}

/// A new object: its own members, and below them the lists of others.
fn added(rules: &Rules, after: &Json) -> Json {
    let mut change = Map::new();
    change.insert("after".into(), Json::Object(own(after)));
    change.extend(members(rules, &Json::Null, after, after));
    Json::Object(change)
}

/// Members of an object that are no lists of other objects.
fn own(node: &Json) -> Map<String, Json> {
    // Of a template `templates` is its linkage.
    let is_list = |name: &str| name != "templates" && LISTS.iter().any(|(list, _)| *list == name);
    let members = node.as_object().into_iter().flatten();
    let members = members.filter(|(name, _)| !is_list(name));
    members.map(|(name, value)| (name.clone(), value.clone())).collect()
}

fn same(one: &Json, other: &Json) -> bool {
    let uuid = text(one, "uuid");
    (!uuid.is_empty() && uuid == text(other, "uuid")) || name(one) == name(other)
}

fn name(node: &Json) -> [&str; 6] {
    // Triggers are told apart by their expressions too.
    ["key", "template", "host", "name", "expression", "recovery_expression"]
        .map(|part| if part == "name" && node.get("key").is_some() { "" } else { text(node, part) })
}

/// The difference of one object: its own members, and below them the lists of others.
fn object(rules: &Rules, before: &Json, after: &Json, wanted: &Json) -> Option<Json> {
    let (mut one, mut other) = (own(before), own(after));
    as_written(&mut one, &mut other, wanted);
    let below = members(rules, before, after, wanted);
    if one == other && below.is_empty() {
        return None;
    }
    let mut change = Map::new();
    change.insert("before".into(), Json::Object(one));
    change.insert("after".into(), Json::Object(other));
    change.extend(below);
    Some(Json::Object(change))
}

/// Shows members as the import's text has them: a delay of an item that never asks for values is
/// there only if the text names it, and a default that replaces something else is named.
fn as_written(before: &mut Map<String, Json>, after: &mut Map<String, Json>, wanted: &Json) {
    if wanted.get("delay").is_none() && before.get("delay") == after.get("delay") {
        before.shift_remove("delay");
        after.shift_remove("delay");
    }
    let replaced = before.keys().filter(|name| !after.contains_key(*name));
    let named: Vec<(String, Json)> = replaced
        .filter_map(|name| Some((name.clone(), wanted.get(name)?.clone())))
        .filter(|(_, value)| value.is_string())
        .collect();
    after.extend(named);
}
