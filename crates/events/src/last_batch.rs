//! Which batch of findings was written last. It shows whether one was kept whose transaction ended
//! without a result.

use config::Statements;
use config::db::{DbResult, Reader};

/// The row of the table `state_settings`.
const NAME: &str = "last_batch";

/// A random id.
pub(crate) fn new_id() -> DbResult<String> {
    config::objects::new_uuid()
}

/// Writes the id with the batch. SQLite needs none: it always knows whether it has committed.
pub(crate) fn write(edit: &mut Statements<'_>, id: &str) -> DbResult<()> {
    if edit.has_parts() {
        return Ok(());
    }
    edit.execute(
        "INSERT INTO state_settings (name, value) VALUES (?, ?) \
         ON CONFLICT (name) DO UPDATE SET value = excluded.value",
        &[NAME.into(), id.into()],
    )
    .map(drop)
}

/// The id of the batch that was written last.
pub(crate) fn read(connection: &mut dyn Reader) -> DbResult<Option<String>> {
    let rows =
        connection.query("SELECT value FROM state_settings WHERE name = ?", &[NAME.into()])?;
    Ok(rows.first().map(|row| row.text("value").to_owned()))
}
