//! Threads that run scripts for all shards. They start when there is work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex, PoisonError};

use eval::preproc::{self, Outcome};
use eval::script::{Outside, Scripts};
use stdx::clock::SharedClock;

use super::http::World;
use super::{Done, Held, Job};
use crate::step_error;

/// Scripts that run or wait at the same time. Most wait for somebody's answer, so their number
/// has nothing to do with that of cores; memory bounds it, an engine may hold 64 MiB.
const WORKERS_MAX: usize = 16;

/// Jobs that wait for a worker; beyond they wait at the shards' desks.
const JOBS_MAX: usize = 256;

/// Shared by all shards; the threads end with the last of them.
pub(crate) struct Pool {
    jobs: SyncSender<Job>,
    shared: Arc<Shared>,
}

struct Shared {
    jobs: Mutex<Receiver<Job>>,
    workers: AtomicUsize,
    idle: AtomicUsize,
    clock: SharedClock,
    outside: Arc<dyn Outside>,
}

impl std::fmt::Debug for Pool {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let workers = self.shared.workers.load(Ordering::Relaxed);
        f.debug_struct("Pool").field("workers", &workers).finish()
    }
}

impl Pool {
    pub(crate) fn new(clock: SharedClock) -> Self {
        let world = World { clock: SharedClock::clone(&clock) };
        Self::with_outside(clock, Arc::new(world))
    }

    pub(crate) fn with_outside(clock: SharedClock, outside: Arc<dyn Outside>) -> Self {
        let (jobs, receiver) = sync_channel(JOBS_MAX);
        let (workers, idle) = (AtomicUsize::new(0), AtomicUsize::new(0));
        let shared = Shared { jobs: Mutex::new(receiver), workers, idle, clock, outside };
        Self { jobs, shared: Arc::new(shared) }
    }

    /// Gives the job back if there is no room.
    pub(crate) fn submit(&self, job: Job) -> Result<(), Box<Job>> {
        let sent = self.jobs.try_send(job);
        self.staff();
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => Err(Box::new(job)),
        }
    }

    /// Starts a worker if all are busy and there may be more.
    fn staff(&self) {
        let shared = &self.shared;
        if shared.idle.load(Ordering::Acquire) > 0 {
            return;
        }
        let more = |n| (n < WORKERS_MAX).then_some(n + 1);
        let Ok(number) = shared.workers.fetch_update(Ordering::AcqRel, Ordering::Acquire, more)
        else {
            return;
        };
        let worker = Arc::clone(shared);
        let thread = std::thread::Builder::new().name(format!("script-{number}"));
        if let Err(error) = thread.spawn(move || worker.work()) {
            shared.workers.fetch_sub(1, Ordering::AcqRel);
            tracing::error!(%error, "cannot start a thread for scripts");
        }
    }
}

impl Shared {
    /// Until there are no shards any more.
    fn work(&self) {
        let outside = Arc::clone(&self.outside);
        let mut scripts = Scripts::with_outside(Arc::clone(&self.clock), outside);
        loop {
            self.idle.fetch_add(1, Ordering::AcqRel);
            let job = self.jobs.lock().unwrap_or_else(PoisonError::into_inner).recv();
            self.idle.fetch_sub(1, Ordering::AcqRel);
            let Ok(job) = job else { return };
            let (done, reply) = run(job, &mut scripts);
            // A shard that ended wants no results.
            let _ = reply.blocking_send(done);
        }
    }
}

fn run(job: Job, scripts: &mut Scripts) -> (Done, stdx::queue::Sender<Done>) {
    let Job { value: Held { item, payload, at, depth, ack }, mut state, reply } = job;
    let (steps, kind) = (&item.steps, item.value_type);
    let input = payload.clone();
    let outcome = match preproc::run(steps, &mut state, payload, at, kind, scripts) {
        Outcome::NotSupported(reason) => {
            let text = step_error::explain(&item, input, at, &reason, scripts);
            Outcome::NotSupported(text.into())
        }
        outcome => outcome,
    };
    (Done { item, at, depth, outcome, state, ack }, reply)
}
