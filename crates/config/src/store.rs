//! Changes: one transaction, what it touched, the next snapshot.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};

use arc_swap::ArcSwap;
use parking_lot::FairMutex;
use stdx::sync::lock;

use crate::audit::Author;
use crate::change::Change;
use crate::db::{Connection, Db, DbError, DbResult, Location, SyncFile, Value};
use crate::{Edit, Snapshot, Statements, Touched};

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
    /// in portions lets waiting callers in after each of them.
    build: FairMutex<Touched>,
    listeners: Mutex<Vec<Listener>>,
    lld: crate::lld::Memory,
    /// Objects that hosts inherit in one transaction.
    portion: AtomicUsize,
    /// The database refused a portion of what hosts inherit: [`Config::catch_up`] retries it.
    behind: AtomicBool,
}

/// Objects that hosts inherit in one transaction: about a tenth of a second's work.
const PORTION: usize = 5_000;

impl std::fmt::Debug for Config {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Config").finish_non_exhaustive()
    }
}

impl Config {
    /// Opens the database, fills an empty one with the initial objects, loads the snapshot.
    pub fn open(location: Location) -> DbResult<Self> {
        Self::open_with(location, Arc::new(File::sync_data))
    }

    /// The same with another way to bring SQLite's logs to the disk, which a test may let fail.
    pub fn open_with(location: Location, sync: SyncFile) -> DbResult<Self> {
        let db = Db::open_with(location, sync)?;
        let config = Self {
            db,
            snapshot: ArcSwap::default(),
            build: FairMutex::default(),
            listeners: Mutex::default(),
            lld: crate::lld::Memory::default(),
            portion: AtomicUsize::new(PORTION),
            behind: AtomicBool::new(false),
        };
        let snapshot = crate::snapshot::load(&config.db)?;
        config.snapshot.store(Arc::new(snapshot));
        // What a crash has left.
        config.take_over(None, u64::MAX);
        Ok(config)
    }

    /// Limits what hosts inherit in one transaction: so many objects, or one host.
    pub fn set_portion(&self, objects: usize) {
        self.portion.store(objects, Ordering::Relaxed);
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

    /// Changes the configuration: everything that `work` does, or nothing. When this returns `Ok`, the
    /// change is made and live: the snapshot holds it and the listeners have been called. What many hosts
    /// inherit follows in further transactions, which let other callers in between. If the new
    /// snapshot cannot be read, the change is kept all the same, and [`Config::catch_up`] makes it live.
    ///
    /// The change is also brought to the disk. If the disk refuses, that is only logged, because the
    /// change is made and what follows from it has to happen; who confirms the change to somebody asks
    /// [`Config::sync`] before.
    pub fn write<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_by(None, work)
    }

    /// The same for a user, who is recorded with the change and in the audit log.
    pub fn write_as<T, E: From<DbError>>(
        &self,
        author: Author,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        self.write_by(Some(author), work)
    }

    fn write_by<T, E: From<DbError>>(
        &self,
        author: Option<Author>,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let (result, left) = self.change(author.clone(), work)?;
        if let Some(last) = left {
            self.take_over(author, last);
        }
        if let Err(error) = self.sync() {
            tracing::error!(%error, "a change of the configuration may not survive a power cut");
        }
        Ok(result)
    }

    /// One transaction and its snapshot; also returns the last row of `inheritance` that it has left.
    fn change<T, E: From<DbError>>(
        &self,
        author: Option<Author>,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<(T, Option<u64>), E> {
        let mut pending = self.build.lock();
        let result = self.transaction(&mut pending, author, work)?;
        if let Err(error) = self.rebuild(&mut pending) {
            tracing::error!(%error, "cannot activate a stored change; retrying");
        }
        Ok(result)
    }

    /// Lets hosts inherit what is left for them up to this row, some hosts in each transaction. If the
    /// database refuses, [`Config::catch_up`] retries.
    fn take_over(&self, author: Option<Author>, last: u64) {
        loop {
            match self.change(author.clone(), |edit| crate::link::take_over(edit, last)) {
                Ok((true, _)) => {}
                Ok((false, _)) => return,
                Err(error) => {
                    tracing::error!(%error, "hosts cannot inherit a change of a template; retrying");
                    self.behind.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    }

    /// Returns when all changes of the configuration that were made before the call survive a power cut.
    pub fn sync(&self) -> DbResult<()> {
        self.db.sync()
    }

    /// What transactions after the one with this number have changed, oldest first. `None`: the record
    /// does not reach back that far, and everything may have changed.
    pub fn changes_since(&self, revision: u64) -> DbResult<Option<Vec<Change>>> {
        let rows = self.read(|connection| {
            let sql = "SELECT * FROM changes WHERE revision >= ? ORDER BY revision, position";
            connection.query(sql, &[revision.into()])
        })?;
        let known = rows.first().is_some_and(|row| row.id("revision") == revision);
        let after = rows.iter().filter(|row| row.id("revision") > revision);
        Ok(known.then(|| after.map(Change::from_row).collect()).flatten())
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
        self.sync()?;
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
        if self.behind.swap(false, Ordering::Relaxed) {
            self.take_over(None, u64::MAX);
        }
        // A change in progress catches up itself.
        self.build.try_lock().map_or(Ok(()), |mut pending| self.rebuild(&mut pending))
    }

    /// Runs `work` in a transaction and adds what it touched to `pending`, also when it is not known
    /// whether the transaction was kept.
    fn transaction<T, E: From<DbError>>(
        &self,
        pending: &mut Touched,
        author: Option<Author>,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<(T, Option<u64>), E> {
        let mut concerns_discovery = false;
        let before = self.snapshot();
        let result = self.db.write(|connection| {
            let mut edit = Edit::new(connection, author, before.settings.audit);
            edit.inheritance.portion = Some(self.portion.load(Ordering::Relaxed));
            let result = work(&mut edit)?;
            let left = edit.inheritance.left;
            let (touched, of_discovery) = edit.finish(&before)?;
            concerns_discovery = of_discovery;
            pending.extend(touched);
            Ok::<_, E>((result, left))
        });
        if concerns_discovery {
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
