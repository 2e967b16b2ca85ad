//! Threads that hold more connections than this process may have open files: each has a table of
//! files for itself ([`stdx::sys::spawn_with_own_files`]), so each adds the whole limit once more.
//! 60,000 checks in flight need four of them where the hard limit is 20,000.
//!
//! They start when the poller's own share is in use, and meet the poller only in memory: waking its
//! runtime would take a descriptor of its table. So the poller looks for results by itself.

use std::cell::{Cell, RefCell};
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::Duration;

use stdx::sync::lock;

use super::direct::{Direct, Ended, Job, Route};
use crate::checks::check::Shared;
use crate::checks::reply::CheckReply;

/// How long a thread waits for its connections before it looks for new checks.
const PATIENCE: Duration = Duration::from_millis(5);
/// Between two looks, so that each finds more than one thing to do.
const NAP: Duration = Duration::from_millis(1);
/// Descriptors of a thread that are no connections.
const FILES_KEPT: usize = 64;

/// What a thread and its poller exchange.
#[derive(Default)]
struct Desk {
    todo: Mutex<Todo>,
    work: Condvar,
    ended: Mutex<Vec<Ended>>,
    stop: AtomicBool,
    /// Number of the poller.
    poller: usize,
}

#[derive(Default)]
struct Todo {
    jobs: Vec<(Job, Route)>,
    /// The thread sleeps until there is work.
    sleeps: bool,
}

struct Helper {
    desk: Arc<Desk>,
    thread: Option<JoinHandle<()>>,
    /// Checks with it.
    in_flight: Cell<usize>,
}

/// The helpers of one poller.
pub(crate) struct Beside {
    shared: Arc<Shared>,
    poller: usize,
    helpers_max: usize,
    each_max: usize,
    helpers: RefCell<Vec<Helper>>,
}

impl Beside {
    /// No helper yet. `files` is the limit of open files, `wanted` the checks in flight that
    /// should be possible beside the poller's own.
    pub(crate) fn new(shared: Arc<Shared>, poller: usize, files: usize, wanted: usize) -> Self {
        let each_max = files.saturating_sub(FILES_KEPT).max(1);
        let helpers_max = if wanted == 0 { 0 } else { wanted.div_ceil(each_max).min(HELPERS_MAX) };
        Self { shared, poller, helpers_max, each_max, helpers: RefCell::default() }
    }

    /// Checks that all helpers together can hold.
    pub(crate) fn capacity(&self) -> usize {
        self.helpers_max * self.each_max
    }

    /// Some check is with a helper.
    pub(crate) fn is_busy(&self) -> bool {
        self.helpers.borrow().iter().any(|helper| helper.in_flight.get() > 0)
    }

    /// Gives a check to the helper that has room; back, with the reason, if there is none.
    pub(crate) fn start(&self, job: Job, route: Route) -> Result<(), (Job, CheckReply)> {
        let mut helpers = self.helpers.borrow_mut();
        let place = helpers.iter().position(|helper| helper.in_flight.get() < self.each_max);
        let place = match place {
            Some(place) => place,
            None if helpers.len() >= self.helpers_max => {
                let why = "all sockets that this process may open are in use".to_owned();
                return Err((job, CheckReply::LocalError(why)));
            }
            None => match self.hire(helpers.len()) {
                Ok(helper) => {
                    helpers.push(helper);
                    helpers.len() - 1
                }
                Err(error) => return Err((job, CheckReply::LocalError(error.to_string()))),
            },
        };
        if let Some(helper) = helpers.get(place) {
            helper.in_flight.set(helper.in_flight.get() + 1);
            let mut todo = lock(&helper.desk.todo);
            todo.jobs.push((job, route));
            if std::mem::take(&mut todo.sleeps) {
                helper.desk.work.notify_one();
            }
        }
        Ok(())
    }

    fn hire(&self, number: usize) -> std::io::Result<Helper> {
        let desk = Arc::new(Desk { poller: self.poller, ..Desk::default() });
        let (shared, body) = (Arc::clone(&self.shared), Arc::clone(&desk));
        let name = format!("poller-{}.{number}", self.poller);
        let thread = stdx::sys::spawn_with_own_files(name, move || serve(&shared, &body))?;
        Ok(Helper { desk, thread: Some(thread), in_flight: Cell::new(0) })
    }

    /// Takes what has ended since the last call.
    pub(crate) fn ended(&self, into: &mut Vec<Ended>) {
        for helper in self.helpers.borrow().iter() {
            let before = into.len();
            into.append(&mut lock(&helper.desk.ended));
            helper.in_flight.set(helper.in_flight.get() - (into.len() - before));
        }
    }
}

/// A poller has no more helpers than that, however few files each may open.
const HELPERS_MAX: usize = 8;

impl Drop for Beside {
    fn drop(&mut self) {
        for helper in self.helpers.borrow_mut().iter_mut() {
            helper.desk.stop.store(true, Ordering::SeqCst);
            drop(lock(&helper.desk.todo));
            helper.desk.work.notify_one();
            let panicked = helper.thread.take().is_some_and(|thread| thread.join().is_err());
            if panicked {
                tracing::error!("a thread of poller {} panicked", self.poller);
            }
        }
    }
}

/// The body of a helper's thread.
fn serve(shared: &Shared, desk: &Desk) {
    let mut direct = match Direct::new(shared.config.agent_answer_bytes_max) {
        Ok(direct) => direct,
        Err(error) => return refuse_all(desk, &error),
    };
    let (mut jobs, mut ended) = (Vec::new(), Vec::new());
    let mut cpu = stdx::sys::thread_cpu_time();
    loop {
        {
            let mut todo = lock(&desk.todo);
            while todo.jobs.is_empty() && direct.len() == 0 {
                if desk.stop.load(Ordering::SeqCst) {
                    return;
                }
                todo.sleeps = true;
                todo = desk.work.wait(todo).unwrap_or_else(PoisonError::into_inner);
            }
            std::mem::swap(&mut jobs, &mut todo.jobs);
        }
        if desk.stop.load(Ordering::SeqCst) {
            return;
        }
        let clock = &shared.context.clock;
        let now = clock.monotonic();
        for (job, route) in jobs.drain(..) {
            direct.start(job, route, now);
        }
        direct.advance(now, PATIENCE);
        direct.time_out(clock.monotonic());
        direct.ended(&mut ended);
        if !ended.is_empty() {
            lock(&desk.ended).append(&mut ended);
        }
        let before = std::mem::replace(&mut cpu, stdx::sys::thread_cpu_time());
        shared.context.counters.pollers.add(desk.poller, cpu.saturating_sub(before));
        std::thread::sleep(NAP);
    }
}

/// The thread can do nothing: its checks are to be tried again elsewhere.
fn refuse_all(desk: &Desk, error: &std::io::Error) {
    while !desk.stop.load(Ordering::SeqCst) {
        let mut todo = lock(&desk.todo);
        let refused = todo.jobs.drain(..).map(|(job, route)| Ended {
            job,
            reply: CheckReply::LocalError(error.to_string()),
            route,
        });
        lock(&desk.ended).extend(refused);
        todo.sleeps = true;
        let _woken = desk.work.wait(todo).unwrap_or_else(PoisonError::into_inner);
    }
}
