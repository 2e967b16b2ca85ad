//! SQLite: the default, a file beside the history.

use std::borrow::Cow;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use percent_encoding::{AsciiSet, NON_ALPHANUMERIC, percent_encode};
use rusqlite::ErrorCode;
use rusqlite::config::DbConfig;
use rusqlite::types::{ToSql, ToSqlOutput, ValueRef};

use super::{Cell, Cells, Connection, DbError, DbResult, Reader, Row, SharedDisk, Value};

/// Statements kept prepared per connection.
const STATEMENTS_MAX: usize = 256;

/// Longer statements, which have lists of ids in their text, are not kept: each is used once.
const KEPT_BYTES_MAX: usize = 16 * 1024;

/// Steps of SQLite's virtual machine between two looks at the flag of [`Connection::stop_when`]:
/// far below a millisecond.
const STEPS_BETWEEN_LOOKS: i32 = 10_000;

struct Sqlite {
    connection: rusqlite::Connection,
    disk: SharedDisk,
}

pub(super) fn connect(path: &Path, disk: SharedDisk) -> DbResult<Box<dyn Connection>> {
    let fail = |reason: rusqlite::Error| DbError::Connect {
        url: path.display().to_string(),
        reason: reason.to_string(),
    };
    let connection = rusqlite::Connection::open(path).map_err(fail)?;
    connection.busy_timeout(Duration::from_secs(10)).map_err(fail)?;
    connection.set_prepared_statement_cache_capacity(STATEMENTS_MAX);
    // WAL lets readers continue while the writer works. NORMAL syncs at checkpoints alone; between
    // them `durable` syncs the log for callers that promised durability.
    connection
        .execute_batch(
            "PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL; PRAGMA foreign_keys = ON;
             PRAGMA temp_store = MEMORY; PRAGMA cache_size = -16384;",
        )
        .map_err(fail)?;
    // Or a statement whose plan could depend on a bound value is prepared again for each value: a
    // sixth of the time of making hosts.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_ENABLE_QPSG, true).map_err(fail)?;
    // The log stays when the last connection closes: a start that finds none has lost changes.
    connection.set_db_config(DbConfig::SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, true).map_err(fail)?;
    Ok(Box::new(Sqlite { connection, disk }))
}

/// Lets the connection read another file as the schema `name`.
pub(super) fn attach(connection: &mut dyn Connection, path: &Path, name: &str) -> DbResult<()> {
    let path = percent_encode(path.as_os_str().as_encoded_bytes(), PATH);
    let uri = format!("file:{path}?mode=ro");
    connection.execute(&format!("ATTACH DATABASE ? AS {name}"), &[uri.into()])?;
    connection.batch(&format!("PRAGMA {name}.cache_size = -16384"))
}

/// What a path in a URI has in encoded form.
const PATH: &AsciiSet = &NON_ALPHANUMERIC.remove(b'/').remove(b'.').remove(b'-').remove(b'_');

impl ToSql for Value {
    fn to_sql(&self) -> rusqlite::Result<ToSqlOutput<'_>> {
        Ok(match self {
            Self::Int(v) => ToSqlOutput::Borrowed(ValueRef::Integer(*v)),
            Self::Text(text) => ToSqlOutput::Borrowed(ValueRef::Text(text.as_bytes())),
        })
    }
}

fn fail(sql: &str, error: rusqlite::Error) -> DbError {
    if let rusqlite::Error::SqliteFailure(code, ref text) = error
        && code.code == ErrorCode::ConstraintViolation
    {
        return DbError::Constraint(text.clone().unwrap_or_default());
    }
    match error.sqlite_error_code() {
        None
        | Some(ErrorCode::TooBig | ErrorCode::TypeMismatch | ErrorCode::ParameterOutOfRange) => {
            DbError::statement(sql, error)
        }
        // The file, the disk, the schema or another process.
        Some(_) => DbError::unavailable(sql, error),
    }
}

impl Sqlite {
    fn reach(&self, sql: &str) -> DbResult<()> {
        self.disk.statement(sql).map_err(|error| DbError::unavailable(sql, error))
    }

