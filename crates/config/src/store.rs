//! Changes: one transaction, what it touched, the next snapshot.

use std::collections::BTreeSet;
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use model::{HostId, ItemId, TriggerId};
use parking_lot::FairMutex;
use stdx::sync::lock;

use crate::Snapshot;
use crate::db::{Connection, Db, DbError, DbResult, Location, Row, Value, placeholders};
use crate::schema::Table;

/// What a transaction changed, so that only this is read again.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Touched {
    /// Hosts (with all their items and triggers), created, changed or deleted.
    pub hosts: BTreeSet<HostId>,
    /// Items of otherwise unchanged hosts.
    pub items: BTreeSet<ItemId>,
    /// Triggers of otherwise unchanged hosts.
    pub triggers: BTreeSet<TriggerId>,
    /// Macros, global regular expressions or settings.
    pub global: bool,
    /// Rules of network discovery, actions.
    pub discovery: bool,
}

impl Touched {
    /// Nothing that monitoring needs to know.
    pub fn is_empty(&self) -> bool {
        *self == Self::default()
    }

    fn extend(&mut self, more: Self) {
        self.hosts.extend(more.hosts);
        self.items.extend(more.items);
        self.triggers.extend(more.triggers);
        self.global |= more.global;
        self.discovery |= more.discovery;
    }
}

/// A transaction in progress.
pub struct Edit<'a> {
    connection: &'a mut dyn Connection,
    touched: Touched,
    /// Configured objects have changed, prototypes and templates included.
    objects: bool,
}

impl std::fmt::Debug for Edit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edit").field("touched", &self.touched).finish_non_exhaustive()
    }
}

impl Edit<'_> {
    /// The connection of the transaction, for reads that must see its changes.
    pub fn connection(&mut self) -> &mut dyn Connection {
        self.connection
    }

    /// Rows of a SELECT, changes of this transaction included.
    pub fn query(&mut self, sql: &str, params: &[Value]) -> DbResult<Vec<Row>> {
        self.connection.query(sql, params)
    }

    /// Runs a statement; returns the number of changed rows.
    pub fn execute(&mut self, sql: &str, params: &[Value]) -> DbResult<u64> {
        self.objects |= crate::lld::changes_objects(sql);
        self.connection.execute(sql, params)
    }

    /// A part of the transaction: everything that `work` does, or nothing.
    pub fn attempt<T, E: From<DbError>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.connection.execute("SAVEPOINT attempt", &[])?;
        let (touched, objects) = (std::mem::take(&mut self.touched), self.objects);
        let result = work(self);
        let more = std::mem::replace(&mut self.touched, touched);
        if result.is_ok() {
            self.touched.extend(more);
        } else {
            self.objects = objects;
            self.connection.execute("ROLLBACK TO SAVEPOINT attempt", &[])?;
        }
        self.connection.execute("RELEASE SAVEPOINT attempt", &[])?;
        result
    }

    /// Reserves `n` ids of `space` and returns the first. Ids are never given out twice.
    /// Spaces are table names; hosts and templates share `hosts`, all groups `groups_`, items,
    /// prototypes and rules `items`.
    pub fn next_id(&mut self, space: &str, n: u64) -> DbResult<u64> {
        let rows = self.query("SELECT next FROM ids WHERE name = ?", &[space.into()])?;
        let (first, known) = rows.first().map_or((FIRST_ID, false), |row| (row.id("next"), true));
        let next = [Value::from(first + n), Value::from(space)];
        if known {
            self.execute("UPDATE ids SET next = ? WHERE name = ?", &next)?;
        } else {
            self.execute("INSERT INTO ids (next, name) VALUES (?, ?)", &next)?;
        }
        Ok(first)
    }

    /// Inserts a row; columns that are not given get their defaults.
    pub fn insert(&mut self, table: &str, row: &[(&str, Value)]) -> DbResult<()> {
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
        table: &str,
        columns: &[&str],
        rows: &[Vec<Value>],
    ) -> DbResult<()> {
        let portion = (PARAMS_MAX / columns.len().max(1)).max(1);
        for rows in rows.chunks(portion) {
            let one = format!("({})", placeholders(columns.len()));
            let sql = format!(
                "INSERT INTO {table} ({}) VALUES {}",
                columns.join(", "),
                vec![one; rows.len()].join(", ")
            );
            let params: Vec<Value> = rows.iter().flatten().cloned().collect();
            self.execute(&sql, &params)?;
        }
        Ok(())
    }

    /// Inserts a row with a new id in the table's single key column; returns the id.
    pub fn insert_new(&mut self, table: &str, row: &[(&str, Value)]) -> DbResult<u64> {
        let key = Table::named(table).key[0];
        let id = self.next_id(table, 1)?;
        let mut with_id = vec![(key, Value::from(id))];
        with_id.extend_from_slice(row);
        self.insert(table, &with_id)?;
        Ok(id)
    }

    /// Changes columns of the row with this id.
    pub fn update(&mut self, table: &str, id: u64, row: &[(&str, Value)]) -> DbResult<()> {
        if row.is_empty() {
            return Ok(());
        }
        let key = Table::named(table).key[0];
        let sets: Vec<String> = row.iter().map(|(name, _)| format!("{name} = ?")).collect();
        let sql = format!("UPDATE {table} SET {} WHERE {key} = ?", sets.join(", "));
        let mut params: Vec<Value> = row.iter().map(|(_, value)| value.clone()).collect();
        params.push(id.into());
        self.execute(&sql, &params).map(drop)
    }

    /// Deletes rows by a column's values.
    pub fn delete(&mut self, table: &str, column: &str, ids: &[u64]) -> DbResult<()> {
        for portion in ids.chunks(5_000) {
            let marks = placeholders(portion.len());
            let sql = format!("DELETE FROM {table} WHERE {column} IN ({marks})");
            self.execute(&sql, &crate::db::id_params(portion.iter().copied()))?;
        }
        Ok(())
    }

    /// The host, its items and its triggers are to be read again.
    pub fn touch_host(&mut self, id: u64) {
        self.touched.hosts.insert(HostId(id));
    }

    /// The item is to be read again.
    pub fn touch_item(&mut self, id: u64) {
        self.touched.items.insert(ItemId(id));
    }

    /// The trigger is to be read again.
    pub fn touch_trigger(&mut self, id: u64) {
        self.touched.triggers.insert(TriggerId(id));
    }

    /// Rules of network discovery and actions are to be read again.
    pub fn touch_discovery(&mut self) {
        self.touched.discovery = true;
    }

    /// Macros, regular expressions or settings are to be read again.
    pub fn touch_global(&mut self) {
        self.touched.global = true;
    }
}

