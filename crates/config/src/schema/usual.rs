//! Statistics of indexes in which most rows have the same value: 0 for none, the kind of a host.
//!
//! SQLite expects ten rows for a value of an index that it has no statistics of. It then finds the items of a host among
//! all items without a template, or a group's hosts among all hosts. Measured statistics (`ANALYZE`) would depend on what
//! there is when they are made; these are what a large installation has. PostgreSQL keeps its own.

use super::Table;

/// Rows that SQLite expects of a table without statistics.
const ROWS: u32 = 1 << 20;
/// Rows with one value: more than those of a host or an event, fewer than reading the whole table would cost.
const ROWS_OF_A_VALUE: u32 = 1 << 10;

/// A row of `sqlite_stat1` (<https://sqlite.org/fileformat2.html#stat1tab>).
#[derive(Debug)]
pub(crate) struct Statistic {
    pub(crate) table: &'static str,
    pub(crate) index: String,
    /// The number of rows, then of those that are equal in the first column, in the first two, and so on.
    pub(crate) rows: String,
}

/// What SQLite is to know of the indexes of these tables.
pub(crate) fn statistics<'t>(
    tables: impl Iterator<Item = &'t Table>,
) -> impl Iterator<Item = Statistic> {
    let indexes = tables.flat_map(|table| table.usual().map(|columns| (table.name, columns)));
    indexes.map(|(table, columns)| Statistic {
        table,
        index: format!("{table}_{}", columns.join("_")),
        rows: format!("{ROWS} {ROWS_OF_A_VALUE}{}", " 1".repeat(columns.len() - 1)),
    })
}