    fn prepare(&self, sql: &str) -> DbResult<rusqlite::CachedStatement<'_>> {
        tracing::trace!(target: "config::sql", sql);
        self.reach(sql)?;
        self.connection.prepare_cached(sql).map_err(|e| fail(sql, e))
    }
}

fn forget_long(statement: rusqlite::CachedStatement<'_>, sql: &str) {
    if sql.len() > KEPT_BYTES_MAX {
        statement.discard();
    }
}

impl Reader for Sqlite {
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        let mut statement = self.prepare(sql)?;
        let columns: Arc<[Box<str>]> = statement.column_names().map(Box::from).collect();
        let mut rows =
            statement.query(rusqlite::params_from_iter(params)).map_err(|e| fail(sql, e))?;
        let mut result = Vec::new();
        while let Some(row) = rows.next().map_err(|e| fail(sql, e))? {
            let values = (0..columns.len())
                .map(|at| row.get_ref(at).map(from_sqlite))
                .collect::<Result<_, _>>()
                .map_err(|e| fail(sql, e))?;
            result.push(Row { columns: Arc::clone(&columns), values });
        }
        drop(rows);
        forget_long(statement, sql);
        Ok(result)
    }

    fn each_until(
        &mut self,
        sql: &str,
        params: &[Value],
        row: &mut dyn FnMut(&dyn Cells) -> ControlFlow<()>,
    ) -> DbResult<()> {
        let mut statement = self.prepare(sql)?;
        let mut rows =
            statement.query(rusqlite::params_from_iter(params)).map_err(|e| fail(sql, e))?;
        while let Some(found) = rows.next().map_err(|e| fail(sql, e))? {
            if row(&Found(found)).is_break() {
                break;
            }
        }
        drop(rows);
        forget_long(statement, sql);
        Ok(())
    }

    fn rest(&mut self) {
        // Only a cache: whether it shrinks makes no difference to what is read.
        drop(self.connection.execute_batch("PRAGMA shrink_memory"));
    }
}

impl Connection for Sqlite {
    fn stop_when(&mut self, flag: Option<Arc<AtomicBool>>) {
        let handler = flag.map(|flag| move || flag.load(Ordering::Relaxed));
        // It fails for a connection that this process does not own, which is not the case here.
        drop(self.connection.progress_handler(STEPS_BETWEEN_LOOKS, handler));
    }

    fn has_parts(&self) -> bool {
        true
    }

    fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64> {
        let mut statement = self.prepare(sql)?;
        let changed =
            statement.execute(rusqlite::params_from_iter(params)).map_err(|e| fail(sql, e))?;
        Ok(u64::try_from(changed).unwrap_or(u64::MAX))
    }

    fn batch(&mut self, sql: &str) -> DbResult<()> {
        self.reach(sql)?;
        self.connection.execute_batch(sql).map_err(|e| fail(sql, e))
    }
}

struct Found<'a>(&'a rusqlite::Row<'a>);

impl Cells for Found<'_> {
    fn cell(&self, at: usize) -> Cell<'_> {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(v)) => Cell::Int(v),
            Ok(ValueRef::Text(bytes) | ValueRef::Blob(bytes)) => {
                Cell::Text(String::from_utf8_lossy(bytes))
            }
            Ok(ValueRef::Real(v)) => Cell::Text(Cow::Owned(v.to_string())),
            Ok(ValueRef::Null) | Err(_) => Cell::Int(0),
        }
    }

    fn int(&self, at: usize) -> i64 {
        match self.0.get_ref(at) {
            Ok(ValueRef::Integer(v)) => v,
            Ok(other) => from_sqlite(other).as_int(),
            Err(_) => 0,
        }
    }

    fn text(&self, at: usize) -> &str {
        self.0.get_ref(at).ok().and_then(|value| value.as_str().ok()).unwrap_or_default()
    }
}

fn from_sqlite(value: ValueRef<'_>) -> Value {
    match value {
        ValueRef::Null => Value::Int(0),
        ValueRef::Integer(v) => Value::Int(v),
        ValueRef::Real(v) => Value::Text(v.to_string()),
        ValueRef::Text(bytes) | ValueRef::Blob(bytes) => {
            Value::Text(String::from_utf8_lossy(bytes).into_owned())
        }
    }
}
