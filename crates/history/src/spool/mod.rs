//! Copying what the embedded engine has acknowledged to other stores.
//!
//! The engine's log of writes is the spool: each store has a *feeder*, a thread that reads the logs
//! of all shards from where it stopped, makes large batches of them, and hands these to *lanes*,
//! threads that own a driver each. An item always takes the same lane, so that its rows keep
//! their order. When a batch and all before it are written, the positions behind it are saved in
//! one small file, synced, and the engine may forget what lies before. So an unavailable store
//! costs disk space, and a crash costs repeated writes: everything acknowledged arrives at least once, and a
//! store keeps one row a key.
//!
//! - The store's fault (away, full, overloaded, wrong password) is waited out, for ever. Each time the
//!   rest of the batch is tried in smaller parts: a store behind a slow line takes these in time.
//! - A row that the store refuses for itself is found by halving its batch, counted, and kept in a
//!   file for people.
//! - Clearing items waits until every log has come to that point, since each shard tells it. A log
//!   that tells it later, also over a restart, clears nothing that another one has brought since.
//!
//! In memory are at most three batches, however slow the store.

mod batch;
mod cursors;
mod deletions;
mod feeder;
mod gauges;
mod lane;
mod left;
mod refused;
mod row;

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use stdx::clock::SharedClock;
use stdx::sync::{into_inner, lock};
use tsdb::{Disk, Tail};

use self::cursors::Cursors;
use self::deletions::Deletions;
use self::feeder::{Feeder, Log};
pub use self::gauges::{Gauges, Reading};
pub(crate) use self::left::Left;
use crate::{Error, Store};

/// How names of files end that tell how far a store is, and what was deleted there.
const CURSORS: &str = "cursors";
const DELETIONS: &str = "deletions";
/// How often one looks whether feeders have ended.
const END_LOOK_EVERY: Duration = Duration::from_millis(10);

/// One policy for all stores.
#[derive(Debug, Clone, Copy)]
pub struct Policy {
    /// Rows of a batch.
    pub rows_max: usize,
    /// Bytes of texts of a batch.
    pub text_bytes_max: usize,
    /// A batch leaves when its oldest row has waited so long.
    pub age_max: Duration,
    /// Rows of the smallest part of a batch that is tried: parts get smaller where writing fails,
    /// as a store may be too slow for the whole.
    pub part_min: usize,
    /// Threads that write at the same time.
    pub lanes: usize,
    /// First pause after something failed; each next one is twice as long.
    pub pause_min: Duration,
    /// Longest pause.
    pub pause_max: Duration,
    /// How often days that are over are dropped in the store.
    pub housekeeping: Duration,
    /// Maximum time that a deletion of items waits for logs that do not contain it.
    pub patience: Duration,
    /// Time for which an unreadable section of the log is retried before it is skipped.
    pub unreadable: Duration,
    /// Bytes of the file of rows that the store refuses. Beyond, they block the rest, since
    /// something else is wrong then.
    pub refused_bytes_max: u64,
}

impl Default for Policy {
    fn default() -> Self {
        Self {
            rows_max: 50_000,
            text_bytes_max: 8 << 20,
            part_min: 50,
            age_max: Duration::from_secs(1),
            lanes: 2,
            pause_min: Duration::from_millis(100),
            pause_max: Duration::from_secs(10),
            housekeeping: Duration::from_secs(3600),
            patience: Duration::from_secs(5),
            unreadable: Duration::from_secs(60),
            refused_bytes_max: 64 << 20,
        }
    }
}

/// Stores whose feeders are not started yet: engines are opened with what these want to read.
pub struct Spools {
    dir: PathBuf,
    stores: Vec<(Arc<dyn Store>, Cursors)>,
    /// Of stores for which the log is kept as it is.
    held: Vec<Cursors>,
    left: Option<Arc<Left>>,
    bytes_max: u64,
    /// By the name of the engine's directory.
    logs: Mutex<BTreeMap<String, Arc<tsdb::Spool>>>,
}

