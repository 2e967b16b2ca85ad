//! One query layer over SQLite and PostgreSQL.
//!
//! SQL is written once, in the subset that both understand: `?` for parameters, `BIGINT` and
//! `TEXT` columns without NULL (0 and the empty text mean "none", as in the API). Calls block:
//! they belong on a blocking thread, never on the value path.

mod durable;
mod postgres;
mod sqlite;
mod value;

use std::ops::ControlFlow;
use std::path::PathBuf;
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex, TryLockError};

use stdx::sync::lock;

use durable::Durable;

pub use value::{Cell, Cells, Row, Value};

/// Why a statement failed.
#[derive(Debug, thiserror::Error)]
pub enum DbError {
    /// The database cannot be reached or opened: check its address, retry later.
    #[error("configuration database {url}: {reason}")]
    Connect {
        /// Where, without a password.
        url: String,
        /// The driver's words.
        reason: String,
    },
    /// A unique or foreign key was violated.
    #[error("configuration database: conflicting change: {0}")]
    Constraint(String),
    /// The database refused a statement for what it says: repeating it does not help.
    #[error("configuration database: {reason} (statement: {sql})")]
    Statement {
        /// The statement, cut to 200 characters.
        sql: String,
        /// The driver's words.
        reason: String,
    },
    /// The database cannot work now: the connection was lost, the disk is full, it is read-only or
    /// locked. The same statement may succeed later.
    #[error("configuration database unavailable: {reason} (statement: {sql})")]
    Unavailable {
        /// The statement, cut to 200 characters.
        sql: String,
        /// The driver's words.
        reason: String,
    },
    /// The schema was made by a newer Vedette.
    #[error(
        "configuration database has schema version {found}, this program knows {known}: \
         start the newer Vedette again, or restore a backup from before the upgrade"
    )]
    TooNew {
        /// In the database.
        found: i64,
        /// Known here.
        known: i64,
    },
}

impl DbError {
    pub(crate) fn statement(sql: &str, reason: impl std::fmt::Display) -> Self {
        Self::Statement { sql: shortened(sql), reason: reason.to_string() }
    }

    pub(crate) fn unavailable(sql: &str, reason: impl std::fmt::Display) -> Self {
        Self::Unavailable { sql: shortened(sql), reason: reason.to_string() }
    }

    /// Whether the values are at fault and not the state of the database: the same change fails
    /// again, while others succeed.
    pub fn is_of_values(&self) -> bool {
        matches!(self, Self::Constraint(_) | Self::Statement { .. })
    }
}

fn shortened(sql: &str) -> String {
    let sql = sql.split_whitespace().collect::<Vec<_>>().join(" ");
    sql.chars().take(200).collect()
}

/// Result of database calls.
pub type DbResult<T> = Result<T, DbError>;

/// An open connection; a driver implements this and nothing else.
pub trait Connection: Send {
    /// Rows of a SELECT.
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>>;
    /// Shows each row of a SELECT to `row`: for large results, whose texts are seldom kept.
    fn each(
        &mut self,
        sql: &str,
        params: &[Value],
        row: &mut dyn FnMut(&dyn Cells),
    ) -> DbResult<()> {
        self.query(sql, params)?.iter().for_each(|found| row(found));
        Ok(())
    }
    /// The same until `row` breaks off.
    fn each_until(
        &mut self,
        sql: &str,
        params: &[Value],
        row: &mut dyn FnMut(&dyn Cells) -> ControlFlow<()>,
    ) -> DbResult<()> {
        let rows = self.query(sql, params)?;
        // Whoever breaks off has seen what it wanted: that is no error.
        let _broken_off = rows.iter().try_for_each(|found| row(found));
        Ok(())
    }
    /// Statements fail from the moment that the flag is set; `None` = they run to their end.
    /// A driver that cannot interrupt its statements ignores it.
    fn stop_when(&mut self, _flag: Option<Arc<AtomicBool>>) {}
    /// Gives back what memory the connection holds for later.
    fn rest(&mut self) {}
    /// Runs one statement; returns the number of rows that it changed.
    fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64>;
    /// Runs several statements without parameters.
    fn batch(&mut self, sql: &str) -> DbResult<()>;
    /// Starts a transaction; ends one that a panic left open.
    fn begin(&mut self) -> DbResult<()> {
        drop(self.batch("ROLLBACK"));
        self.batch("BEGIN")
    }
    /// Ends the transaction. After an error nothing of it is kept, unless the error says that this
    /// is not known.
    fn commit(&mut self) -> DbResult<()> {
        self.batch("COMMIT").inspect_err(|_| self.rollback())
    }
    /// Ends the transaction and undoes it. What fails here is undone when the connection ends.
    fn rollback(&mut self) {
        drop(self.batch("ROLLBACK"));
    }
    /// A statement that creates tables, in the words of this database.
    fn dialect(&self, sql: &str) -> String {
        sql.to_owned()
    }
}

/// Where the configuration is kept.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Location {
    /// A file, created when missing.
    Sqlite(PathBuf),
    /// `postgresql://user:password@host:port/database`
    Postgres(String),
}

impl Location {
    /// From a parameter: a `postgres://` or `postgresql://` URL, else a file.
    pub fn parse(text: &str) -> Self {
        if text.starts_with("postgres://") || text.starts_with("postgresql://") {
            Self::Postgres(text.to_owned())
        } else {
            Self::Sqlite(PathBuf::from(text.strip_prefix("sqlite://").unwrap_or(text)))
        }
    }

