//! Checks of passwords. One takes up to a second of CPU time by design, so threads that forward never make one:
//! others do, and each forwarding thread remembers the results for a while.

use std::collections::HashMap;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::atomic::AtomicBool;
use std::sync::atomic::Ordering::Relaxed;
use std::sync::mpsc::{Receiver, SyncSender, sync_channel};
use std::sync::{Arc, Mutex, Once};

use hmac::{Hmac, Mac};
use sha2::Sha256;
use stdx::sync::lock;

use super::hash::Hash;
use crate::mailbox::{Checked, Mailbox};
use crate::wheel::Entry;

/// Checks of all threads that wait.
const QUEUE: usize = 256;
/// Checks of one thread that wait; beyond it, requests get 503.
const WAITING_MAX: usize = 64;
/// Checks of all threads for one address: a client that guesses passwords does not keep others waiting for long.
const ADDRESS_MAX: usize = 8;
/// How much lower the priority of threads is that check passwords (nice).
const NICE: u8 = 10;
/// Requests that wait for the same check.
const ENTRIES_MAX: usize = 1_024;
/// Results that a thread remembers.
const KNOWN_MAX: usize = 4_096;
/// How long it remembers right passwords, in milliseconds.
const PASSED_MS: u64 = 300_000;
/// The same of wrong ones.
const REFUSED_MS: u64 = 5_000;

/// Credentials as a keyed hash: what is remembered does not reveal passwords.
pub(crate) type Key = [u8; 32];

/// The time of the last wake-up.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Now {
    /// Monotonic milliseconds.
    pub(crate) ms: u64,
    /// Unix time in seconds.
    pub(crate) unix_s: u64,
}

/// A password to be checked.
pub(crate) struct Task {
    pub(crate) key: Key,
    hash: Hash,
    password: Vec<u8>,
    /// The user exists.
    known: bool,
}

impl std::fmt::Debug for Task {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Task").finish_non_exhaustive()
    }
}

impl Task {
    /// The check of a user and a password, which `pair` has together.
    pub(super) fn new(
        checks: &Checks,
        hash: &Hash,
        pair: &[u8],
        password: &[u8],
        known: bool,
    ) -> Self {
        // The hash is a part of the key: a changed password is checked again.
        let key = checks.key(&[hash.text().as_bytes(), &[u8::from(known)], pair]);
        Self { key, hash: hash.clone(), password: password.to_vec(), known }
    }

    fn run(&self) -> bool {
        self.hash.is_of(&self.password) && self.known
    }
}

/// The check that a request waits for, or waited for.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Awaited {
    pub(super) key: Key,
    /// Its response has no body.
    pub(super) to_head: bool,
}

/// A check in the queue.
struct Job {
    task: Task,
    address: IpAddr,
    /// All clients that waited for it have gone.
    abandoned: Arc<AtomicBool>,
    /// Of the thread that gets the result.
    mailbox: Arc<Mailbox>,
}

/// The checks that wait or run, by address.
#[derive(Default)]
struct Counts(Mutex<HashMap<IpAddr, usize>>);

impl Counts {
    /// Counts one more; false: the address has its share.
    fn add(&self, address: IpAddr) -> bool {
        let mut counts = lock(&self.0);
        let count = counts.entry(address).or_default();
        let fits = *count < ADDRESS_MAX;
        *count += usize::from(fits);
        fits
    }

    fn remove(&self, address: IpAddr) {
        let mut counts = lock(&self.0);
        if let Some(count) = counts.get_mut(&address) {
            *count -= 1;
            if *count == 0 {
                counts.remove(&address);
            }
        }
    }
}

/// The threads that check passwords. They start with the first check.
pub(crate) struct Checkers {
    sender: SyncSender<Job>,
    receiver: Arc<Mutex<Receiver<Job>>>,
    counts: Arc<Counts>,
    start: Once,
    threads: usize,
}

impl std::fmt::Debug for Checkers {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checkers").finish_non_exhaustive()
    }
}

