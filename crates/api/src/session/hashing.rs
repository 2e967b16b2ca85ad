//! bcrypt on a few threads of low priority, so that sign-ins never take the CPU time of values and of
//! signed-in users. Sources take turns: one that sends many passwords delays mostly itself.

use std::collections::{HashMap, VecDeque};
use std::net::IpAddr;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{RecvTimeoutError, sync_channel};
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use stdx::seats::source;
use stdx::sync::lock;

use crate::ApiError;
use crate::call::Gone;

/// Passwords waiting for a thread; beyond, sign-ins are refused.
const WAITING_MAX: usize = 64;
/// The same of one source.
const SOURCE_WAITING_MAX: usize = 16;
/// Lower than everything else in the process, but a sign-in ends within half a second while all cores are
/// busy: the kernel gives a thread of this priority a quarter of a core that it shares with another one (at
/// 10, a tenth), and a comparison takes 50 ms.
const NICE: u8 = 5;
/// How often a waiting caller checks whether its client is still connected.
const CHECK_EVERY: Duration = Duration::from_millis(200);

const TOO_MANY: &str = "Too many sign-ins are waiting. Try again in a few seconds.";
const GONE: &str = "The client has closed the connection.";

type Job = Box<dyn FnOnce() + Send>;

/// The threads, started with the first password, and what waits for them.
#[derive(Default)]
pub(crate) struct Hasher(Arc<Shared>);

#[derive(Default)]
struct Shared {
    queue: Mutex<Queue>,
    changed: Condvar,
    /// Comparisons that bcrypt has carried out.
    compared: AtomicU64,
}

#[derive(Default)]
struct Queue {
    /// Sources with waiting jobs, in the order of their turns.
    turns: VecDeque<IpAddr>,
    jobs: HashMap<IpAddr, VecDeque<Job>>,
    waiting: usize,
    threads: usize,
    ended: bool,
}

impl std::fmt::Debug for Hasher {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hasher").field("waiting", &lock(&self.0.queue).waiting).finish()
    }
}

impl Drop for Hasher {
    fn drop(&mut self) {
        lock(&self.0.queue).ended = true;
        self.0.changed.notify_all();
    }
}

/// One thread leaves the other cores to values; two serve a whole office at nine in the morning.
fn threads_max() -> usize {
    (stdx::machine::cores() / 2).clamp(1, 2)
}

impl Hasher {
    /// Compares a password with a hash of bcrypt on one of the threads.
    ///
    /// # Errors
    /// As [`Hasher::run`].
    pub(crate) fn verify(
        &self,
        peer: IpAddr,
        gone: &Gone,
        password: String,
        hash: String,
    ) -> Result<bool, ApiError> {
        let shared = Arc::clone(&self.0);
        let compare = move || {
            let result = bcrypt::verify(password, &hash);
            if result.is_ok() {
                shared.compared.fetch_add(1, Ordering::Relaxed);
            }
            result.unwrap_or(false)
        };
        self.run(peer, gone, compare)
    }

    /// Passwords that were compared with a hash until now.
    #[cfg(test)]
    pub(crate) fn compared(&self) -> u64 {
        self.0.compared.load(Ordering::Relaxed)
    }

    /// Runs `work` on one of the threads and waits for its result. Refuses at once if too many wait,
    /// and ends early if the client closes its connection.
    fn run<T: Send + 'static>(
        &self,
        peer: IpAddr,
        gone: &Gone,
        work: impl FnOnce() -> T + Send + 'static,
    ) -> Result<T, ApiError> {
        let (done, result) = sync_channel(1);
        let client = gone.clone();
        let job = move || {
            if !client.is_gone() {
                drop(done.send(work()));
            }
        };
        self.put(source(peer), Box::new(job))?;
        loop {
            match result.recv_timeout(CHECK_EVERY) {
                Ok(result) => return Ok(result),
                Err(RecvTimeoutError::Timeout) if !gone.is_gone() => {}
                Err(_) => return Err(ApiError::application(GONE)),
            }
        }
    }

    fn put(&self, source: IpAddr, job: Job) -> Result<(), ApiError> {
        let mut queue = lock(&self.0.queue);
        let own = queue.jobs.get(&source).map_or(0, VecDeque::len);
        if queue.waiting >= WAITING_MAX || own >= SOURCE_WAITING_MAX {
            return Err(ApiError::application(TOO_MANY));
        }
        if queue.threads < threads_max() {
            let shared = Arc::clone(&self.0);
            let started = std::thread::Builder::new()
                .name("passwords".to_owned())
                .spawn(move || shared.work());
            match started {
                Ok(_) => queue.threads += 1,
                Err(error) if queue.threads == 0 => {
                    tracing::warn!(%error, "cannot start a thread to check passwords");
                    return Err(ApiError::application(TOO_MANY));
                }
                Err(_) => {}
            }
        }
        if own == 0 {
            queue.turns.push_back(source);
        }
        queue.jobs.entry(source).or_default().push_back(job);
        queue.waiting += 1;
        drop(queue);
        self.0.changed.notify_one();
        Ok(())
    }
}

