//! Threads that run scripts. They start when there is work.

use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use collect::outside::World;
use eval::script::{Outside, Scripts};
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use stdx::sync::lock;

use super::queue::{Owner, Queue, Taken};
use super::{Done, Held, Job};
use crate::fault;

/// Scripts of steps that run or wait at the same time. Most wait for somebody's answer, so their
/// number has nothing to do with that of cores; memory bounds it, an engine may hold 64 MiB.
pub(super) const WORKERS_MAX: usize = 16;

/// Jobs that wait for a worker; beyond it they wait at their shard.
const JOBS_MAX: usize = 65_536;

const _: () = assert!(super::JAMMED_MAX < JOBS_MAX, "one shard does not fill the queue of all");

/// What a worker does.
pub(crate) trait Work: Send + 'static {
    /// Whose share of the workers it takes.
    fn owner(&self) -> Option<Owner>;
    /// Runs it and notifies its owner.
    fn run(self, scripts: &mut Scripts);
}

/// Shared by all who have work; the threads end with the last of them.
pub(crate) struct Pool<W: Work = Job> {
    shared: Arc<Shared<W>>,
}

struct Shared<W> {
    state: Mutex<State<W>>,
    /// Work came, or all who could have some are gone.
    news: Condvar,
    workers_max: usize,
    clock: SharedClock,
    outside: Arc<dyn Outside>,
}

struct State<W> {
    queue: Queue<W>,
    workers: usize,
    /// Workers without work, also those that are about to take some.
    idle: usize,
    closed: bool,
}

impl<W: Work> std::fmt::Debug for Pool<W> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let workers = lock(&self.shared.state).workers;
        f.debug_struct("Pool").field("workers", &workers).finish()
    }
}

impl<W: Work> Drop for Pool<W> {
    fn drop(&mut self) {
        lock(&self.shared.state).closed = true;
        self.shared.news.notify_all();
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
        let world = World::new(SharedClock::clone(&clock), tickets).with_webdriver(webdriver);
        Self::with_outside(clock, Arc::new(world), workers_max)
    }

    fn with_outside(clock: SharedClock, outside: Arc<dyn Outside>, workers_max: usize) -> Self {
        let queue = Queue::new(workers_max);
        let state = Mutex::new(State { queue, workers: 0, idle: 0, closed: false });
        let news = Condvar::new();
        Self { shared: Arc::new(Shared { state, news, workers_max, clock, outside }) }
    }

    /// The workers' clock, monotonic.
    pub(crate) fn now(&self) -> Duration {
        self.shared.clock.monotonic()
    }

    /// Gives the job back if there is no room.
    pub(crate) fn submit(&self, job: W) -> Result<(), Box<W>> {
        let mut state = lock(&self.shared.state);
        if state.queue.len() >= JOBS_MAX {
            return Err(Box::new(job));
        }
        state.queue.put(job.owner(), job);
        // More jobs wait than workers, and there may be more of these.
        let hire = state.queue.len() > state.idle && state.workers < self.shared.workers_max;
        let number = state.workers;
        state.workers += usize::from(hire);
        drop(state);
        self.shared.news.notify_one();
        if hire {
            self.hire(number);
        }
        Ok(())
    }

    fn hire(&self, number: usize) {
        let worker = Arc::clone(&self.shared);
        // Values wait for their scripts, so a worker that is lost would be missed for ever.
        let thread = stdx::thread::critical(&format!("script-{number}"), move || worker.work());
        if let Err(error) = thread {
            lock(&self.shared.state).workers -= 1;
            tracing::error!(%error, "cannot start a thread for scripts");
        }
    }
}

impl<W: Work> Shared<W> {
    /// Until nobody can have work any more.
    fn work(&self) {
        let outside = Arc::clone(&self.outside);
        let mut scripts = Scripts::with_outside(Arc::clone(&self.clock), outside);
        while let Some(taken) = self.next() {
            let (work, ran) = taken.split();
            let start = self.clock.monotonic();
            work.run(&mut scripts);
            let took = self.clock.monotonic().saturating_sub(start);
            let mut state = lock(&self.state);
            state.queue.done(ran, took);
            let closed = state.closed;
            drop(state);
            // Its end may let one more run than this worker takes; in the end all see that nothing waits.
            if closed { self.news.notify_all() } else { self.news.notify_one() }
        }
    }

    fn next(&self) -> Option<Taken<W>> {
        let mut state = lock(&self.state);
        state.idle += 1;
        let taken = loop {
            if let Some(taken) = state.queue.take() {
                break Some(taken);
            }
            if state.closed && state.queue.len() == 0 {
                break None;
            }
            state = self.news.wait(state).unwrap_or_else(PoisonError::into_inner);
        };
        state.idle -= 1;
        taken
    }
}

impl Work for Job {
    fn owner(&self) -> Option<Owner> {
        Some((self.value.item.host, self.value.item.id))
    }

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