/// The setting that holds the random id of the configuration.
const IDENTITY: &str = "configuration_id";

/// Parameters in one statement: SQLite takes 32,766.
const PARAMS_MAX: usize = 16_000;

/// Ids below are those of the initial objects.
const FIRST_ID: u64 = 10_000;

/// Told of each new snapshot with what led to it.
pub type Listener = Box<dyn Fn(&Arc<Snapshot>, &Touched) + Send + Sync>;

/// The configuration: database and current snapshot.
pub struct Config {
    db: Db,
    snapshot: ArcSwap<Snapshot>,
    /// What was committed and is not in the snapshot yet. Held by a change of the configuration from
    /// its start until its snapshot, so that they follow one another. Fair: a long work that is done
    /// in portions lets in whoever waits after each of them.
    build: FairMutex<Touched>,
    listeners: Mutex<Vec<Listener>>,
    lld: crate::lld::Memory,
}

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").finish_non_exhaustive()
    }
}

impl Config {
    /// Opens the database, fills an empty one with the initial objects, loads the snapshot.
    pub fn open(location: Location) -> DbResult<Self> {
        let db = Db::open(location)?;
        let config = Self {
            db,
            snapshot: ArcSwap::default(),
            build: FairMutex::default(),
            listeners: Mutex::default(),
            lld: crate::lld::Memory::default(),
        };
        let snapshot = crate::snapshot::load(&config.db)?;
        config.snapshot.store(Arc::new(snapshot));
        Ok(config)
    }

    /// The current snapshot.
    pub fn snapshot(&self) -> Arc<Snapshot> {
        self.snapshot.load_full()
    }

    /// What low-level discovery remembers.
    pub(crate) fn lld(&self) -> &crate::lld::Memory {
        &self.lld
    }

    /// Calls `listener` after each change, in order, on the changing thread. It must not block.
    pub fn subscribe(&self, listener: Listener) {
        lock(&self.listeners).push(listener);
    }

    /// Everything as a start would find it.
    #[cfg(test)]
    pub(crate) fn read_all(&self) -> DbResult<Snapshot> {
        crate::snapshot::load(&self.db)
    }

