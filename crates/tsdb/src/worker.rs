//! What happens beside the owner's thread: sealing, merging, and `fdatasync` once a second.

use std::collections::VecDeque;
use std::io;
use std::path::PathBuf;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};
use std::thread::JoinHandle;
use std::time::Duration;

use stdx::sync::lock;
use stdx::thread::critical;

use crate::clears::{self, Clears};
use crate::disk::{self, DiskFile};
use crate::error::Error;
use crate::head::Head;
use crate::late;
use crate::layout::SegmentId;
use crate::merge::merge;
use crate::removal::{Remover, remove};
use crate::seal::{Place, seal};
use crate::segment::Segment;

/// Jobs that may wait; the engine itself never has more under way.
const JOBS_MAX: usize = 8;

/// A head to be sealed. Heads are sealed in the order of their numbers.
pub(crate) struct Seal {
    pub(crate) seq: u64,
    pub(crate) head: Arc<Head>,
    pub(crate) wal: PathBuf,
    /// `None` = it could not be created, and nothing was written.
    pub(crate) file: Option<Arc<dyn DiskFile>>,
    /// Somebody reads the log: this is the WAL's name from then on.
    pub(crate) spool: Option<PathBuf>,
    /// The WAL has damage inside: it is renamed, not removed.
    pub(crate) keep_wal: bool,
    /// Cleared items, if their file has to be written before the WAL goes.
    pub(crate) clears: Option<Vec<(u64, u64)>>,
    /// Likewise the hours whose trends are to be written, as the file has them.
    pub(crate) late: Option<Vec<u8>>,
}

/// Something for the worker to do.
pub(crate) enum Job {
    Seal(Seal),
    Merge(Vec<Arc<Segment>>, Arc<Clears>),
    /// What merging replaced, in any order.
    Remove(Vec<Arc<Segment>>),
    /// Days that are not kept any longer, in the order in which their segments were written.
    Drop(Vec<Arc<Segment>>),
    /// Files of the log that everybody has read.
    Unspool(Vec<PathBuf>),
    /// Reads the newest rows into memory: who starts asks for them soon.
    Load(Vec<Arc<Segment>>),
    /// Writes new damage into the manifest.
    NoteDamage,
}

/// What the worker has done.
pub(crate) enum Done {
    Sealed { seq: u64, result: Result<Vec<Arc<Segment>>, Error> },
    Merged { inputs: Vec<SegmentId>, result: Result<Arc<Segment>, Error> },
}

/// Who seals and merges, one job after the other.
pub(crate) enum Worker {
    Thread(Thread),
    /// The owner itself, when it says so: everything happens in one order, as tests need it.
    Owner {
        place: Place,
        jobs: VecDeque<Job>,
        done: VecDeque<Done>,
    },
}

pub(crate) struct Thread {
    jobs: Option<SyncSender<Job>>,
    done: Receiver<Done>,
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Thread {
    fn start(place: Place) -> Result<Self, Error> {
        let (jobs, todo) = sync_channel(JOBS_MAX);
        // At most one head and one merge are under way, so that this never fills.
        let (report, done) = sync_channel(JOBS_MAX);
        let stop = Arc::new(AtomicBool::new(false));
        let stopped = Arc::clone(&stop);
        let thread = critical("tsdb-seal", move || {
            let mut remover = None;
            while let Ok(job) = todo.recv() {
                // What was dropped must not come back; all else is done by the next start.
                let removes = matches!(job, Job::Remove(_) | Job::Drop(_));
                if stopped.load(Ordering::Acquire) && !removes {
                    continue;
                }
                if removes && remover.is_none() {
                    remover = Remover::start();
                }
                if let Some(result) = run(&place, job, &mut remover)
                    && report.send(result).is_err()
                {
                    break;
                }
            }
            remover.into_iter().for_each(Remover::end);
        });
        let thread = thread.map_err(Error::thread("tsdb-seal"))?;
        Ok(Self { jobs: Some(jobs), done, stop, thread: Some(thread) })
    }
}

impl Worker {
    pub(crate) fn start(place: Place, thread: bool) -> Result<Self, Error> {
        if thread {
            return Thread::start(place).map(Self::Thread);
        }
        Ok(Self::Owner { place, jobs: VecDeque::new(), done: VecDeque::new() })
    }

    pub(crate) fn submit(&mut self, job: Job) {
        match self {
            Self::Thread(thread) => {
                let jobs = thread.jobs.as_ref().expect("BUG: jobs after the end");
                // The worker ends before its engine only if it panicked; `wait` tells.
                drop(jobs.send(job));
            }
            Self::Owner { jobs, .. } => jobs.push_back(job),
        }
    }

