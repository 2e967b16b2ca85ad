//! Web scenarios in the audit log: entries of their own kind, although they are stored as items. The first item of
//! a scenario has it as a JSON document; the other items have no entries.

use objects::ItemType;
use serde_json::Value as Json;

use super::catalog::mask;
use crate::db::{Row, Value};
use crate::schema::Table;

/// Columns that belong to the scenario itself.
const COLUMNS: [&str; 3] = ["hostid", "delay", "status"];

/// Members whose values are secrets.
const SECRETS: [&str; 2] = ["http_password", "ssl_key_password"];

/// Whether the row of a table is an item of a scenario.
pub(super) fn is_part(table: &Table, row: &Row) -> bool {
    table.name == "items" && is_type(row.int("type"))
}

/// Whether items of this type are those of scenarios.
pub(super) fn is_type(kind: i64) -> bool {
    ItemType::Web.is(kind)
}

/// Whether the item has the scenario.
pub(super) fn has_document(row: &Row) -> bool {
    !row.text("params").is_empty()
}

/// The name of the scenario.
pub(super) fn name(row: &Row) -> String {
    document(row.text("params"))["name"].as_str().unwrap_or_default().to_owned()
}

fn document(text: &str) -> Json {
    serde_json::from_str(text).unwrap_or_default()
}

/// A field with what happened to it, as in [`Details::push`](super::details::Details::push).
pub(super) type Field = (String, Vec<String>);

fn what(word: &str, values: &[&str]) -> Vec<String> {
    [word].iter().chain(values).map(ToString::to_string).collect()
}

/// What a new scenario has.
pub(super) fn added(row: &Row) -> Vec<Field> {
    let of = |name: &str| row.get(name).map(ToString::to_string).unwrap_or_default();
    let columns = COLUMNS.iter().map(|name| ((*name).to_owned(), what("add", &[&of(name)])));
    let members = members(row.text("params")).into_iter().filter_map(|(name, value)| {
        let happened = match &value {
            Json::String(text) if text.is_empty() => return None,
            Json::String(text) => what("add", &[shown(&name, text)]),
            Json::Array(list) if list.is_empty() => return None,
            _ => what("add", &[]),
        };
        Some((name, happened))
    });
    columns.chain(members).collect()
}

/// What a change gives other values. Of lists the entry says only that they have changed: requests of steps,
/// headers and variables may contain passwords.
pub(super) fn updated(before: &Row, row: &[(&str, Value)]) -> Vec<Field> {
    let mut fields = Vec::new();
    for (name, value) in row {
        let (new, old) =
            (value.to_string(), before.get(name).map(ToString::to_string).unwrap_or_default());
        if *name == "params" {
            let then = members(&old);
            let of = |name: &str| then.iter().find(|(known, _)| known == name).map(|(_, v)| v);
            for (name, value) in members(&new) {
                let happened = match (&value, of(&name)) {
                    (value, Some(old)) if value == old => continue,
                    (Json::String(new), Some(Json::String(old))) => {
                        what("update", &[shown(&name, new), shown(&name, old)])
                    }
                    (Json::String(new), _) => what("add", &[shown(&name, new)]),
                    _ => what("update", &[]),
                };
                fields.push((name, happened));
            }
        } else if COLUMNS.contains(name) && new != old {
            fields.push(((*name).to_owned(), what("update", &[&new, &old])));
        }
    }
    fields
}

fn members(text: &str) -> Vec<(String, Json)> {
    match document(text) {
        // Tags are rows of their own.
        Json::Object(all) => all.into_iter().filter(|(name, _)| name != "tags").collect(),
        _ => Vec::new(),
    }
}

fn shown<'a>(name: &str, value: &'a str) -> &'a str {
    if SECRETS.contains(&name) { mask(value) } else { value }
}