    fn connect(&self) -> DbResult<Box<dyn Connection>> {
        match self {
            Self::Sqlite(path) => sqlite::connect(path),
            Self::Postgres(url) => postgres::connect(url),
        }
    }
}

/// Read connections kept open: as many API calls may read at once, others wait.
const READERS_MAX: usize = 8;

/// The database: one writer at a time, several readers beside it.
pub struct Db {
    location: Location,
    writer: Mutex<Box<dyn Connection>>,
    /// `None`: the database syncs each commit itself.
    durable: Option<Durable>,
    readers: Mutex<Readers>,
    returned: Condvar,
}

#[derive(Default)]
struct Readers {
    idle: Vec<Box<dyn Connection>>,
    open: usize,
}

impl std::fmt::Debug for Db {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Db").finish_non_exhaustive()
    }
}

impl Db {
    /// Opens the database and brings its schema up to date.
    pub fn open(location: Location) -> DbResult<Self> {
        let mut writer = location.connect()?;
        crate::schema::migrate(writer.as_mut())?;
        let durable = match &location {
            Location::Sqlite(path) => Some(Durable::of_sqlite(path).map_err(|error| {
                DbError::Connect { url: path.display().to_string(), reason: error.to_string() }
            })?),
            Location::Postgres(_) => None,
        };
        if let Some(durable) = &durable {
            durable.committed();
        }
        Ok(Self {
            location,
            writer: Mutex::new(writer),
            durable,
            readers: Mutex::default(),
            returned: Condvar::new(),
        })
    }

    /// Runs `work` with a read connection. It sees committed data only.
    pub fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.borrow_reader()?;
        let result = work(connection.as_mut());
        lock(&self.readers).idle.push(connection);
        self.returned.notify_one();
        result
    }

    /// Runs `work` in a transaction: all of it is kept, or, when it fails, nothing. It survives the
    /// end of the process, and a power cut after the next [`Db::sync`].
    pub fn write<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_with(&mut **lock(&self.writer), work)
    }

    /// [`Db::write`] where nobody else writes; `None` = somebody does.
    pub fn try_write<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let mut writer = match self.writer.try_lock() {
            Ok(writer) => writer,
            Err(TryLockError::Poisoned(writer)) => writer.into_inner(),
            Err(TryLockError::WouldBlock) => return None,
        };
        Some(self.write_with(&mut **writer, work))
    }

    /// `connection` is the writer, held by the caller.
    fn write_with<T, E: From<DbError>>(
        &self,
        connection: &mut dyn Connection,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        connection.begin()?;
        let result = work(connection);
        match &result {
            Ok(_) => {
                connection.commit()?;
                // Counted while the writer is held: a sync that sees it sees the commit.
                if let Some(durable) = &self.durable {
                    durable.committed();
                }
            }
            Err(_) => connection.rollback(),
        }
        result
    }

    /// Returns when all transactions that ended before the call survive a power cut.
    pub fn sync(&self) -> DbResult<()> {
        let Some(durable) = &self.durable else { return Ok(()) };
        durable.wait(|| self.checkpoint())
    }

    /// Writes everything into SQLite's main file, synced, and empties its write-ahead log.
    pub fn checkpoint(&self) -> DbResult<()> {
        const SQL: &str = "PRAGMA wal_checkpoint(TRUNCATE)";
        if self.durable.is_none() {
            return Ok(());
        }
        let rows = lock(&self.writer).query(SQL, &[])?;
        match rows.first().map(|row| row.int("busy")) {
            Some(0) => Ok(()),
            _ => Err(DbError::unavailable(SQL, "a reader still uses the write-ahead log")),
        }
    }

    fn borrow_reader(&self) -> DbResult<Box<dyn Connection>> {
        let mut readers = lock(&self.readers);
        loop {
            if let Some(connection) = readers.idle.pop() {
                return Ok(connection);
            }
            if readers.open < READERS_MAX {
                readers.open += 1;
                drop(readers);
                return self.location.connect().inspect_err(|_| {
                    lock(&self.readers).open -= 1;
                    self.returned.notify_one();
                });
            }
            readers = match self.returned.wait(readers) {
                Ok(guard) => guard,
                Err(poisoned) => poisoned.into_inner(),
            };
        }
    }
}

/// `?, ?, ?` for `n` parameters.
pub fn placeholders(n: usize) -> String {
    let mut text = "?, ".repeat(n);
    text.truncate(text.len().saturating_sub(2));
    text
}

/// Ids as parameters.
pub fn id_params(ids: impl IntoIterator<Item = u64>) -> Vec<Value> {
    ids.into_iter().map(Value::from).collect()
}

/// Runs a SELECT whose last condition is `... IN (IDS)` for any number of ids, in portions that
/// every database takes. `sql` holds `{ids}` once, after all other parameters.
pub fn query_by_ids(
    connection: &mut dyn Connection,
    sql: &str,
    before: &[Value],
    ids: &[u64],
) -> DbResult<Vec<Row>> {
    /// SQLite takes 32,766 parameters, PostgreSQL 65,535; 5,000 plan quickly in both.
    const PORTION: usize = 5_000;
    let mut rows = Vec::new();
    for portion in ids.chunks(PORTION) {
        let sql = sql.replace("{ids}", &placeholders(portion.len()));
        let mut params = before.to_vec();
        params.extend(id_params(portion.iter().copied()));
        rows.extend(connection.query(&sql, &params)?);
    }
    Ok(rows)
}

#[cfg(test)]
mod tests;