impl std::fmt::Debug for Spools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<String> = self.stores.iter().map(|(store, _)| store.name()).collect();
        f.debug_struct("Spools").field("stores", &names).finish_non_exhaustive()
    }
}

impl Spools {
    /// Reads from `dir` how far each store is; the logs are beside it. The log of one shard may be
    /// `bytes_max` ahead of the slowest store; then it takes no more values. A store that is not named
    /// any more must have what the log keeps for it.
    pub fn open(dir: &Path, stores: Vec<Arc<dyn Store>>, bytes_max: u64) -> Result<Self, Error> {
        if !stores.is_empty() {
            std::fs::create_dir_all(dir).map_err(|cause| file_error("create", dir, &cause))?;
        }
        let mut left = Cursors::load_all(dir)?;
        let mut with_cursors = Vec::new();
        for store in stores {
            let name = store.name();
            if with_cursors.iter().any(|(other, _): &(Arc<dyn Store>, _)| other.name() == name) {
                return Err(Error::config(format!("the history store {name} is named twice")));
            }
            let path = dir.join(format!("{name}.{CURSORS}"));
            let cursors = Cursors::load(&path)?;
            left.retain(|other| !other.is_at(&path));
            with_cursors.push((store, cursors));
        }
        if let Some(root) = dir.parent().filter(|root| root.exists()) {
            let named = !with_cursors.is_empty();
            if !named && left.is_empty() {
                cursors::check_all_read(root)?;
            }
            left.iter().try_for_each(|other| other.check_read(root, named))?;
        }
        left.iter_mut().try_for_each(Cursors::leave)?;
        let names = with_cursors.iter().map(|(store, _)| deletions_of(dir, &store.name()));
        let left = Some(Arc::new(Left::load(dir, names.collect())?));
        let (dir, held, logs) = (dir.to_owned(), Vec::new(), Mutex::default());
        Ok(Self { dir, stores: with_cursors, held, left, bytes_max, logs })
    }

    /// For commands that open the engines while no server does: no store is fed, and what any
    /// store has not confirmed stays in the logs.
    pub fn held(dir: &Path) -> Result<Self, Error> {
        let (dir, held) = (dir.to_owned(), Cursors::load_all(dir)?);
        let (stores, logs) = (Vec::new(), Mutex::default());
        Ok(Self { dir, stores, held, left: None, bytes_max: u64::MAX, logs })
    }

    /// Who is to hear what is deleted, besides the logs.
    pub(crate) fn left(&self) -> Option<Arc<Left>> {
        self.left.as_ref().map(Arc::clone)
    }

    /// What the engine in a directory of this name is to be opened with.
    pub fn of_log(&self, name: &str) -> Option<Arc<tsdb::Spool>> {
        if self.stores.is_empty() && self.held.is_empty() {
            return None;
        }
        let mut logs = lock(&self.logs);
        let spool = logs.entry(name.to_owned()).or_insert_with(|| {
            let cursors = self.stores.iter().map(|(_, cursors)| cursors).chain(&self.held);
            let starts: Vec<_> = cursors.map(|cursors| cursors.position(name)).collect();
            Arc::new(tsdb::Spool::new(&starts, self.bytes_max))
        });
        Some(Arc::clone(spool))
    }

    /// Starts the feeders, once all engines below `root` are open.
    pub fn start(
        self,
        root: &Path,
        disk: &Arc<dyn Disk>,
        policy: Policy,
        clock: &SharedClock,
    ) -> Result<Vec<Feeding>, Error> {
        let logs = into_inner(self.logs);
        let mut all = Vec::new();
        for (reader, (store, cursors)) in self.stores.into_iter().enumerate() {
            let of_log = |(name, spool): (&String, &Arc<tsdb::Spool>)| {
                let (disk, spool) = (Arc::clone(disk), Arc::clone(spool));
                let tail = Tail::open(&root.join(name), disk, spool, reader);
                Log::new(name.clone(), tail)
            };
            let name = store.name();
            let spools = logs.values().map(Arc::clone).collect();
            let gauges = Arc::new(Gauges::new(&name, spools, reader, clock));
            let stop = Arc::new(AtomicBool::new(false));
            let feeder = Feeder::new(
                &store,
                (logs.iter().map(of_log).collect(), cursors),
                (&gauges, &stop),
                (policy, clock, &self.dir),
            )?;
            let thread = spawn("history-feed", move || feeder.run())?;
            all.push(Feeding { gauges, stop, thread: Some(thread) });
        }
        Ok(all)
    }
}

