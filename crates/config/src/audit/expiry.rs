//! Deletes old entries.

use crate::Config;
use crate::db::{DbResult, Value, placeholders};
use crate::table;

/// Rows of one portion of [`delete_before`].
const PORTION: i64 = 2_000;

/// Deletes entries from before a moment, in seconds since 1970; returns their number. Other
/// changes run between its portions.
pub fn delete_before(config: &Config, clock: u64) -> DbResult<u64> {
    let old = |table: &str| {
        let sql = format!("SELECT auditid FROM {table} WHERE clock < ? LIMIT ?");
        let rows =
            config.read(|connection| connection.query(&sql, &[clock.into(), PORTION.into()]));
        rows.map(|rows| rows.iter().map(|row| Value::from(row.text("auditid"))).collect::<Vec<_>>())
    };
    let mut deleted = 0;
    loop {
        let (changes, sign_ins) = (old("auditlog")?, old("access_log")?);
        if changes.is_empty() && sign_ins.is_empty() {
            return Ok(deleted);
        }
        config.write(|edit| edit.delete_rows(&table::AUDITLOG, &[("auditid", &changes)]))?;
        config.write_state(|state| {
            let marks = placeholders(sign_ins.len());
            let sql = format!("DELETE FROM access_log WHERE auditid IN ({marks})");
            if sign_ins.is_empty() { Ok(0) } else { state.execute(&sql, &sign_ins) }
        })?;
        deleted += u64::try_from(changes.len() + sign_ins.len()).unwrap_or(0);
    }
}