impl Checkers {
    /// Half as many threads as forward.
    pub(crate) fn new(forwarding: usize) -> Arc<Self> {
        let (sender, receiver) = sync_channel(QUEUE);
        let receiver = Arc::new(Mutex::new(receiver));
        let (counts, threads) = (Arc::default(), (forwarding / 2).max(1));
        Arc::new(Self { sender, receiver, counts, start: Once::new(), threads })
    }

    /// Queues a check; false: too many wait.
    fn submit(&self, job: Job) -> bool {
        self.start.call_once(|| {
            for number in 0..self.threads {
                let (receiver, counts) = (Arc::clone(&self.receiver), Arc::clone(&self.counts));
                let started = stdx::thread::critical(&format!("passwords-{number}"), move || {
                    check_all(&receiver, &counts);
                });
                if let Err(error) = started {
                    tracing::error!("no thread that checks passwords can be started: {error}");
                }
            }
        });
        let address = job.address;
        if !self.counts.add(address) {
            return false;
        }
        let queued = self.sender.try_send(job).is_ok();
        if !queued {
            self.counts.remove(address);
        }
        queued
    }
}

fn check_all(receiver: &Mutex<Receiver<Job>>, counts: &Counts) {
    if let Err(error) = stdx::sys::lower_thread_priority(NICE) {
        tracing::debug!("passwords are checked with normal priority: {error}");
    }
    loop {
        // The lock is held while nothing waits; the next thread waits for the lock.
        let received = lock(receiver).recv();
        let Ok(Job { task, address, abandoned, mailbox }) = received else { return };
        let passed = (!abandoned.load(Relaxed)).then(|| task.run());
        counts.remove(address);
        let Some(passed) = passed else { continue };
        lock(&mailbox.checked).push(Checked { key: task.key, passed });
        if let Err(error) = mailbox.waker.wake() {
            tracing::error!(
                "cannot wake a thread whose request waits for a password check; it responds late: {error}"
            );
        }
    }
}

/// The requests that wait for a check.
#[derive(Debug)]
struct Waiting {
    entries: Vec<Entry>,
    abandoned: Arc<AtomicBool>,
}

/// What a thread knows of passwords.
pub(crate) struct Checks {
    /// A secret of this thread.
    mac: Hmac<Sha256>,
    /// Results, with when they are forgotten, in monotonic milliseconds.
    passed: HashMap<Key, u64>,
    refused: HashMap<Key, u64>,
    waiting: HashMap<Key, Waiting>,
    checkers: Arc<Checkers>,
    mailbox: Arc<Mailbox>,
    /// Unix time at the monotonic time 0, in microseconds.
    unix_us: u64,
}

impl std::fmt::Debug for Checks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Checks").finish_non_exhaustive()
    }
}

impl Checks {
    pub(crate) fn new(secret: &[u8; 64], checkers: Arc<Checkers>, mailbox: Arc<Mailbox>) -> Self {
        let mac = <Hmac<Sha256> as Mac>::new(secret.into());
        let [passed, refused] = [HashMap::new(), HashMap::new()];
        Self { mac, passed, refused, waiting: HashMap::new(), checkers, mailbox, unix_us: 0 }
    }

    /// Where the thread gets what others have for it.
    pub(crate) fn mailbox(&self) -> &Arc<Mailbox> {
        &self.mailbox
    }

    /// Takes over the machine's clock: the Unix time at the monotonic time 0, in microseconds.
    pub(crate) fn set_unix(&mut self, unix_us: u64) {
        self.unix_us = unix_us;
    }

    pub(crate) fn now(&self, now_us: u64) -> Now {
        Now { ms: now_us / 1000, unix_s: self.unix_us.saturating_add(now_us) / 1_000_000 }
    }

    fn key(&self, parts: &[&[u8]]) -> Key {
        let mut mac = self.mac.clone();
        for part in parts {
            mac.update(&(part.len() as u64).to_be_bytes());
            mac.update(part);
        }
        mac.finalize().into_bytes().into()
    }

