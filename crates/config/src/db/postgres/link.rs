//! A connection to PostgreSQL: prepared statements, parameters and rows.

use std::collections::HashMap;
use std::sync::Arc;

use postgres::fallible_iterator::FallibleIterator;
use postgres::types::{ToSql, Type};
use postgres::{Client, Config, NoTls, Statement};

use super::super::{DbError, DbResult, Row, Value};
use super::errors::with_source;

/// Statements kept prepared per connection; beyond, all are forgotten at once.
const STATEMENTS_MAX: usize = 256;

/// Rows of a large result that are in memory at once.
const BLOCK_ROWS: usize = 256;

/// A connection and what was prepared on it.
pub(super) struct Link {
    pub(super) client: Client,
    prepared: HashMap<String, Statement>,
}

pub(super) fn open(config: &Config, url: &str) -> DbResult<Link> {
    match config.connect(NoTls) {
        Ok(client) => Ok(Link { client, prepared: HashMap::new() }),
        Err(error) => Err(DbError::Connect { url: url.to_owned(), reason: with_source(&error) }),
    }
}

/// `?` becomes `$1`, `$2` … outside of quoted texts.
fn numbered(sql: &str) -> String {
    let mut out = String::with_capacity(sql.len() + 16);
    let (mut n, mut quoted) = (0, false);
    for c in sql.chars() {
        match c {
            '\'' => quoted = !quoted,
            '?' if !quoted => {
                n += 1;
                out.push('$');
                out.push_str(&n.to_string());
                continue;
            }
            _ => {}
        }
        out.push(c);
    }
    out
}

impl Link {
    fn prepare(&mut self, sql: &str) -> Result<Statement, postgres::Error> {
        if let Some(statement) = self.prepared.get(sql) {
            return Ok(statement.clone());
        }
        let statement = self.client.prepare(&numbered(sql))?;
        if self.prepared.len() >= STATEMENTS_MAX {
            self.prepared.clear();
        }
        self.prepared.insert(sql.to_owned(), statement.clone());
        Ok(statement)
    }
}

/// PostgreSQL's texts cannot hold U+0000; the sign for it takes its place, as in history.
fn storable(text: String) -> String {
    if text.contains('\0') { text.replace('\0', "\u{2400}") } else { text }
}

/// Parameters in the type that the statement expects.
fn bound(statement: &Statement, params: &[Value]) -> Vec<Box<dyn ToSql + Sync>> {
    let types = statement.params().iter().chain(std::iter::repeat(&Type::TEXT));
    params
        .iter()
        .zip(types)
        .map(|(value, kind)| -> Box<dyn ToSql + Sync> {
            match *kind {
                Type::INT8 => Box::new(value.as_int()),
                Type::INT4 => Box::new(i32::try_from(value.as_int()).unwrap_or(i32::MAX)),
                _ => Box::new(storable(value.to_string())),
            }
        })
        .collect()
}

impl Link {
    pub(super) fn query(
        &mut self,
        sql: &str,
        params: &[Value],
    ) -> Result<Vec<Row>, postgres::Error> {
        let statement = self.prepare(sql)?;
        let columns: Arc<[Box<str>]> =
            statement.columns().iter().map(|c| Box::from(c.name())).collect();
        let params = bound(&statement, params);
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p).collect();
        let rows = self.client.query(&statement, &params)?;
        rows.iter().map(|row| to_row(&columns, row)).collect()
    }

    /// Sends the rows in blocks to `to` until that takes no more (`false`). The server waits with the
    /// rows that `to` has not taken yet.
    pub(super) fn each(
        &mut self,
        sql: &str,
        params: &[Value],
        to: impl Fn(Vec<Row>) -> bool,
    ) -> Result<(), postgres::Error> {
        let statement = self.prepare(sql)?;
        let columns: Arc<[Box<str>]> =
            statement.columns().iter().map(|c| Box::from(c.name())).collect();
        let params = bound(&statement, params);
        let mut rows = self.client.query_raw(&statement, params.iter().map(|p| &**p))?;
        let mut block = Vec::new();
        while let Some(row) = rows.next()? {
            block.push(to_row(&columns, &row)?);
            if block.len() == BLOCK_ROWS && !to(std::mem::take(&mut block)) {
                return Ok(());
            }
        }
        // Whether the last are taken makes no difference.
        let _taken = block.is_empty() || to(block);
        Ok(())
    }

    pub(super) fn execute(&mut self, sql: &str, params: &[Value]) -> Result<u64, postgres::Error> {
        let statement = self.prepare(sql)?;
        let params = bound(&statement, params);
        let params: Vec<&(dyn ToSql + Sync)> = params.iter().map(|p| &**p).collect();
        self.client.execute(&statement, &params)
    }
}

fn to_row(columns: &Arc<[Box<str>]>, row: &postgres::Row) -> Result<Row, postgres::Error> {
    let values = (0..columns.len()).map(|at| from_postgres(row, at)).collect::<Result<_, _>>()?;
    Ok(Row { columns: Arc::clone(columns), values })
}

fn from_postgres(row: &postgres::Row, at: usize) -> Result<Value, postgres::Error> {
    Ok(match *row.columns()[at].type_() {
        Type::INT8 => Value::Int(row.try_get::<_, Option<i64>>(at)?.unwrap_or(0)),
        Type::INT4 => Value::Int(row.try_get::<_, Option<i32>>(at)?.map_or(0, i64::from)),
        Type::BOOL => Value::Int(row.try_get::<_, Option<bool>>(at)?.map_or(0, i64::from)),
        _ => Value::Text(row.try_get::<_, Option<String>>(at)?.unwrap_or_default()),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn placeholders_are_numbered_outside_of_texts() {
        assert_eq!(
            numbered("SELECT a FROM t WHERE a = ? AND b LIKE '%?%' AND c IN (?, ?)"),
            "SELECT a FROM t WHERE a = $1 AND b LIKE '%?%' AND c IN ($2, $3)"
        );
    }
}
