//! The step to the first version with maps: the icons that a new database has.

use super::{has_rows, insert};
use crate::db::Connection;
use crate::seed::icon_rows;

/// The first version with icons.
const FIRST: i64 = 19;

/// Fills the table of a database of version `from`.
pub(super) fn statements(connection: &mut dyn Connection, from: i64) -> String {
    if from >= FIRST || has_rows(connection, "images") {
        return String::new();
    }
    icon_rows().iter().map(|(table, row)| insert(table, row)).collect()
}
