//! How late the escalator is, for self-monitoring.

use config::db::{DbResult, Reader};

use super::events::Position;
use super::stored;

/// Age in seconds of the oldest event that escalations have not been made of, or of the step that has been due for
/// longest. 0 = nothing waits.
pub fn delay_s(connection: &mut dyn Reader, now: i64) -> DbResult<u64> {
    let position = Position::read(connection)?;
    let sql = "SELECT clock FROM events WHERE eventid > ? ORDER BY eventid LIMIT 1";
    let rows = connection.query(sql, &[position.event.into()])?;
    let event = rows.first().map(|row| row.int("clock"));
    let oldest = event.into_iter().chain(stored::next_due(connection)?).min();
    Ok(oldest.and_then(|oldest| u64::try_from(now - oldest).ok()).unwrap_or(0))
}
