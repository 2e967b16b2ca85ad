//! The step to the first version with maps: the icons that a new database has.

use super::insert;
use crate::seed::icon_rows;

/// The first version with icons.
const FIRST: i64 = 19;

/// Fills the table of a database of version `from`.
pub(super) fn statements(from: i64) -> String {
    if from >= FIRST {
        return String::new();
    }
    icon_rows().iter().map(|(table, row)| insert(table, row)).collect()
}
