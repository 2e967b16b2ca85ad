//! What happens beside the owner's thread: sealing, merging, and `fdatasync` once a second.

use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use crate::disk::DiskFile;
use crate::error::Error;
use crate::head::Head;
use crate::merge::merge;
use crate::seal::{Place, seal};
use crate::segment::{Segment, SegmentId};

/// Jobs that may wait; the engine itself never has more under way.
const JOBS_MAX: usize = 8;

/// Whether writes are still safe. The first failure decides for the rest of the process.
#[derive(Debug, Default)]
pub(crate) struct Health {
    cause: OnceLock<Arc<str>>,
}

impl Health {
    pub(crate) fn check(&self) -> Result<(), Error> {
        match self.cause.get() {
            None => Ok(()),
            Some(cause) => Err(Error::Poisoned { cause: Arc::clone(cause) }),
        }
    }

    /// Notes a failure and gives it back.
    pub(crate) fn poison(&self, error: Error) -> Error {
        self.cause.get_or_init(|| error.to_string().into());
        error
    }
}

/// Something for the worker to do.
pub(crate) enum Job {
    Seal { seq: u64, head: Arc<Head>, wal: PathBuf, file: Option<Arc<dyn DiskFile>> },
    Merge(Vec<Arc<Segment>>),
    Remove(Vec<PathBuf>),
}

/// What the worker has done.
pub(crate) enum Done {
    Sealed {
        seq: u64,
        segments: Vec<Arc<Segment>>,
    },
    /// Sealing failed, and the engine is poisoned.
    NotSealed,
    Merged {
        inputs: Vec<SegmentId>,
        result: Result<Arc<Segment>, Error>,
    },
}

