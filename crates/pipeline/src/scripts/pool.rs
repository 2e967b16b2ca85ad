//! Threads that run scripts. They start when there is work.

use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc::{Receiver, SyncSender, TrySendError, sync_channel};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use eval::script::{Outside, Scripts};
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use stdx::sync::lock;

use super::http::World;
use super::{Done, Held, Job};
use crate::fault;

/// Scripts of steps that run or wait at the same time. Most wait for somebody's answer, so their
/// number has nothing to do with that of cores; memory bounds it, an engine may hold 64 MiB.
pub(super) const WORKERS_MAX: usize = 16;

/// Jobs that wait for a worker; beyond they wait with whoever has them.
pub(super) const JOBS_MAX: usize = 256;

/// What a worker does.
pub(crate) trait Work: Send + 'static {
    /// Does it and tells who waits for it.
    fn run(self, scripts: &mut Scripts);
}

/// Shared by all who have work; the threads end with the last of them.
pub(crate) struct Pool<W = Job> {
    jobs: SyncSender<W>,
    shared: Arc<Shared<W>>,
}

struct Shared<W> {
    jobs: Mutex<Receiver<W>>,
    workers_max: usize,
    workers: AtomicUsize,
    /// Workers without work, also those that are about to take some.
    idle: AtomicUsize,
    /// Jobs that no worker has taken.
    waiting: AtomicUsize,
    clock: SharedClock,
    outside: Arc<dyn Outside>,
}

impl<W> std::fmt::Debug for Pool<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let workers = self.shared.workers.load(Ordering::Relaxed);
        f.debug_struct("Pool").field("workers", &workers).finish()
    }
}

impl<W: Work> Pool<W> {
    pub(crate) fn new(clock: SharedClock, workers_max: usize) -> Self {
        Self::with_webdriver(clock, workers_max, None)
    }

    /// Threads whose scripts lead browsers.
    pub(super) fn with_webdriver(
        clock: SharedClock,
        workers_max: usize,
        webdriver: Option<String>,
    ) -> Self {
        let tickets = Tickets::new(SharedClock::clone(&clock));
        let world = World { clock: SharedClock::clone(&clock), tickets, webdriver };
        Self::with_outside(clock, Arc::new(world), workers_max)
    }

    fn with_outside(clock: SharedClock, outside: Arc<dyn Outside>, workers_max: usize) -> Self {
        let (jobs, receiver) = sync_channel(JOBS_MAX);
        let (workers, idle, waiting) = Default::default();
        let jobs_in = Mutex::new(receiver);
        let shared = Shared { jobs: jobs_in, workers_max, workers, idle, waiting, clock, outside };
        Self { jobs, shared: Arc::new(shared) }
    }

    /// The workers' clock, monotonic.
    pub(crate) fn now(&self) -> Duration {
        self.shared.clock.monotonic()
    }

    /// Gives the job back if there is no room.
    pub(crate) fn submit(&self, job: W) -> Result<(), Box<W>> {
        self.shared.waiting.fetch_add(1, Ordering::AcqRel);
        let sent = self.jobs.try_send(job);
        if sent.is_err() {
            self.shared.waiting.fetch_sub(1, Ordering::AcqRel);
        }
        self.staff();
        match sent {
            Ok(()) => Ok(()),
            Err(TrySendError::Full(job) | TrySendError::Disconnected(job)) => Err(Box::new(job)),
        }
    }

    /// Starts a worker if more jobs wait than workers, and there may be more of these.
    fn staff(&self) {
        let shared = &self.shared;
        if shared.waiting.load(Ordering::Acquire) <= shared.idle.load(Ordering::Acquire) {
            return;
        }
        let more = |n| (n < shared.workers_max).then_some(n + 1);
        let Ok(number) = shared.workers.fetch_update(Ordering::AcqRel, Ordering::Acquire, more)
        else {
            return;
        };
        let worker = Arc::clone(shared);
        // Values wait for their scripts, so a worker that is lost would be missed for ever.
        let thread = stdx::thread::critical(&format!("script-{number}"), move || worker.work());
        if let Err(error) = thread {
            shared.workers.fetch_sub(1, Ordering::AcqRel);
            tracing::error!(%error, "cannot start a thread for scripts");
        }
    }
}

impl<W: Work> Shared<W> {
    /// Until nobody can have work any more.
    fn work(&self) {
        let outside = Arc::clone(&self.outside);
        let mut scripts = Scripts::with_outside(Arc::clone(&self.clock), outside);
        loop {
            self.idle.fetch_add(1, Ordering::AcqRel);
            let job = lock(&self.jobs).recv();
            if job.is_ok() {
                self.waiting.fetch_sub(1, Ordering::AcqRel);
            }
            self.idle.fetch_sub(1, Ordering::AcqRel);
            let Ok(job) = job else { return };
            job.run(&mut scripts);
        }
    }
}

impl Work for Job {
    fn run(self, scripts: &mut Scripts) {
        let Self { value: Held { item, payload, at, depth, ack }, mut state, reply } = self;
        let before = state.clone();
        let start = scripts.now();
        let outcome = fault::steps(&item, &mut state, payload, at, scripts);
        let took = scripts.now().saturating_sub(start);
        // A shard that ended wants no results.
        let _ = reply.blocking_send(Done { item, at, depth, outcome, before, state, took, ack });
    }
}
