//! Group commit: callers that committed while one sync ran share the next one.

use std::fs::File;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Condvar, Mutex};

use stdx::sync::lock;

use super::{DbError, DbResult};

/// The disk below the files of SQLite, which a test may let fail. A function that brings the data of a file to the disk is
/// one.
pub trait Disk: Send + Sync {
    /// Brings the data of a file to the disk.
    ///
    /// # Errors
    /// As [`File::sync_data`].
    fn sync(&self, file: &File) -> std::io::Result<()>;

    /// Called before each statement, also before `BEGIN` and `COMMIT`.
    ///
    /// # Errors
    /// Any: the statement is not run, and the database counts as unavailable.
    fn statement(&self, _sql: &str) -> std::io::Result<()> {
        Ok(())
    }
}

/// How a disk is handed around.
pub type SharedDisk = Arc<dyn Disk>;

impl<F: Fn(&File) -> std::io::Result<()> + Send + Sync> Disk for F {
    fn sync(&self, file: &File) -> std::io::Result<()> {
        self(file)
    }
}

/// Brings commits of an SQLite file to the disk. SQLite itself syncs at checkpoints alone
/// (`synchronous = NORMAL`), so that a commit holds the writer for no sync; a caller that promises
/// durability waits here, after it has released the writer.
pub(super) struct Durable {
    sync: Box<dyn Fn() -> std::io::Result<()> + Send + Sync>,
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    /// Commits so far.
    committed: u64,
    /// Commits that are on the disk.
    synced: u64,
    /// A caller is syncing.
    busy: bool,
    /// Commits whose sync failed: the kernel may have dropped their pages, so that a later sync
    /// alone proves nothing. A checkpoint has to write them again.
    suspect: bool,
    /// The last error, for callers that wait for that sync.
    error: String,
    failures: u64,
}

impl Durable {
    /// Of the write-ahead log of this SQLite file, which exists while a connection is open.
    pub(super) fn of_sqlite(path: &Path, disk: SharedDisk) -> std::io::Result<Self> {
        // The log lies beside the file that a link leads to.
        let path = &std::fs::canonicalize(path)?;
        let mut name = path.as_os_str().to_owned();
        name.push("-wal");
        let log = File::open(PathBuf::from(name))?;
        // The names of both files have to survive a power cut as well.
        let folder = path.parent().filter(|folder| !folder.as_os_str().is_empty());
        File::open(folder.unwrap_or(Path::new(".")))?.sync_all()?;
        Ok(Self::new(Box::new(move || disk.sync(&log))))
    }

    pub(super) fn new(sync: Box<dyn Fn() -> std::io::Result<()> + Send + Sync>) -> Self {
        Self { sync, state: Mutex::default(), changed: Condvar::new() }
    }

    /// A transaction was committed.
    pub(super) fn committed(&self) {
        lock(&self.state).committed += 1;
    }

    /// Returns when everything that was committed before the call is on the disk. `rewrite` writes
    /// what an earlier failed sync may have lost again, synced.
    pub(super) fn wait(&self, rewrite: impl Fn() -> Result<(), String>) -> DbResult<()> {
        let mut state = lock(&self.state);
        let wanted = state.committed;
        let failures = state.failures;
        loop {
            if state.synced >= wanted {
                return Ok(());
            }
            if state.failures > failures {
                return Err(DbError::Unsynced { reason: state.error.clone() });
            }
            if state.busy {
                state = self.changed.wait(state).unwrap_or_else(|error| error.into_inner());
                continue;
            }
            state.busy = true;
            let (target, suspect) = (state.committed, state.suspect);
            drop(state);
            let result =
                if suspect { rewrite() } else { (self.sync)().map_err(|error| error.to_string()) };
            state = lock(&self.state);
            state.busy = false;
            match result {
                Ok(()) => {
                    state.suspect = false;
                    state.synced = state.synced.max(target);
                }
                Err(error) => {
                    state.suspect = true;
                    state.failures += 1;
                    state.error = error;
                }
            }
            self.changed.notify_all();
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
    use std::sync::mpsc::sync_channel;

    use super::*;

    #[test]
    fn commits_during_a_sync_share_the_next_one() {
        let (syncs, (entered, entries)) = (Arc::new(AtomicU64::new(0)), sync_channel(10));
        let (proceed, may) = sync_channel::<()>(10);
        let (count, may) = (Arc::clone(&syncs), Mutex::new(may));
        let durable = Durable::new(Box::new(move || {
            count.fetch_add(1, Ordering::SeqCst);
            entered.send(()).unwrap();
            lock(&may).recv().unwrap();
            Ok(())
        }));
        let (waiting, waits) = sync_channel(10);
        std::thread::scope(|scope| {
            let commit = || {
                durable.committed();
                waiting.send(()).unwrap();
                durable.wait(|| Ok(())).unwrap();
            };
            scope.spawn(commit);
            entries.recv().unwrap();
            for _ in 0..8 {
                scope.spawn(commit);
            }
            (0..9).for_each(|_| waits.recv().unwrap());
            proceed.send(()).unwrap();
            proceed.send(()).unwrap();
        });
        assert_eq!(syncs.load(Ordering::SeqCst), 2);
    }

    #[test]
    fn failed_sync_is_an_error_until_the_data_was_written_again() {
        let broken = Arc::new(AtomicBool::new(true));
        let fails = Arc::clone(&broken);
        let durable = Durable::new(Box::new(move || {
            if fails.load(Ordering::SeqCst) {
                return Err(std::io::Error::other("input/output error"));
            }
            Ok(())
        }));
        let rewritten = AtomicU64::new(0);
        let rewrite = || {
            rewritten.fetch_add(1, Ordering::SeqCst);
            Ok(())
        };
        assert!(durable.wait(rewrite).is_ok(), "nothing to sync");
        durable.committed();
        let error = durable.wait(rewrite).unwrap_err();
        assert!(matches!(&error, DbError::Unsynced { reason } if reason == "input/output error"));
        assert!(error.to_string().contains("the change was made"), "{error}");
        broken.store(false, Ordering::SeqCst);
        durable.wait(rewrite).unwrap();
        assert_eq!(rewritten.load(Ordering::SeqCst), 1, "the first sync lost pages");
        durable.committed();
        durable.wait(rewrite).unwrap();
        assert_eq!(rewritten.load(Ordering::SeqCst), 1);
    }
}
