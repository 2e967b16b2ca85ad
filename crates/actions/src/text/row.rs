//! Columns of rows in the form of facts.

use std::collections::BTreeMap;

use config::db::{DbResult, Reader, Row, query_by_ids};
use model::Severity;

/// Seconds, nanoseconds, steps; 0 for what is out of range.
pub(super) fn number(row: &Row, column: &str) -> u32 {
    u32::try_from(row.int(column)).unwrap_or(0)
}

/// Tags in the order in which they were made, by event.
pub(super) fn read_tags(
    c: &mut dyn Reader,
    ids: &[u64],
) -> DbResult<BTreeMap<u64, Vec<(String, String)>>> {
    let sql = "SELECT eventid, tag, value FROM event_tags WHERE eventid IN ({ids}) \
               ORDER BY eventtagid";
    let mut tags: BTreeMap<u64, Vec<(String, String)>> = BTreeMap::new();
    for row in query_by_ids(c, sql, &[], ids)? {
        let tag = (row.text("tag").to_owned(), row.text("value").to_owned());
        tags.entry(row.id("eventid")).or_default().push(tag);
    }
    Ok(tags)
}

pub(super) fn severity(number: i64) -> Severity {
    Severity::from_number(number).unwrap_or(Severity::NotClassified)
}
