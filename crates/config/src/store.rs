//! Changes: one transaction, what it touched, the next snapshot.

use std::fs::File;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use arc_swap::ArcSwap;
use parking_lot::FairMutex;
use stdx::sync::lock;

use crate::audit::Author;
use crate::change::Change;
use crate::db::{Db, DbError, DbResult, Location, Reader, SharedDisk};
use crate::holds::Holds;
use crate::link::Undone;
use crate::objects::{Deleted, GoneHook};
use crate::retired::Retired;
use crate::sources::Checks;
use crate::{Edit, Snapshot, Statements, Touched};

/// Told of each change, with the snapshot that has it. One that monitoring does not read has the
/// snapshot from before, see [`Touched::is_monitored`].
pub type Listener = Box<dyn Fn(&Arc<Snapshot>, &Touched) + Send + Sync>;

/// The configuration: database and current snapshot.
pub struct Config {
    db: Db,
    snapshot: ArcSwap<Snapshot>,
    retired: Retired,
    /// What was committed and is not in the snapshot yet. Held by a change of the configuration from
    /// its start until its snapshot, so that they follow one another; a change of very many hosts has a
    /// snapshot for each portion of them. Fair: a long work that is done
    /// in portions lets waiting callers in after each of them.
    build: FairMutex<Touched>,
    holds: Holds,
    listeners: Mutex<Vec<Listener>>,
    lld: crate::lld::Memory,
    /// Objects of one transaction of a long work.
    portion: AtomicUsize,
    /// The database refused a portion of what hosts inherit: [`Config::catch_up`] retries it.
    behind: AtomicBool,
    gone: Mutex<Gone>,
}

/// The listener for deleted objects.
#[derive(Default)]
struct Gone {
    hook: Option<GoneHook>,
    /// What was deleted while there was none.
    untold: Deleted,
}

/// A change that was committed.
struct Done<T> {
    result: T,
    /// The last row of `inheritance` that it has left.
    left: Option<u64>,
    /// Objects with history or problems that it has deleted.
    deleted: Deleted,
    /// Not all that it has changed is in the snapshot.
    partly: bool,
}

/// Objects that hosts inherit, or low-level discovery makes, in one transaction: less than a tenth of a second's work,
/// so that a machine with much else to do stays below half a second.
const PORTION: usize = 2_500;