/// Before something else than a feeder writes to a store; `dir` = where its positions are. Clears
/// there what was deleted while no server named it: the next feeder would clear it after that. From
/// now on servers that do not name the store note what is deleted, also where they never did.
pub fn before_copy(dir: &Path, store: &dyn Store) -> Result<(), Error> {
    std::fs::create_dir_all(dir).map_err(|cause| file_error("create", dir, &cause))?;
    left::before_copy(&deletions_of(dir, &store.name()), store)
}

/// Of how many items a store of this name has to clear the rows first.
pub fn owed(dir: &Path, name: &str) -> Result<usize, Error> {
    Ok(Deletions::load(&deletions_of(dir, name), Vec::new())?.owed().len())
}

fn deletions_of(dir: &Path, name: &str) -> PathBuf {
    dir.join(format!("{name}.{DELETIONS}"))
}

/// Files of all stores, named now or not, of which the names end so.
fn files_of(dir: &Path, extension: &str) -> Result<Vec<PathBuf>, Error> {
    let entries = match std::fs::read_dir(dir) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        entries => entries.map_err(|error| file_error("list", dir, &error))?,
    };
    let paths = entries.map(|entry| entry.map(|entry| entry.path()));
    let ours = |path: &PathBuf| path.extension().is_some_and(|found| found == extension);
    let found: Result<Vec<PathBuf>, _> =
        paths.filter(|path| path.as_ref().map_or(true, ours)).collect();
    found.map_err(|error| file_error("list", dir, &error))
}

/// A store that is being fed. Dropped, it ends; what it had not confirmed comes with the next
/// start.
#[derive(Debug)]
pub struct Feeding {
    gauges: Arc<Gauges>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Feeding {
    /// Figures for self-monitoring.
    pub fn gauges(&self) -> &Arc<Gauges> {
        &self.gauges
    }

    fn stop(&self) {
        self.stop.store(true, Ordering::Release);
        if let Some(thread) = &self.thread {
            thread.thread().unpark();
        }
    }

    fn is_running(&self) -> bool {
        self.thread.as_ref().is_some_and(|thread| !thread.is_finished())
    }
}

impl Drop for Feeding {
    fn drop(&mut self) {
        self.stop();
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

/// Ends feeders together, before the process does. One that is inside a call of its store may not
/// come back for minutes: it is left alone after `patience`, since the next start does all of
/// that again.
pub fn end(mut feeds: Vec<Feeding>, patience: Duration) {
    feeds.iter().for_each(Feeding::stop);
    let mut left = patience;
    while !left.is_zero() && feeds.iter().any(Feeding::is_running) {
        let step = left.min(END_LOOK_EVERY);
        std::thread::sleep(step);
        left -= step;
    }
    for feed in feeds.iter_mut().filter(|feed| feed.is_running()) {
        let store = feed.gauges.read().name;
        tracing::warn!(store, "not waiting for a history store; writing resumes at the next start");
        feed.thread = None;
    }
}

fn spawn(
    name: &'static str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    stdx::thread::critical(name, body).map_err(|cause| {
        Error::config(format!("cannot start the thread {name}: {cause}; raise the user's limit"))
    })
}

fn file_error(what: &str, path: &Path, cause: &dyn std::fmt::Display) -> Error {
    Error::storage_away(format!(
        "cannot {what} {path:?}: {cause}; check that the disk is healthy and has space"
    ))
}
