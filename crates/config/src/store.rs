//! Changes: one transaction, what it touched, the next snapshot.

use std::collections::BTreeSet;
use std::ops::{Deref, DerefMut};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use model::{HostId, ItemId, TriggerId};
use parking_lot::FairMutex;
use stdx::sync::lock;

use crate::db::{Connection, Db, DbError, DbResult, Location, Value};
use crate::{Snapshot, Statements};

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

/// A change of the configuration in progress.
pub struct Edit<'a> {
    statements: Statements<'a>,
    touched: Touched,
}

impl std::fmt::Debug for Edit<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Edit").field("touched", &self.touched).finish_non_exhaustive()
    }
}

impl<'a> Deref for Edit<'a> {
    type Target = Statements<'a>;

    fn deref(&self) -> &Self::Target {
        &self.statements
    }
}

impl DerefMut for Edit<'_> {
    fn deref_mut(&mut self) -> &mut Self::Target {
        &mut self.statements
    }
}

impl<'a> Edit<'a> {
    fn new(connection: &'a mut dyn Connection) -> Self {
        Self { statements: Statements::new(connection), touched: Touched::default() }
    }

    /// A part of the transaction: everything that `work` does, or nothing.
    pub fn attempt<T, E: From<DbError>>(
        &mut self,
        work: impl FnOnce(&mut Self) -> Result<T, E>,
    ) -> Result<T, E> {
        self.connection().execute("SAVEPOINT attempt", &[])?;
        let (touched, objects) = (std::mem::take(&mut self.touched), self.objects);
        let result = work(self);
        let more = std::mem::replace(&mut self.touched, touched);
        if result.is_ok() {
            self.touched.extend(more);
        } else {
            self.objects = objects;
            self.connection().execute("ROLLBACK TO SAVEPOINT attempt", &[])?;
        }
        self.connection().execute("RELEASE SAVEPOINT attempt", &[])?;
        result
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

    /// Changes the state: events, problems, suppression, sessions. It has a writer of its own and waits
    /// for no change of the configuration, which it reads and cannot change. It does not wait for the
    /// disk; [`Config::sync_state`] does that.
    ///
    /// A change of the configuration may contain a change of the state, not the other way round. The
    /// state is then committed first, so a crash between the two commits leaves state without its
    /// change of the configuration.
    pub fn write_state<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Statements<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.db.write_state(|connection| work(&mut Statements::new(connection)))
    }

    /// No server has filled the database yet.
    pub fn is_new(&self) -> DbResult<bool> {
        self.read(|c| c.query("SELECT roleid FROM roles LIMIT 1", &[])).map(|rows| rows.is_empty())
    }

    /// The random id of this configuration, if it has one.
    pub fn identity(&self) -> DbResult<Option<String>> {
        self.setting("SELECT value FROM settings WHERE name = ?")
    }

    /// The random id of the configuration that the state belongs to, if it has one.
    pub fn identity_of_state(&self) -> DbResult<Option<String>> {
        self.setting("SELECT value FROM state_settings WHERE name = ?")
    }

    fn setting(&self, sql: &str) -> DbResult<Option<String>> {
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

    /// From now on the state belongs to the configuration of this id.
    pub fn pair_state(&self, id: &str) -> DbResult<()> {
        let row = [("name", Value::from(IDENTITY)), ("value", id.into())];
        self.write_state(|state| state.insert("state_settings", &row))?;
        self.sync_state()
    }

    /// Returns when all changes of the state that were committed before the call survive a power cut.
    pub fn sync_state(&self) -> DbResult<()> {
        self.db.sync_state()
    }

    /// To be called at an orderly stop: leaves everything in SQLite's main files.
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
            let mut edit = Edit::new(connection);
            let result = work(&mut edit)?;
            changed = edit.objects;
            pending.extend(edit.touched);
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
