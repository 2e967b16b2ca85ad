//! The step to the first version with maps: the icons that a new database has.

use super::{has_columns, insert};
use crate::db::Connection;
use crate::seed::icon_rows;

/// Fills the table, if it is new.
pub(super) fn statements(connection: &mut dyn Connection) -> String {
    if has_columns(connection, "images", "imageid") {
        return String::new();
    }
    icon_rows().iter().map(|(table, row)| insert(table, row)).collect()
}
