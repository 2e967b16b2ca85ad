//! One query layer over SQLite and PostgreSQL.
//!
//! SQL is written once, in the subset that both understand: `?` for parameters, `BIGINT` and
//! `TEXT` columns without NULL (0 and the empty text mean "none", as in the API). Calls block:
//! they belong on a blocking thread, never on the value path.

mod durable;
mod postgres;
mod sqlite;
mod value;
mod writer;

use std::fs::File;
use std::ops::ControlFlow;
use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use stdx::sync::lock;

use crate::holds::Holds;
use crate::schema::{Statistic, configuration_tables, state_tables, statistics};
use writer::Writer;

pub use durable::{Disk, SharedDisk};
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
    /// The database takes no changes.
    #[error(
        "configuration database {url} is read-only: it is a standby, or default_transaction_read_only \
         is on. Use the address of the primary (several hosts with target_session_attrs=read-write \
         find it), or promote this server"
    )]
    ReadOnly {
        /// Where, without a password.
        url: String,
    },
    /// The change is made, but it may not survive a power cut.
    #[error("configuration database: the change was made but is not confirmed on disk: {reason}")]
    Unsynced {
        /// The system's words.
        reason: String,
    },
    /// The connection was lost at the end of the transaction, and the database could not be asked
    /// since whether it was kept. To be looked up before the change is repeated.
    #[error("configuration database: the outcome of the change is unknown: {reason}")]
    OutcomeUnknown {
        /// Why the last query for it failed.
        reason: String,
    },
    /// The schema was made by a newer Vedette.
    #[error(
        "configuration database has schema version {found}, this program supports {known}: \
         start the newer Vedette again, or restore a backup from before the upgrade"
    )]
    TooNew {
        /// In the database.
        found: i64,
        /// Known here.
        known: i64,
    },
    /// The configuration is there, its state is not.
    #[error(
        "{} is missing: it has the events, problems and sessions. Restore it, or restore the whole data \
         folder from a backup. To start without them, create it as an empty file.", path.display()
    )]
    StateLost {
        /// Where it should be.
        path: PathBuf,
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

/// Reads rows: a connection, or a transaction that sees its own changes.
pub trait Reader {
    /// Rows of a SELECT.
    fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>>;
    /// Shows each row of a SELECT to `row`: for large results, whose texts are seldom kept.
    fn each(
        &mut self,
        sql: &str,
        params: &[Value],
        row: &mut dyn FnMut(&dyn Cells),
    ) -> DbResult<()> {
        self.each_until(sql, params, &mut |found| {
            row(found);
            ControlFlow::Continue(())
        })
    }
    /// The same until `row` breaks off.
    fn each_until(
        &mut self,
        sql: &str,
        params: &[Value],
        row: &mut dyn FnMut(&dyn Cells) -> ControlFlow<()>,
    ) -> DbResult<()> {
        let rows = self.query(sql, params)?;
        // Breaking off is no error: the caller has what it wanted.
        let _broken_off = rows.iter().try_for_each(|found| row(found));
        Ok(())
    }
    /// Gives back what memory the connection holds for later.
    fn rest(&mut self) {}
}

/// Implements [`Reader`] for a type that reads through one of its fields.
macro_rules! read_through {
    ($type:ty, $field:ident) => {
        /// Reads see the changes of the transaction.
        impl $crate::db::Reader for $type {
            fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
                self.$field.query(sql, params)
            }

            fn each_until(
                &mut self,
                sql: &str,
                params: &[Value],
                row: &mut dyn FnMut(&dyn $crate::db::Cells) -> std::ops::ControlFlow<()>,
            ) -> DbResult<()> {
                self.$field.each_until(sql, params, row)
            }
        }
    };
}
pub(crate) use read_through;

/// An open connection; a driver implements this, [`Reader`] and nothing else.
pub trait Connection: Reader + Send {
    /// Statements fail soon after the flag is set; `None` = they run to their end. Not within a
    /// transaction. A driver that cannot interrupt its statements ignores it.
    fn stop_when(&mut self, _flag: Option<Arc<AtomicBool>>) {}
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
    /// Whether configuration and state are separate databases, of which it changes one.
    fn has_parts(&self) -> bool {
        false
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

    /// The file of the state beside SQLite's file of the configuration.
    pub fn state_file(&self) -> Option<PathBuf> {
        let Self::Sqlite(path) = self else { return None };
        // Beside the file that a link leads to.
        let path = std::fs::canonicalize(path).unwrap_or_else(|_| path.clone());
        let stem = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        Some(path.with_file_name(format!("{stem}-state.db")))
    }

    /// A connection that changes `part` and reads both.
    fn connect(&self, part: Part, disk: &SharedDisk) -> DbResult<Box<dyn Connection>> {
        let mut connection = self.connect_alone(part, disk)?;
        self.attach_other(part, connection.as_mut())?;
        Ok(connection)
    }

    /// The connection that changes the state.
    #[cfg(test)]
    pub(crate) fn connect_to_state(&self) -> DbResult<Box<dyn Connection>> {
        self.connect(Part::State, &(Arc::new(File::sync_data) as SharedDisk))
    }

    /// A connection that, with SQLite, knows this part alone.
    fn connect_alone(&self, part: Part, disk: &SharedDisk) -> DbResult<Box<dyn Connection>> {
        match self {
            Self::Sqlite(path) => sqlite::connect(&self.file(path, part), Arc::clone(disk)),
            Self::Postgres(url) => postgres::connect(url),
        }
    }

    fn attach_other(&self, part: Part, connection: &mut dyn Connection) -> DbResult<()> {
        let Self::Sqlite(path) = self else { return Ok(()) };
        let (other, name) = match part {
            Part::Configuration => (Part::State, "state"),
            Part::State => (Part::Configuration, CONFIGURATION),
        };
        sqlite::attach(connection, &self.file(path, other), name)
    }

    fn file(&self, path: &Path, part: Part) -> PathBuf {
        match part {
            Part::Configuration => path.to_owned(),
            Part::State => self.state_file().unwrap_or_default(),
        }
    }
}

/// What has a writer of its own.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Part {
    Configuration,
    State,
}

