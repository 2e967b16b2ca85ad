//! Columns of rows in the form of facts.

use config::db::Row;

/// Seconds, nanoseconds, steps; 0 for what is out of range.
pub(super) fn number(row: &Row, column: &str) -> u32 {
    u32::try_from(row.int(column)).unwrap_or(0)
}
