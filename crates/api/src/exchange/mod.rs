//! `configuration.import`, `.importcompare` and `.export`: templates, hosts and their groups as
//! text, in the form of Zabbix 7.0.
//!
//! An import is a series of calls of the objects' own methods within one transaction, so that
//! its rules are theirs; an export writes what the methods' tables say.

mod export;
mod format;
mod import;
#[cfg(test)]
mod tests;
mod words;

pub(crate) use export::natural;
pub(crate) use import::{BYTES_MAX, Places, convert_kept};

use std::collections::HashMap;

use crate::call::{Call, Json, Method, User};
use crate::error::{ApiError, ApiResult};
use crate::methods::trigger::expressions;
use format::Format;

/// What an export file (`yaml`, `xml` or `json`) says, in the form of 7.0: the tree of texts with
/// which an import begins. The error is the one that `configuration.import` gives.
pub fn read_export(format: &str, source: &str) -> ApiResult<Json> {
    let unknown = || ApiError::at("/format", "value must be one of \"yaml\", \"xml\", \"json\"");
    import::tree_of(Format::named(format).ok_or_else(unknown)?, source)
}

/// A tree of [`read_export`] as an export file; `None` = no such format.
pub fn write_export(format: &str, tree: &Json) -> Option<String> {
    let whole = serde_json::json!({ "zabbix_export": tree });
    Format::named(format)?.write(&whole, false).as_str().map(str::to_owned)
}

/// Refuses YAML that would need too much memory, and what no export has: aliases, deep nesting, several documents.
pub(crate) fn check_yaml(user: &User, source: &str) -> ApiResult<()> {
    import::check_source(user, Format::Yaml, source)?;
    Format::Yaml.parse(source).map(drop)
}

pub(crate) const METHODS: &[Method] = &[
    Method::user("configuration.import", import::run),
    Method::user("configuration.importcompare", import::compare),
    Method::user("configuration.export", export::run),
];

/// Puts stored expressions of triggers into the form that people write; user macros stay.
fn write_expressions(call: &Call<'_>, rows: &mut [Json]) -> ApiResult<()> {
    for member in ["expression", "recovery_expression"] {
        let text =
            |row: &Json, name: &str| row.get(name).and_then(Json::as_str).unwrap_or("").to_owned();
        let stored: Vec<(u64, String)> = rows
            .iter()
            .map(|row| (text(row, "triggerid").parse().unwrap_or(0), text(row, member)))
            .collect();
        let written: HashMap<u64, String> = expressions(call, &stored)?;
        for (row, (id, _)) in rows.iter_mut().zip(&stored) {
            if let (Some(shown), Some(text)) = (row.get_mut(member), written.get(id)) {
                *shown = text.as_str().into();
            }
        }
    }
    Ok(())
}