/// The thread that seals and merges, one job after the other.
pub(crate) struct Worker {
    jobs: Option<SyncSender<Job>>,
    done: Receiver<Done>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

fn spawn(
    name: &'static str,
    body: impl FnOnce() + Send + 'static,
) -> Result<JoinHandle<()>, Error> {
    let builder = std::thread::Builder::new().name(name.to_owned());
    builder.spawn(body).map_err(|cause| Error::Thread { name, cause: Arc::new(cause) })
}

impl Worker {
    pub(crate) fn start(place: Place, health: Arc<Health>) -> Result<Self, Error> {
        let (jobs, todo) = sync_channel(JOBS_MAX);
        // At most two heads and one merge are under way, so that this never fills.
        let (report, done) = sync_channel(JOBS_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = spawn("tsdb-seal", move || {
            while let Ok(job) = todo.recv() {
                // What was dropped must not come back; all else is done by the next start.
                if stopped.load(Ordering::Acquire) && !matches!(job, Job::Remove(_)) {
                    continue;
                }
                if let Some(result) = run(&place, &health, job)
                    && report.send(result).is_err()
                {
                    break;
                }
            }
        })?;
        Ok(Self { jobs: Some(jobs), done, stop, thread: Some(thread) })
    }

    pub(crate) fn submit(&self, job: Job) {
        let jobs = self.jobs.as_ref().expect("BUG: jobs after the end");
        // The worker ends before its engine only if it panicked; `wait` tells.
        drop(jobs.send(job));
    }

    pub(crate) fn poll(&self) -> Option<Done> {
        self.done.try_recv().ok()
    }

    /// Waits for the next result; `None` = the worker is gone.
    pub(crate) fn wait(&self) -> Option<Done> {
        self.done.recv().ok()
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // A job under way is finished, as nobody else may touch its files before.
        self.stop.store(true, Ordering::Release);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(place: &Place, health: &Health, job: Job) -> Option<Done> {
    match job {
        Job::Seal { seq, head, wal, file } => {
            let sealed = health.check().and_then(|()| {
                if let Some(file) = file {
                    file.sync().map_err(Error::io("sync", &wal))?;
                }
                let segments = seal(place, &head, seq)?;
                place.disk.remove(&wal).map_err(Error::io("remove", &wal))?;
                place.disk.sync_dir(&place.dir).map_err(Error::io("sync", &place.dir))?;
                Ok(segments)
            });
            Some(match sealed {
                Ok(segments) => Done::Sealed { seq, segments },
                Err(error) => {
                    health.poison(error);
                    Done::NotSealed
                }
            })
        }
        Job::Merge(inputs) => {
            let result = health.check().and_then(|()| merge(place, &inputs));
            Some(Done::Merged { inputs: inputs.iter().map(|s| s.id).collect(), result })
        }
        Job::Remove(paths) => {
            for path in paths {
                // What stays is removed at the next start.
                drop(place.disk.remove(&path));
            }
            None
        }
    }
}

/// WAL files whose newest bytes may not be on the disk; the last one is being written.
type Files = Mutex<Vec<Arc<dyn DiskFile>>>;

struct SyncShared {
    files: Files,
    /// Held while a sync runs, so that whoever asks for one waits for the helper's.
    running: Mutex<()>,
    dirty: AtomicBool,
    stop: AtomicBool,
    health: Arc<Health>,
}

impl SyncShared {
    fn sync(&self) -> Result<(), Error> {
        let _running = self.running.lock().unwrap_or_else(PoisonError::into_inner);
        // Cleared first: what is written from now on is for the next time.
        if !self.dirty.swap(false, Ordering::AcqRel) {
            return self.health.check();
        }
        let files = self.files.lock().unwrap_or_else(PoisonError::into_inner).clone();
        for file in &files {
            if let Err(cause) = file.sync() {
                let error = Error::io("sync", std::path::Path::new("the WAL"))(cause);
                return Err(self.health.poison(error));
            }
        }
        let mut now = self.files.lock().unwrap_or_else(PoisonError::into_inner);
        let address = |file: &Arc<dyn DiskFile>| Arc::as_ptr(file).cast::<()>();
        let written = now.last().map(address);
        let synced: Vec<_> = files.iter().map(address).collect();
        now.retain(|file| Some(address(file)) == written || !synced.contains(&address(file)));
        Ok(())
    }
}

/// The helper that bounds what a power cut may cost.
pub(crate) struct Syncer {
    shared: Arc<SyncShared>,
    thread: Option<JoinHandle<()>>,
}

impl Syncer {
    pub(crate) fn start(interval: Option<Duration>, health: Arc<Health>) -> Result<Self, Error> {
        let shared = Arc::new(SyncShared {
            files: Mutex::new(Vec::new()),
            running: Mutex::new(()),
            dirty: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            health,
        });
        let thread = match interval {
            None => None,
            Some(interval) => {
                let shared = Arc::clone(&shared);
                Some(spawn("tsdb-sync", move || {
                    while !shared.stop.load(Ordering::Acquire) {
                        std::thread::park_timeout(interval);
                        // A failure is kept in `health` and met by the next append.
                        drop(shared.sync());
                    }
                })?)
            }
        };
        Ok(Self { shared, thread })
    }

    /// From now on this file is written.
    pub(crate) fn rotate(&self, file: Arc<dyn DiskFile>) {
        let mut files = self.shared.files.lock().unwrap_or_else(PoisonError::into_inner);
        if !self.shared.dirty.load(Ordering::Acquire) {
            files.clear();
        }
        files.push(file);
    }

    /// Something was written.
    pub(crate) fn touch(&self) {
        self.shared.dirty.store(true, Ordering::Release);
    }

    /// Waits until all that was written is on the disk.
    pub(crate) fn sync(&self) -> Result<(), Error> {
        self.shared.sync()
    }
}

impl Drop for Syncer {
    fn drop(&mut self) {
        self.shared.stop.store(true, Ordering::Release);
        if let Some(thread) = self.thread.take() {
            thread.thread().unpark();
            drop(thread.join());
        }
    }
}