    /// Does one job that waits, if the owner has to; false = none did.
    pub(crate) fn work(&mut self) -> bool {
        let Self::Owner { place, jobs, done } = self else { return false };
        let Some(job) = jobs.pop_front() else { return false };
        done.extend(run(place, job, &mut None));
        true
    }

    pub(crate) fn poll(&mut self) -> Option<Done> {
        match self {
            Self::Thread(thread) => thread.done.try_recv().ok(),
            Self::Owner { done, .. } => done.pop_front(),
        }
    }

    /// Waits for the next result; `None` = the worker is gone.
    pub(crate) fn wait(&mut self) -> Option<Done> {
        if let Self::Thread(thread) = self {
            return thread.done.recv().ok();
        }
        loop {
            if let Some(done) = self.poll() {
                return Some(done);
            }
            if !self.work() {
                return None;
            }
        }
    }
}

impl Drop for Thread {
    fn drop(&mut self) {
        // A job under way is finished, as nobody else may touch its files before.
        self.stop.store(true, Ordering::Release);
        self.jobs = None;
        if let Some(thread) = self.thread.take() {
            drop(thread.join());
        }
    }
}

fn run(place: &Place, job: Job, remover: &mut Option<Remover>) -> Option<Done> {
    match job {
        Job::Seal(job) => Some(Done::Sealed { seq: job.seq, result: run_seal(place, &job) }),
        Job::Merge(inputs, clears) => {
            let result = merge(place, &inputs, &clears);
            Some(Done::Merged { inputs: inputs.iter().map(|s| s.id).collect(), result })
        }
        Job::Load(segments) => {
            // What cannot be read fails for those who ask.
            segments.iter().for_each(|segment| drop(segment.load_newest()));
            None
        }
        Job::NoteDamage => {
            place.manifest.note_damage();
            None
        }
        Job::Unspool(paths) => {
            // What stays is removed at the next start.
            paths.iter().for_each(|path| drop(place.disk.remove(path)));
            None
        }
        Job::Remove(segments) => {
            let disk = place.disk.as_ref();
            // What stays is removed at the next start.
            segments.into_iter().for_each(|segment| drop(remove(disk, segment, remover)));
            None
        }
        Job::Drop(segments) => {
            // What a failing disk leaves is dropped again after the next start.
            drop(drop_days(place, segments, remover));
            None
        }
    }
}

/// A younger segment of a day has newer versions of values: it goes when the older ones are gone
/// for certain.
fn drop_days(
    place: &Place,
    mut segments: Vec<Arc<Segment>>,
    remover: &mut Option<Remover>,
) -> io::Result<()> {
    segments.sort_by_key(|segment| (segment.id.day, segment.id.last_seq));
    let ids: Vec<SegmentId> = segments.iter().map(|segment| segment.id).collect();
    let forget = || place.manifest.change(|files| files.segments.retain(|id, _| !ids.contains(id)));
    // On a full disk there is room for a new list only when files have gone.
    let listed = forget().is_err();
    let removed = remove_days(place, segments, remover);
    if listed {
        drop(forget());
    }
    removed
}

fn remove_days(
    place: &Place,
    segments: Vec<Arc<Segment>>,
    remover: &mut Option<Remover>,
) -> io::Result<()> {
    let mut before = None;
    for segment in segments {
        let day = segment.id.day;
        if before == Some(day) {
            place.disk.sync_dir(&place.dir)?;
        }
        remove(place.disk.as_ref(), segment, remover)?;
        before = Some(day);
    }
    Ok(())
}

/// May be done again after any failure, whatever it had done.
fn run_seal(place: &Place, job: &Seal) -> Result<Vec<Arc<Segment>>, Error> {
    if let Some(file) = &job.file {
        // Until it goes, the WAL is the truth. If it cannot be, a quick end is all the better: the
        // head in memory has everything. The file keeps the failure for the next sync.
        drop(file.sync());
    }
    let segments = seal(place, &job.head, job.seq)?;
    if let Some(entries) = &job.clears {
        clears::write(&place.dir, place.disk.as_ref(), entries)?;
    }
    if let Some(bytes) = &job.late {
        disk::replace(&place.dir, place.disk.as_ref(), &late::path(&place.dir), bytes)?;
    }
    place.manifest.change(|files| {
        files.add_segments(&segments);
        files.wals.remove(&job.seq);
    })?;
    let (wal, disk) = (&job.wal, place.disk.as_ref());
    let aside = job.keep_wal.then(|| disk::aside(wal));
    let gone = match aside.as_ref().or(job.spool.as_ref()) {
        Some(name) => disk.rename(wal, name).map_err(Error::io("rename", wal)),
        None => disk.remove(wal).map_err(Error::io("remove", wal)),
    };
    match gone {
        // An earlier try came as far as this.
        Err(Error::Io { cause, .. }) if cause.kind() == io::ErrorKind::NotFound => {}
        gone => gone?,
    }
    disk.sync_dir(&place.dir).map_err(Error::io("sync", &place.dir))?;
    Ok(segments)
}

/// WAL files whose newest bytes may not be on the disk; the last one is being written.
type Files = Mutex<Vec<Arc<dyn DiskFile>>>;

struct SyncShared {
    files: Files,
    /// Held while a sync runs, so that callers of a sync wait for that of the helper.
    running: Mutex<()>,
    dirty: AtomicBool,
    stop: AtomicBool,
    /// A sync failed: what these files hold is not certain any more.
    failed: Mutex<Option<Error>>,
}

impl SyncShared {
    /// Files to be synced; `None` = nothing was written since the last time. What is written from now
    /// on is for the next time. Under the lock of the files: a rotation in between would take "nothing
    /// was written" for "everything is synced" and forget the file that was written until then.
    fn take_dirty(&self) -> Option<Vec<Arc<dyn DiskFile>>> {
        let files = lock(&self.files);
        self.dirty.swap(false, Ordering::AcqRel).then(|| files.clone())
    }