impl Queue {
    fn next(&mut self) -> Option<Job> {
        let source = self.turns.pop_front()?;
        let jobs = self.jobs.get_mut(&source)?;
        let job = jobs.pop_front()?;
        if jobs.is_empty() {
            self.jobs.remove(&source);
        } else {
            self.turns.push_back(source);
        }
        self.waiting -= 1;
        Some(job)
    }
}

impl Shared {
    fn work(&self) {
        if let Err(error) = stdx::sys::lower_thread_priority(NICE) {
            tracing::debug!(%error, "passwords are checked with normal priority");
        }
        let mut queue = lock(&self.queue);
        while !queue.ended {
            let Some(job) = queue.next() else {
                queue = self.changed.wait(queue).unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            drop(queue);
            job();
            queue = lock(&self.queue);
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::SyncSender;

    use super::*;

    fn ip(last: u8) -> IpAddr {
        IpAddr::from([10, 0, 0, last])
    }

    /// A hasher whose threads are all held until the sender is dropped.
    fn held() -> (Hasher, SyncSender<()>) {
        let hasher = Hasher::default();
        let (hold, held) = sync_channel::<()>(1);
        let held = Arc::new(Mutex::new(held));
        let (started, starts) = sync_channel(1);
        for _ in 0..threads_max() {
            let (held, started) = (Arc::clone(&held), started.clone());
            let job = move || {
                started.send(()).unwrap();
                let _ended = lock(&held).recv();
            };
            hasher.put(ip(9), Box::new(job)).unwrap();
            starts.recv().unwrap();
        }
        (hasher, hold)
    }

    #[test]
    fn sources_take_turns() {
        let (hasher, hold) = held();
        let (done, results) = sync_channel(6);
        for source in [1, 1, 1, 2, 3, 2] {
            let done = done.clone();
            hasher.put(ip(source), Box::new(move || done.send(source).unwrap())).unwrap();
        }
        let order: Vec<_> = {
            let mut queue = lock(&hasher.0.queue);
            std::iter::from_fn(|| queue.next()).collect()
        };
        order.into_iter().for_each(|job| job());
        assert_eq!(results.try_iter().collect::<Vec<_>>(), [1, 2, 3, 1, 2, 1]);
        assert_eq!(lock(&hasher.0.queue).waiting, 0);
        drop(hold);
    }

    #[test]
    fn full_queue_refuses_and_one_source_does_not_fill_it() {
        let (hasher, hold) = held();
        let refused = |source| hasher.put(ip(source), Box::new(|| {})).is_err();
        let taken = |source| (0..100).take_while(|_| !refused(source)).count();
        assert_eq!(taken(1), SOURCE_WAITING_MAX);
        assert!(!refused(2));
        assert_eq!((3..9).map(taken).sum::<usize>(), WAITING_MAX - SOURCE_WAITING_MAX - 1);
        drop(hold);
    }

    #[test]
    fn closed_connection_ends_the_wait_for_a_hash() {
        let (hasher, hold) = held();
        let gone = Gone::default();
        let (ran, runs) = sync_channel(1);
        let result = std::thread::scope(|scope| {
            let waiting = scope.spawn(|| hasher.run(ip(1), &gone, move || ran.send(()).unwrap()));
            gone.leave();
            waiting.join().unwrap()
        });
        assert_eq!(result.unwrap_err().data, GONE);
        drop(hold);
        // Later jobs run, and the one of the closed connection was dropped before.
        assert_eq!(hasher.run(ip(1), &Gone::default(), || 7).unwrap(), 7);
        assert!(runs.recv().is_err());
    }
}