/// The configuration's name on connections that change the state, with SQLite.
pub(crate) const CONFIGURATION: &str = "configuration";

/// Read connections kept open: as many API calls may read at once, others wait.
const READERS_MAX: usize = 8;

/// The database: one writer of each part at a time, several readers beside them.
pub struct Db {
    location: Location,
    disk: SharedDisk,
    configuration: Writer,
    state: Writer,
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

/// Gives an SQLite file the statistics that it lacks; `ANALYZE` may have made others. At first there are none to read.
fn note(
    connection: &mut dyn Connection,
    statistics: impl Iterator<Item = Statistic>,
) -> DbResult<()> {
    let known = connection.query("SELECT idx FROM main.sqlite_stat1", &[]).unwrap_or_default();
    let mut sql = String::new();
    for Statistic { table, index, rows } in statistics {
        if !known.iter().any(|row| row.text("idx") == index) {
            sql += &format!(
                "INSERT INTO main.sqlite_stat1 (tbl, idx, stat) VALUES ('{table}', '{index}', '{rows}');\n"
            );
        }
    }
    if sql.is_empty() {
        return Ok(());
    }
    // Makes the table, if it is missing; then reads what it has.
    connection.batch(&format!("ANALYZE main.sqlite_schema;\n{sql}ANALYZE main.sqlite_schema;"))
}

impl Db {
    /// Opens the database and brings its schema up to date.
    pub fn open(location: Location) -> DbResult<Self> {
        Self::open_with(location, Arc::new(File::sync_data))
    }

    /// The same with another disk below SQLite's files.
    pub(crate) fn open_with(location: Location, disk: SharedDisk) -> DbResult<Self> {
        let mut configuration = location.connect_alone(Part::Configuration, &disk)?;
        let lost = location.state_file().filter(|path| !path.exists());
        let before = crate::schema::migrate_configuration(configuration.as_mut())?;
        if let Some(path) = lost
            && before.has_separate_state()
        {
            return Err(DbError::StateLost { path });
        }
        let mut state = location.connect(Part::State, &disk)?;
        crate::schema::migrate_state(state.as_mut(), before)?;
        crate::schema::separate_state(configuration.as_mut(), before)?;
        if matches!(location, Location::Sqlite(_)) {
            note(configuration.as_mut(), statistics(configuration_tables()))?;
            note(state.as_mut(), statistics(state_tables()))?;
        }
        location.attach_other(Part::Configuration, configuration.as_mut())?;
        let (file, state_file) = match &location {
            Location::Sqlite(path) => (Some(path.clone()), location.state_file()),
            Location::Postgres(_) => (None, None),
        };
        Ok(Self {
            configuration: Writer::new(configuration, file.as_deref(), Arc::clone(&disk), None)?,
            state: {
                let (file, holds) = (state_file.as_deref(), Holds::new("state"));
                Writer::new(state, file, Arc::clone(&disk), Some(holds))?
            },
            location,
            disk,
            readers: Mutex::default(),
            returned: Condvar::new(),
        })
    }

    /// Runs `work` with a read connection. It sees committed data only.
    pub fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.read_until(None, work)
    }

    /// The same; statements fail soon after the flag is set.
    pub(crate) fn read_until<T, E: From<DbError>>(
        &self,
        flag: Option<Arc<AtomicBool>>,
        work: impl FnOnce(&mut dyn Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut connection = self.borrow_reader()?;
        let stops = flag.is_some();
        if stops {
            connection.stop_when(flag);
        }
        let result = work(connection.as_mut());
        if stops {
            connection.stop_when(None);
        }
        lock(&self.readers).idle.push(connection);
        self.returned.notify_one();
        result
    }

    /// Runs `work` in a transaction of the configuration: all of it is kept, or, when it fails, nothing.
    /// It survives the end of the process, and a power cut after the next [`Db::sync`].
    pub(crate) fn write<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.configuration.write(work)
    }

    /// The same for the state, with [`Db::sync_state`]. It waits for no change of the configuration.
    pub fn write_state<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.state.write(work)
    }

    /// Returns when all changes of the configuration that ended before the call survive a power cut. After an error
    /// ([`DbError::Unsynced`]) they are visible and kept as long as the machine runs.
    pub fn sync(&self) -> DbResult<()> {
        self.configuration.sync()
    }

    /// The same for the state.
    pub fn sync_state(&self) -> DbResult<()> {
        self.state.sync()
    }

    /// See [`Holds::longest`].
    pub(crate) fn longest_hold_of_state(&self) -> Duration {
        self.state.longest_hold()
    }

    /// Writes everything into SQLite's main files, synced, and empties their write-ahead logs.
    pub fn checkpoint(&self) -> DbResult<()> {
        self.configuration.checkpoint().and(self.state.checkpoint())
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
                return self.location.connect(Part::Configuration, &self.disk).inspect_err(|_| {
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
    connection: &mut dyn Reader,
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