    fn sync(&self) -> Result<(), Error> {
        let _running = lock(&self.running);
        if let Some(error) = lock(&self.failed).clone() {
            // A later success would tell nothing.
            return Err(error);
        }
        let Some(files) = self.take_dirty() else { return Ok(()) };
        for file in &files {
            if let Err(cause) = file.sync() {
                let error = Error::io("sync", std::path::Path::new("the WAL"))(cause);
                *lock(&self.failed) = Some(error.clone());
                return Err(error);
            }
        }
        let mut now = lock(&self.files);
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
    pub(crate) fn start(interval: Option<Duration>) -> Result<Self, Error> {
        let shared = Arc::new(SyncShared {
            files: Mutex::new(Vec::new()),
            running: Mutex::new(()),
            dirty: AtomicBool::new(false),
            stop: AtomicBool::new(false),
            failed: Mutex::new(None),
        });
        let thread = match interval {
            None => None,
            Some(interval) => {
                let shared = Arc::clone(&shared);
                let thread = critical("tsdb-sync", move || {
                    while !shared.stop.load(Ordering::Acquire) {
                        std::thread::park_timeout(interval);
                        // A failure is kept and met by the engine's next step.
                        drop(shared.sync());
                    }
                });
                Some(thread.map_err(Error::thread("tsdb-sync"))?)
            }
        };
        Ok(Self { shared, thread })
    }

    /// From now on this file is written.
    pub(crate) fn rotate(&self, file: Arc<dyn DiskFile>) {
        let mut files = lock(&self.shared.files);
        if !self.shared.dirty.load(Ordering::Acquire) {
            files.clear();
        }
        files.push(file);
    }

    /// The failure of a sync since the last start with a new file.
    pub(crate) fn failure(&self) -> Option<Error> {
        lock(&self.shared.failed).clone()
    }

    /// From now on only this file is written; those before are secured in another way.
    pub(crate) fn start_anew(&self, file: Arc<dyn DiskFile>) {
        let _running = lock(&self.shared.running);
        let mut files = lock(&self.shared.files);
        files.clear();
        files.push(file);
        *lock(&self.shared.failed) = None;
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

#[cfg(test)]
mod tests {
    use super::*;

    struct Nothing;

    impl DiskFile for Nothing {
        fn append(&self, _: &[u8]) -> io::Result<()> {
            Ok(())
        }
        fn truncate(&self, _: u64) -> io::Result<()> {
            Ok(())
        }
        fn sync(&self) -> io::Result<()> {
            Ok(())
        }
    }

    /// A rotation that sees "not dirty" forgets the file before: it must not see that before the sync
    /// has taken the file.
    #[test]
    fn sync_takes_its_files_and_the_dirty_mark_in_one_step() {
        let syncer = Syncer::start(None).unwrap();
        syncer.rotate(Arc::new(Nothing));
        syncer.touch();
        let shared = Arc::clone(&syncer.shared);
        let files = lock(&syncer.shared.files);
        let thread = std::thread::spawn(move || shared.sync().is_ok());
        while syncer.shared.running.try_lock().is_ok() {
            std::thread::yield_now();
        }
        for _ in 0..100 {
            std::thread::sleep(Duration::from_micros(200));
            assert!(syncer.shared.dirty.load(Ordering::Acquire), "marked clean before the sync");
        }
        drop(files);
        assert!(thread.join().unwrap());
        assert!(!syncer.shared.dirty.load(Ordering::Acquire));
    }
}
