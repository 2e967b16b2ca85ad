//! What a transaction says to the database.

use crate::db::{Connection, DbResult, Row, Value, placeholders, read_through};
use crate::schema::{Table, is_state};

/// Parameters in one statement: SQLite takes 32,766.
const PARAMS_MAX: usize = 16_000;

/// Ids below are those of the initial objects.
const FIRST_ID: u64 = 10_000;

/// The statements of a transaction. That of [`crate::Config::write_state`] has nothing else.
pub struct Statements<'a> {
    connection: &'a mut dyn Connection,
}

impl std::fmt::Debug for Statements<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Statements").finish_non_exhaustive()
    }
}

read_through!(Statements<'_>, connection);

impl<'a> Statements<'a> {
    pub(crate) fn new(connection: &'a mut dyn Connection) -> Self {
        Self { connection }
    }

    pub(crate) fn connection(&mut self) -> &mut dyn Connection {
        self.connection
    }

    /// Whether configuration and state are separate databases, of which it changes one.
    pub fn has_parts(&self) -> bool {
        self.connection.has_parts()
    }

    /// Rows of a SELECT, changes of this transaction included.
    pub fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        self.connection.query(sql, params)
    }

    /// Runs a statement; returns the number of changed rows.
    pub fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64> {
        self.connection.execute(sql, params)
    }

    /// Reserves `n` ids of a table and returns the first. Ids are never given out twice.
    pub fn next_id(&mut self, table: &'static Table, n: u64) -> DbResult<u64> {
        self.next_id_of(table.name, n)
    }

    /// Reserves ids of objects that have no table of their own.
    pub fn next_id_of(&mut self, space: &str, n: u64) -> DbResult<u64> {
        let ids = if is_state(space) { "state_ids" } else { "ids" };
        let sql = format!("SELECT next FROM {ids} WHERE name = ?");
        let rows = self.query(&sql, &[space.into()])?;
        let (first, known) = rows.first().map_or((FIRST_ID, false), |row| (row.id("next"), true));
        let next = [Value::from(first + n), Value::from(space)];
        if known {
            self.execute(&format!("UPDATE {ids} SET next = ? WHERE name = ?"), &next)?;
        } else {
            self.execute(&format!("INSERT INTO {ids} (next, name) VALUES (?, ?)"), &next)?;
        }
        Ok(first)
    }

    /// Inserts a row; columns that are not given get their defaults.
    pub fn insert(&mut self, table: &'static Table, row: &[(&str, Value)]) -> DbResult<()> {
        let names: Vec<&str> = row.iter().map(|(name, _)| *name).collect();
        let sql = format!(
            "INSERT INTO {table} ({}) VALUES ({})",
            names.join(", "),
            placeholders(row.len())
        );
        let params: Vec<Value> = row.iter().map(|(_, value)| value.clone()).collect();
        self.execute(&sql, &params).map(drop)
    }

    /// Inserts rows with the same columns, many in one statement.
    pub fn insert_many(
        &mut self,
        table: &'static Table,
        columns: &[&str],
        rows: &[Vec<Value>],
    ) -> DbResult<()> {
        let fits = |row: &Vec<Value>| row.len() == columns.len();
        debug_assert!(
            rows.iter().all(fits),
            "BUG: a row of {table} without a value for each column"
        );
        for rows in rows.chunks(rows_max(columns)) {
            let values: Vec<Value> = rows.iter().flatten().cloned().collect();
            self.insert_values(table, columns, &values)?;
        }
        Ok(())
    }

    /// The same of rows whose values follow each other.
    pub(crate) fn insert_values(
        &mut self,
        table: &'static Table,
        columns: &[&str],
        values: &[Value],
    ) -> DbResult<()> {
        for values in values.chunks(rows_max(columns) * columns.len()) {
            let one = format!("({})", placeholders(columns.len()));
            let sql = format!(
                "INSERT INTO {table} ({}) VALUES {}",
                columns.join(", "),
                vec![one; values.len() / columns.len()].join(", ")
            );
            self.execute(&sql, values)?;
        }
        Ok(())
    }

    /// Inserts a row with a new id in the table's single key column; returns the id.
    pub fn insert_new(&mut self, table: &'static Table, row: &[(&str, Value)]) -> DbResult<u64> {
        let id = self.next_id(table, 1)?;
        let mut with_id = vec![(table.key[0], Value::from(id))];
        with_id.extend_from_slice(row);
        self.insert(table, &with_id)?;
        Ok(id)
    }

    /// Changes columns of the row with this id.
    pub fn update(
        &mut self,
        table: &'static Table,
        id: u64,
        row: &[(&str, Value)],
    ) -> DbResult<()> {
        if row.is_empty() {
            return Ok(());
        }
        let key = table.key[0];
        let sets: Vec<String> = row.iter().map(|(name, _)| format!("{name} = ?")).collect();
        let sql = format!("UPDATE {table} SET {} WHERE {key} = ?", sets.join(", "));
        let mut params: Vec<Value> = row.iter().map(|(_, value)| value.clone()).collect();
        params.push(id.into());
        self.execute(&sql, &params).map(drop)
    }

    /// Deletes rows by a column's values.
    pub fn delete(&mut self, table: &'static Table, column: &str, ids: &[u64]) -> DbResult<()> {
        for portion in ids.chunks(5_000) {
            let marks = placeholders(portion.len());
            let sql = format!("DELETE FROM {table} WHERE {column} IN ({marks})");
            self.execute(&sql, &crate::db::id_params(portion.iter().copied()))?;
        }
        Ok(())
    }
}

/// Rows of these columns in one statement.
fn rows_max(columns: &[&str]) -> usize {
    (PARAMS_MAX / columns.len().max(1)).max(1)
}
