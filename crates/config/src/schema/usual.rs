//! Statistics of indexes in which most rows have the same value: 0 for none, the kind of a host.
//!
//! SQLite expects ten rows for a value of an index that it has no statistics of. It then finds the items of a host among
//! all items without a template, or a group's hosts among all hosts. Measured statistics (`ANALYZE`) would depend on what
//! there is when they are made; these are what a large installation has. PostgreSQL keeps its own.

use super::Table;
use crate::db::{Connection, DbResult};

/// Rows that SQLite expects of a table without statistics.
const ROWS: u32 = 1 << 20;
/// Rows with one value: more than those of a host or an event, fewer than reading the whole table would cost.
const ROWS_OF_A_VALUE: u32 = 1 << 10;

/// Notes the statistics that the file does not have. Others, such as those of an `ANALYZE`, stay.
pub(crate) fn note<'t>(
    connection: &mut dyn Connection,
    tables: impl Iterator<Item = &'t Table>,
) -> DbResult<()> {
    // Fails if there are none yet.
    let known = connection.query("SELECT idx FROM main.sqlite_stat1", &[]).unwrap_or_default();
    let mut sql = String::new();
    for (table, columns) in tables.flat_map(|table| table.usual().map(move |index| (table, index)))
    {
        let name = format!("{table}_{}", columns.join("_"));
        if !known.iter().any(|row| row.text("idx") == name) {
            // The number of rows, then of those that are equal in the first column, in the first two, and so on.
            let rest = " 1".repeat(columns.len() - 1);
            sql += &format!(
                "INSERT INTO main.sqlite_stat1 (tbl, idx, stat) \
                 VALUES ('{table}', '{name}', '{ROWS} {ROWS_OF_A_VALUE}{rest}');\n"
            );
        }
    }
    if sql.is_empty() {
        return Ok(());
    }
    // Makes the table, if it is missing; then reads what it has.
    connection.batch(&format!("ANALYZE main.sqlite_schema;\n{sql}ANALYZE main.sqlite_schema;"))
}

#[cfg(test)]
mod tests {
    use crate::db::{Db, Location};

    #[test]
    fn rows_are_found_by_what_tells_them_apart() {
        let dir = tempfile::tempdir().unwrap();
        let location = Location::Sqlite(dir.path().join("config.db"));
        drop(Db::open(location.clone()).unwrap());
        let db = Db::open(location).unwrap();
        let noted = db.read(|c| c.query("SELECT idx FROM main.sqlite_stat1", &[])).unwrap();
        assert_eq!(noted.len(), 13, "once each");
        let plan = |sql: &str| {
            let rows = db.read(|c| c.query(&format!("EXPLAIN QUERY PLAN {sql}"), &[])).unwrap();
            rows.iter().map(|row| row.text("detail").to_owned()).collect::<Vec<_>>()
        };
        for (sql, index) in [
            ("SELECT name FROM items WHERE hostid = 5 AND templateid = 0", "items_hostid_key_"),
            ("SELECT name FROM hosts WHERE kind = 0 AND host = 'a'", "hosts_host"),
            (
                "SELECT status FROM alerts WHERE p_eventid = 0 AND eventid IN (1, 2)",
                "alerts_eventid",
            ),
            // Alone they still find rows.
            ("SELECT name FROM items WHERE templateid = 7", "items_templateid"),
            ("SELECT name FROM hosts WHERE kind = 1", "hosts_kind"),
        ] {
            let plan = plan(sql);
            assert!(plan.iter().any(|step| step.contains(&format!(" INDEX {index} "))), "{plan:?}");
        }
    }
}