    /// Whether credentials were right, if that is remembered.
    pub(crate) fn look(&self, key: &Key, now_ms: u64) -> Option<bool> {
        let valid = |results: &HashMap<Key, u64>| results.get(key).is_some_and(|end| now_ms < *end);
        if valid(&self.passed) {
            return Some(true);
        }
        valid(&self.refused).then_some(false)
    }

    /// Lets a request wait for a check; false: too many wait.
    pub(crate) fn submit(&mut self, task: Task, entry: Entry, address: IpAddr) -> bool {
        let key = task.key;
        if let Some(waiting) = self.waiting.get_mut(&key) {
            let fits = waiting.entries.len() < ENTRIES_MAX;
            if fits {
                waiting.entries.push(entry);
            }
            return fits;
        }
        let abandoned = Arc::new(AtomicBool::new(false));
        let (address, mailbox) = (network(address), Arc::clone(&self.mailbox));
        let job = Job { task, address, abandoned: Arc::clone(&abandoned), mailbox };
        if self.waiting.len() >= WAITING_MAX || !self.checkers.submit(job) {
            return false;
        }
        self.waiting.insert(key, Waiting { entries: vec![entry], abandoned });
        true
    }

    /// Whether requests wait for a check.
    pub(crate) fn awaits(&self, key: &Key) -> bool {
        self.waiting.contains_key(key)
    }

    /// A request that waited has ended: a check that nobody waits for is not made.
    pub(crate) fn leave(&mut self, key: &Key, entry: Entry) {
        let Some(waiting) = self.waiting.get_mut(key) else { return };
        waiting.entries.retain(|other| *other != entry);
        if waiting.entries.is_empty() {
            waiting.abandoned.store(true, Relaxed);
            self.waiting.remove(key);
        }
    }

    /// Remembers a result; returns the requests that waited for it.
    pub(crate) fn done(&mut self, Checked { key, passed }: Checked, now_ms: u64) -> Vec<Entry> {
        let (results, time) =
            if passed { (&mut self.passed, PASSED_MS) } else { (&mut self.refused, REFUSED_MS) };
        if results.len() >= KNOWN_MAX {
            results.retain(|_, end| now_ms < *end);
            // The oldest makes room: requests may wait for new ones.
            let oldest = results.iter().min_by_key(|(_, end)| **end).map(|(key, _)| *key);
            if results.len() >= KNOWN_MAX
                && let Some(oldest) = oldest
            {
                results.remove(&oldest);
            }
        }
        results.insert(key, now_ms + time);
        self.waiting.remove(&key).map(|waiting| waiting.entries).unwrap_or_default()
    }
}

