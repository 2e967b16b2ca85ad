//! Verbs that copy what objects inherit within the database. Their rows are in the record of changes; the
//! audit log has the change of the template instead.

use super::{Edit, IDS, NO_COLUMNS, ROWS, typed_values};
use crate::change::Operation;
use crate::db::{DbResult, Value, id_params, placeholders};
use crate::schema::Table;

impl Edit<'_> {
    /// Values that do not leave the database cannot be in the audit log.
    fn assert_inheriting(&self) {
        debug_assert!(self.trail.is_none(), "BUG: copies are made within `Edit::inheriting`");
    }

    /// Inserts objects that are like others: `rows` have the columns `own`, `like` is the one of them
    /// with the id of the other object, which gives all further columns.
    pub(crate) fn insert_like(
        &mut self,
        table: &'static Table,
        own: &[&str],
        like: &str,
        rows: &[Vec<Value>],
    ) -> DbResult<()> {
        self.assert_inheriting();
        let (key, rest) = (table.key[0], rest(table, own));
        let like = own.iter().position(|name| *name == like).map_or(1, |at| at + 1);
        for rows in rows.chunks(ROWS) {
            self.record_rows(table, own, rows)?;
            let from: Vec<String> = rest.iter().map(|name| format!(", s.{name}")).collect();
            let placed: Vec<String> = (1..=own.len()).map(|n| format!("v.column{n}")).collect();
            // CROSS JOIN makes SQLite walk the short list and look the others up, not the other way
            // round.
            let sql = format!(
                "INSERT INTO {} ({}) SELECT {}{} FROM ({}) AS v CROSS JOIN {} s \
                 WHERE s.{key} = v.column{like}",
                table.name,
                [own, &rest].concat().join(", "),
                placed.join(", "),
                from.concat(),
                typed_values(table, own, rows.len()),
                table.name,
            );
            self.statements.execute(&sql, &rows.concat())?;
        }
        Ok(())
    }

    /// Makes an object like another one: `own` are the columns that it has of its own.
    pub(crate) fn update_like(
        &mut self,
        table: &'static Table,
        id: u64,
        like: u64,
        own: &[(&str, Value)],
    ) -> DbResult<()> {
        self.assert_inheriting();
        let key = table.key[0];
        let mut names: Vec<&str> = own.iter().map(|(name, _)| *name).collect();
        names.push(key);
        let rest = rest(table, &names).join(", ");
        self.record(table, Operation::Update, table.columns.iter().map(|c| c.name), vec![id])?;
        let sets: Vec<String> = own.iter().map(|(name, _)| format!(", {name} = ?")).collect();
        let sql = format!(
            "UPDATE {name} SET ({rest}) = (SELECT {rest} FROM {name} s WHERE s.{key} = ?){} \
             WHERE {key} = ?",
            sets.concat(),
            name = table.name,
        );
        let mut params = vec![Value::from(like)];
        params.extend(own.iter().map(|(_, value)| value.clone()));
        params.push(id.into());
        self.statements.execute(&sql, &params).map(drop)
    }

    /// Gives objects of `objects` the rows of `details` that the objects in their `templateid` have.
    pub(crate) fn insert_details_like(
        &mut self,
        details: &'static Table,
        objects: &'static Table,
        ids: &[u64],
    ) -> DbResult<()> {
        self.assert_inheriting();
        let (owner, own_key) = (details.subject(), details.key[0]);
        for portion in ids.chunks(IDS) {
            let key = objects.key[0];
            let condition = match portion {
                [first, .., last] if last - first + 1 == portion.len() as u64 => {
                    (format!("n.{key} BETWEEN ? AND ?"), vec![*first, *last])
                }
                _ => (format!("n.{key} IN ({})", placeholders(portion.len())), portion.to_vec()),
            };
            let mut params = id_params(condition.1);
            let from = format!(
                "FROM {} n JOIN {} t ON t.{owner} = n.templateid WHERE {}",
                objects.name, details.name, condition.0
            );
            let rest = rest(details, &[owner, own_key]);
            let columns: Vec<String> = rest.iter().map(|name| format!(", t.{name}")).collect();
            let (mut own, mut select) = (owner.to_owned(), format!("n.{key}"));
            if own_key != owner {
                let rows = self.query(&format!("SELECT COUNT(*) AS n {from}"), &params)?;
                let count = rows.first().map_or(0, |row| row.id("n"));
                if count == 0 {
                    continue;
                }
                let first = self.next_id(details, count)?;
                params.insert(0, Value::from(first - 1));
                own += &format!(", {own_key}");
                select += &format!(
                    ", CAST(? AS BIGINT) + ROW_NUMBER() OVER (ORDER BY n.{key}, t.{own_key})"
                );
            }
            let rest: Vec<String> = rest.iter().map(|name| format!(", {name}")).collect();
            let sql = format!(
                "INSERT INTO {} ({own}{}) SELECT {select}{} {from}",
                details.name,
                rest.concat(),
                columns.concat()
            );
            let new = |id: &u64| self.changes.inserted(objects.name, *id);
            let (new, changed): (Vec<u64>, Vec<u64>) = portion.iter().copied().partition(new);
            self.changes.record_details(details, &new);
            self.record(details, Operation::Insert, NO_COLUMNS, changed)?;
            self.statements.execute(&sql, &params)?;
        }
        Ok(())
    }
}

/// Columns of a table but for `own`.
fn rest(table: &Table, own: &[&str]) -> Vec<&'static str> {
    table.columns.iter().map(|column| column.name).filter(|name| !own.contains(name)).collect()
}
