//! Preprocessing and tags of many objects at once.

use std::collections::HashMap;

use objects::{OnFail, StepKind};

use super::{Step, Tag};
use crate::db::{DbError, DbResult, Reader, query_by_ids};

/// Preprocessing of items.
pub(crate) fn steps(connection: &mut dyn Reader, ids: &[u64]) -> DbResult<HashMap<u64, Vec<Step>>> {
    let sql = "SELECT itemid, type, params, error_handler, error_handler_params \
               FROM item_preprocessing WHERE itemid IN ({ids}) ORDER BY itemid, step";
    let mut found: HashMap<u64, Vec<Step>> = HashMap::new();
    for row in query_by_ids(connection, sql, &[], ids)? {
        let (item, kind, handler) = (row.id("itemid"), row.int("type"), row.int("error_handler"));
        let unknown = |what: &str, number: i64| DbError::Statement {
            sql: sql.to_owned(),
            reason: format!("item {item} has a preprocessing step of the unknown {what} {number}"),
        };
        found.entry(item).or_default().push(Step {
            kind: StepKind::from_number(kind).ok_or_else(|| unknown("type", kind))?,
            params: row.text("params").to_owned(),
            error_handler: OnFail::from_number(handler)
                .ok_or_else(|| unknown("error handler", handler))?,
            error_handler_params: row.text("error_handler_params").to_owned(),
        });
    }
    Ok(found)
}

/// Tags, sorted, from `item_tags` or `trigger_tags`.
pub(crate) fn tags(
    connection: &mut dyn Reader,
    table: &str,
    key: &str,
    ids: &[u64],
) -> DbResult<HashMap<u64, Vec<Tag>>> {
    let sql = format!("SELECT {key}, tag, value FROM {table} WHERE {key} IN ({{ids}})");
    let mut found: HashMap<u64, Vec<Tag>> = HashMap::new();
    for row in query_by_ids(connection, &sql, &[], ids)? {
        found
            .entry(row.id(key))
            .or_default()
            .push(Tag { tag: row.text("tag").to_owned(), value: row.text("value").to_owned() });
    }
    for tags in found.values_mut() {
        tags.sort();
    }
    Ok(found)
}