/// A client has all addresses of an IPv6 network of 64 bits.
fn network(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => Ipv6Addr::from_bits(address.to_bits() >> 64 << 64).into(),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn checks() -> (Checks, Arc<Checkers>) {
        let poll = mio::Poll::new().unwrap();
        let mailbox = Arc::new(Mailbox::new(poll.registry(), mio::Token(0)).unwrap());
        // No thread of this pool starts: what is queued stays.
        let checkers = Checkers::new(1);
        checkers.start.call_once(|| {});
        (Checks::new(&[7; 64], Arc::clone(&checkers), mailbox), checkers)
    }

    fn task(checks: &Checks, pair: &str) -> Task {
        let (_, password) = pair.split_once(':').unwrap();
        Task::new(checks, &Hash::of("$2y$04$x"), pair.as_bytes(), password.as_bytes(), true)
    }

    fn address(last: u8) -> IpAddr {
        IpAddr::from([192, 0, 2, last])
    }

    #[test]
    fn results_are_remembered_for_a_while() {
        let (mut checks, _checkers) = checks();
        let (right, wrong) = (task(&checks, "a:b").key, task(&checks, "a:c").key);
        assert_ne!(right, wrong);
        assert_eq!(checks.look(&right, 0), None);
        checks.done(Checked { key: right, passed: true }, 1_000);
        checks.done(Checked { key: wrong, passed: false }, 1_000);
        assert_eq!(checks.look(&right, 1_000), Some(true));
        assert_eq!(checks.look(&wrong, 1_000), Some(false));
        assert_eq!(checks.look(&wrong, 1_000 + REFUSED_MS), None);
        assert_eq!(checks.look(&right, 1_000 + PASSED_MS), None);
    }

    #[test]
    fn another_hash_is_another_key() {
        let (checks, _checkers) = checks();
        let key = |hash: &str, known| Task::new(&checks, &Hash::of(hash), b"a:b", b"b", known).key;
        assert_ne!(key("x", true), key("y", true));
        assert_ne!(key("x", true), key("x", false));
        assert_eq!(key("x", true), key("x", true));
    }

    #[test]
    fn requests_with_the_same_credentials_wait_for_one_check() {
        let (mut checks, _checkers) = checks();
        for place in 0..20 {
            let task = task(&checks, "a:b");
            assert!(checks.submit(task, (place, 0), address(1)));
        }
        assert_eq!(checks.waiting.len(), 1);
        let key = task(&checks, "a:b").key;
        let woken = checks.done(Checked { key, passed: true }, 0);
        assert_eq!(woken.len(), 20);
        assert!(checks.waiting.is_empty());
    }

    #[test]
    fn checks_that_wait_are_limited_for_each_address_and_in_all() {
        let (mut checks, _checkers) = checks();
        let mut submit = |pair: String, last: u8| {
            let task = task(&checks, &pair);
            checks.submit(task, (0, 0), address(last))
        };
        let accepted = (0..20).filter(|n| submit(format!("a:{n}"), 1)).count();
        assert_eq!(accepted, ADDRESS_MAX);
        let accepted = (0..200_u8).filter(|n| submit(format!("b:{n}"), 2 + n)).count();
        assert_eq!(accepted, WAITING_MAX - ADDRESS_MAX);
    }

    #[test]
    fn the_oldest_of_the_remembered_results_are_forgotten() {
        let (mut checks, _checkers) = checks();
        let key = |checks: &Checks, n: usize| task(checks, &format!("a:{n}")).key;
        for n in 0..KNOWN_MAX + 10 {
            let key = key(&checks, n);
            checks.done(Checked { key, passed: true }, n as u64);
        }
        assert_eq!(checks.passed.len(), KNOWN_MAX);
        for n in 0..KNOWN_MAX + 10 {
            let known = checks.look(&key(&checks, n), KNOWN_MAX as u64);
            assert_eq!(known, (n >= 10).then_some(true), "{n}");
        }
    }

    #[test]
    fn an_address_has_its_share_of_the_checks_of_all_threads() {
        let (mut first, checkers) = checks();
        let mailbox = Arc::clone(&first.mailbox);
        let mut second = Checks::new(&[8; 64], Arc::clone(&checkers), mailbox);
        for n in 0..ADDRESS_MAX {
            let checks = if n % 2 == 0 { &mut first } else { &mut second };
            let task = task(checks, &format!("a:{n}"));
            assert!(checks.submit(task, (n, 0), address(1)));
        }
        for checks in [&mut first, &mut second] {
            let task = task(checks, "a:more");
            assert!(!checks.submit(task, (0, 0), address(1)));
        }
    }

    #[test]
    fn a_check_that_nobody_waits_for_is_not_made() {
        let (mut checks, checkers) = checks();
        let key = task(&checks, "a:b").key;
        for place in 0..2 {
            let task = task(&checks, "a:b");
            assert!(checks.submit(task, (place, 0), address(1)));
        }
        let job = lock(&checkers.receiver).try_recv().unwrap();
        checks.leave(&key, (0, 0));
        assert!(checks.awaits(&key) && !job.abandoned.load(Relaxed));
        checks.leave(&key, (1, 0));
        assert!(!checks.awaits(&key) && job.abandoned.load(Relaxed));
        checkers.counts.remove(job.address);
        assert!(lock(&checkers.counts.0).is_empty());
    }
}