    /// Reads committed data.
    pub fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Connection) -> Result<T, E>,
    ) -> Result<T, E> {
        self.db.read(work)
    }

    /// Changes the configuration: everything that `work` does, or nothing. When this returns, the
    /// change survives a power cut and is live: the snapshot holds it and the listeners have been
    /// called. If the new snapshot cannot be read, the change is kept all the same, and
    /// [`Config::catch_up`] makes it live.
    pub fn write<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut pending = self.build.lock();
        let result = self.transaction(&mut pending, work)?;
        if let Err(error) = self.rebuild(&mut pending) {
            tracing::error!(%error, "a change is stored but not live yet; retrying");
        }
        drop(pending);
        self.db.sync()?;
        Ok(result)
    }

    /// Changes what is no configuration: events, problems, states, sessions. It does not wait for
    /// the snapshot of a change in progress, nor for the disk; [`Config::sync`] does that.
    pub fn write_state<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut touched = Touched::default();
        let result = self.transaction(&mut touched, work);
        debug_assert!(touched.is_empty(), "BUG: a change of states touched {touched:?}");
        result
    }

    /// [`Config::write_state`] where it can begin at once; `None` = a change is under way.
    pub fn try_write_state<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Option<Result<T, E>> {
        let work = |connection: &mut dyn Connection| {
            let mut edit = Edit { connection, touched: Touched::default(), objects: false };
            let result = work(&mut edit);
            debug_assert!(edit.touched.is_empty(), "BUG: a change of states touched objects");
            result
        };
        self.db.try_write(work)
    }

    /// No server has filled the database yet.
    pub fn is_new(&self) -> DbResult<bool> {
        self.read(|c| c.query("SELECT roleid FROM roles LIMIT 1", &[])).map(|rows| rows.is_empty())
    }

    /// The random id of this configuration, if it has one.
    pub fn identity(&self) -> DbResult<Option<String>> {
        let sql = "SELECT value FROM settings WHERE name = ?";
        let rows = self.read(|c| c.query(sql, &[IDENTITY.into()]))?;
        Ok(rows.first().map(|row| row.text("value").to_owned()))
    }

    /// Gives the configuration its random id.
    pub fn make_identity(&self) -> DbResult<String> {
        let id = crate::objects::new_uuid()?;
        let row = [("name", Value::from(IDENTITY)), ("value", id.as_str().into())];
        self.write(|edit| edit.insert("settings", &row))?;
        Ok(id)
    }

    /// Returns when everything that was committed before the call survives a power cut.
    pub fn sync(&self) -> DbResult<()> {
        self.db.sync()
    }

    /// To be called at an orderly stop: leaves everything in SQLite's main file.
    pub fn checkpoint(&self) -> DbResult<()> {
        self.db.checkpoint()
    }

    /// Makes changes live that were committed while the snapshot could not be read. To be called
    /// every second or so; costs nothing when there are none.
    pub fn catch_up(&self) -> DbResult<()> {
        // A change in progress catches up itself.
        self.build.try_lock().map_or(Ok(()), |mut pending| self.rebuild(&mut pending))
    }

    /// Runs `work` in a transaction and adds what it touched to `pending`, also when it is not known
    /// whether the transaction was kept.
    fn transaction<T, E: From<DbError>>(
        &self,
        pending: &mut Touched,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut changed = false;
        let result = self.db.write(|connection| {
            let mut edit = Edit { connection, touched: Touched::default(), objects: false };
            let result = work(&mut edit)?;
            pending.extend(edit.touched);
            changed = edit.objects;
            Ok::<_, E>(result)
        });
        if changed {
            self.lld.objects_changed();
        }
        result
    }

    fn rebuild(&self, pending: &mut Touched) -> DbResult<()> {
        if pending.is_empty() {
            return Ok(());
        }
        let before = self.snapshot.load_full();
        let mut next = if pending.global {
            crate::snapshot::load(&self.db)?
        } else {
            self.db.read(|connection| crate::snapshot::apply(connection, &before, pending))?
        };
        next.revision = before.revision + 1;
        let next = Arc::new(next);
        self.snapshot.store(Arc::clone(&next));
        let touched = std::mem::take(pending);
        for listener in lock(&self.listeners).iter() {
            listener(&next, &touched);
        }
        Ok(())
    }
}