/// How many times a change is undone to check hosts outside its transaction; then it checks them itself.
const CHECKS_MAX: u32 = 3;

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

    /// The same with another disk below SQLite's files, which a test may let fail.
    pub fn open_with(location: Location, disk: SharedDisk) -> DbResult<Self> {
        let db = Db::open_with(location, disk)?;
        let config = Self {
            db,
            snapshot: ArcSwap::default(),
            retired: Retired::default(),
            build: FairMutex::default(),
            holds: Holds::new("configuration"),
            listeners: Mutex::default(),
            lld: crate::lld::Memory::default(),
            portion: AtomicUsize::new(PORTION),
            behind: AtomicBool::new(false),
            gone: Mutex::default(),
        };
        let snapshot = crate::snapshot::load(&config.db)?;
        config.snapshot.store(Arc::new(snapshot));
        // What a crash has left.
        config.take_over(None, u64::MAX);
        Ok(config)
    }

    /// Limits what one transaction makes or changes of what hosts inherit, or of what low-level discovery
    /// finds: so many objects, or one host, or one row.
    pub fn set_portion(&self, objects: usize) {
        self.portion.store(objects, Ordering::Relaxed);
    }

    /// Objects of one transaction, see [`Config::set_portion`].
    pub(crate) fn portion(&self) -> usize {
        self.portion.load(Ordering::Relaxed)
    }

    /// `hook` is called after each change that has deleted items or triggers, by a user or the server, once the change
    /// is live: on the changing thread, without a lock. The first call has what was deleted since the start.
    pub fn tell_deleted(&self, hook: GoneHook) {
        let untold = {
            let mut gone = lock(&self.gone);
            gone.hook = Some(Arc::clone(&hook));
            std::mem::take(&mut gone.untold)
        };
        if !untold.is_empty() {
            hook(&untold);
        }
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

    #[cfg(test)]
    pub(crate) fn db(&self) -> &Db {
        &self.db
    }

    /// Everything as a start would find it.
    #[cfg(test)]
    pub(crate) fn read_all(&self) -> DbResult<Snapshot> {
        crate::snapshot::load(&self.db)
    }

    /// Reads committed data.
    pub fn read<T, E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut dyn Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.db.read(work)
    }

    /// The same; statements fail soon after the flag is set.
    pub fn read_until<T, E: From<DbError>>(
        &self,
        flag: Arc<AtomicBool>,
        work: impl FnOnce(&mut dyn Reader) -> Result<T, E>,
    ) -> Result<T, E> {
        self.db.read_until(Some(flag), work)
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

    /// The same for `work` that can be repeated. If very many hosts are to inherit what it does, it is
    /// undone, the hosts are checked while others change the configuration, and it is done again.
    pub fn write_checked_as<T, E: From<DbError>>(
        &self,
        author: Author,
        mut work: impl FnMut(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let mut checks = Some(Checks::default());
        for round in 1.. {
            let changed = self.change(Some(author.clone()), |edit| {
                edit.inheritance.checks = checks.take();
                Checks::begin(edit)?;
                let result = work(edit);
                checks = edit.inheritance.checks.take();
                match result {
                    Ok(_) if checks.as_ref().is_some_and(Checks::are_asked) => {
                        Err(Undone::Unchecked)
                    }
                    result => result.map_err(Undone::Failed),
                }
            });
            match changed {
                Ok(done) => return Ok(self.complete(Some(author), done)),
                Err(Undone::Failed(error)) => return Err(error),
                // The others change too much: it checks the hosts itself.
                Err(Undone::Unchecked) if round >= CHECKS_MAX => checks = None,
                Err(Undone::Unchecked) => {
                    if let Some(checks) = &mut checks {
                        checks.make(&self.db, self.portion())?;
                    }
                }
            }
        }
        unreachable!("BUG: without checks, a transaction is not undone")
    }

    fn write_by<T, E: From<DbError>>(
        &self,
        author: Option<Author>,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let done = self.change(author.clone(), work)?;
        Ok(self.complete(author, done))
    }

    /// What follows from a change that was committed.
    fn complete<T>(&self, author: Option<Author>, mut done: Done<T>) -> T {
        self.activate(&mut done);
        if let Some(last) = done.left {
            self.take_over(author, last);
        }
        if let Err(error) = self.sync() {
            tracing::error!(%error, "a change of the configuration may not survive a power cut");
        }
        done.result
    }

    /// One transaction and its snapshot. Of very many hosts, the snapshot has some only.
    fn change<T, E: From<DbError>>(
        &self,
        author: Option<Author>,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<Done<T>, E> {
        let mut pending = self.build.lock();
        let mut held = self.holds.begin();
        let mut touched = Touched::default();
        let result = self.transaction(&mut touched, author, work);
        held.committed();
        let mut done = match result {
            Ok(done) => done,
            Err(error) => {
                pending.extend(touched);
                return Err(error);
            }
        };
        let first = touched.take_portion(&self.snapshot(), self.portion());
        done.partly = !touched.is_empty();
        pending.extend(touched);
        if let Err(error) = self.rebuild(&mut pending, first) {
            tracing::error!(%error, "cannot activate a stored change; retrying");
            done.partly = false;
        }
        Ok(done)
    }

    /// Makes the rest of a change live, some hosts at a time: others change the configuration in between.
    /// Then no part works with deleted objects any more, and what they leave behind can go.
    fn activate<T>(&self, done: &mut Done<T>) {
        let mut partly = done.partly;
        while partly {
            self.retired.free_unused();
            partly = self.rebuild_portion().unwrap_or_else(|error| {
                tracing::error!(%error, "cannot activate a stored change; retrying");
                false
            });
        }
        self.retired.free_unused();
        self.forget(std::mem::take(&mut done.deleted));
    }

    fn forget(&self, deleted: Deleted) {
        if deleted.is_empty() {
            return;
        }
        let hook = {
            let mut gone = lock(&self.gone);
            let Some(hook) = &gone.hook else { return gone.untold.extend(deleted) };
            Arc::clone(hook)
        };
        hook(&deleted);
    }

    /// Makes a portion of what is pending live. `false`: that was all.
    fn rebuild_portion(&self) -> DbResult<bool> {
        let mut pending = self.build.lock();
        let mut held = self.holds.begin();
        held.committed();
        let items_max = self.portion();
        let portion = pending.take_portion(&self.snapshot(), items_max);
        self.rebuild(&mut pending, portion)?;
        Ok(!pending.is_empty())
    }

    /// Lets hosts inherit what is left for them up to this row, some hosts in each transaction. If the
    /// database refuses, [`Config::catch_up`] retries.
    fn take_over(&self, author: Option<Author>, last: u64) {
        loop {
            match self.change(author.clone(), |edit| crate::link::take_over(edit, last)) {
                Ok(mut done) => {
                    self.activate(&mut done);
                    if !done.result {
                        return;
                    }
                }
                Err(error) => {
                    tracing::error!(%error, "cannot apply a template change to its hosts; retrying");
                    self.behind.store(true, Ordering::Relaxed);
                    return;
                }
            }
        }
    }

    /// A change while no server runs. It is recorded like all others, and has no snapshot.
    pub fn write_offline<T, E: From<DbError>>(
        db: &Db,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<T, E> {
        let before = Snapshot::default();
        db.write(|connection| {
            let mut edit = Edit::new(connection, None, &before.settings);
            let result = work(&mut edit)?;
            edit.finish(&before)?;
            Ok(result)
        })
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

    /// The longest time of the last one to two minutes for which a change of the configuration, or of the
    /// state, has kept others waiting.
    pub fn longest_hold(&self) -> Duration {
        self.holds.longest().max(self.db.longest_hold_of_state())
    }

    /// No server has filled the database yet.
    pub fn is_new(&self) -> DbResult<bool> {
        self.read(|c| c.query("SELECT roleid FROM roles LIMIT 1", &[])).map(|rows| rows.is_empty())
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
        self.retired.free_unused();
        if self.behind.swap(false, Ordering::Relaxed) {
            self.take_over(None, u64::MAX);
        }
        // A change in progress catches up itself.
        let is_behind = self.build.try_lock().is_some_and(|pending| !pending.is_empty());
        if is_behind {
            while self.rebuild_portion()? {}
        }
        Ok(())
    }

    /// Runs `work` in a transaction and says what it touched, also when it is not known whether the
    /// transaction was kept.
    fn transaction<T, E: From<DbError>>(
        &self,
        all_touched: &mut Touched,
        author: Option<Author>,
        work: impl FnOnce(&mut Edit<'_>) -> Result<T, E>,
    ) -> Result<Done<T>, E> {
        let mut concerns_discovery = false;
        let before = self.snapshot();
        let result = self.db.write(|connection| {
            let mut edit = Edit::new(connection, author, &before.settings);
            edit.inheritance.portion = Some(self.portion());
            let result = work(&mut edit)?;
            let left = edit.inheritance.left;
            let followed = edit.finish(&before)?;
            concerns_discovery = followed.concerns_discovery;
            all_touched.extend(followed.touched);
            Ok::<_, E>(Done { result, left, deleted: followed.deleted, partly: false })
        });
        if concerns_discovery {
            self.lld.objects_changed();
        }
        result
    }

    /// Makes a snapshot with what was `touched` and tells the listeners. If it cannot be read, that stays
    /// pending.
    fn rebuild(&self, pending: &mut Touched, mut touched: Touched) -> DbResult<()> {
        if touched.global {
            // It reads everything.
            touched.extend(std::mem::take(pending));
        }
        if touched.is_empty() {
            return Ok(());
        }
        if touched.is_monitored()
            && let Err(error) = self.next_snapshot(&touched)
        {
            pending.extend(touched);
            return Err(error);
        }
        let snapshot = self.snapshot();
        for listener in lock(&self.listeners).iter() {
            listener(&snapshot, &touched);
        }
        Ok(())
    }

    fn next_snapshot(&self, touched: &Touched) -> DbResult<()> {
        let before = self.snapshot.load_full();
        let mut next = if touched.global {
            crate::snapshot::load(&self.db)?
        } else {
            self.db.read(|connection| crate::snapshot::apply(connection, &before, touched))?
        };
        next.revision = before.revision + 1;
        drop(before);
        self.retired.add(self.snapshot.swap(Arc::new(next)));
        Ok(())
    }
}
