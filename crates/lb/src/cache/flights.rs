//! Requests whose response is under way, so that equal ones wait for it instead of going to a server, too.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};

use stdx::sync::lock;

use super::key::Key;
use crate::mailbox::Mailbox;
use crate::wheel::Entry;

/// Parts with locks of their own.
const SHARDS: usize = 16;
/// Responses of one part that are under way.
const FLIGHTS_MAX: usize = 256;
/// Bytes of a key.
const KEY_MAX: usize = 2 << 10;
/// Requests that wait for one response.
const FOLLOWERS_MAX: usize = 1_024;
/// Places for what is known not to be stored; several keys share one.
const PRIVATE: usize = 4_096;
/// How long that is known, in milliseconds.
const PRIVATE_MS: u64 = 10_000;

/// What a flight has ended with.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Verdict {
    /// The response is stored.
    Stored,
    /// It is not for other requests.
    Private,
    /// The server has failed.
    Failed,
    /// The client has gone before the response was there.
    Lost,
    /// As many requests wait as may.
    Full,
}

/// A session that waits.
#[derive(Debug)]
pub(crate) struct Resume {
    pub(crate) entry: Entry,
    /// Of the session's thread.
    pub(crate) mailbox: Arc<Mailbox>,
}

#[derive(Debug, Default)]
struct Progress {
    verdict: Option<Verdict>,
    followers: Vec<Resume>,
}

/// A response that is under way.
#[derive(Debug, Default)]
struct Flight(Mutex<Progress>);

/// The flights of some keys.
type Shard = Mutex<HashMap<Key, Arc<Flight>>>;

/// All responses of a cache that are under way.
#[derive(Debug)]
pub(super) struct Flights {
    shards: Box<[Shard]>,
    /// Until when keys are known to have responses that are not stored, in monotonic milliseconds.
    private: Box<[AtomicU64]>,
    hasher: RandomState,
}

/// The part of a request in a flight.
#[derive(Debug)]
pub(super) enum Joined {
    /// It goes to a server, and equal ones wait for its response.
    Lead(Lead),
    /// An equal one is under way.
    Follow(Follow),
    /// It goes to a server, and no other one waits for it.
    Alone,
}

/// The request that goes to a server. The others go on when it is dropped.
#[derive(Debug)]
pub(super) struct Lead {
    flights: Arc<Flights>,
    key: Key,
    flight: Arc<Flight>,
    verdict: Verdict,
}

/// A request that waits.
#[derive(Debug)]
pub(super) struct Follow {
    flight: Arc<Flight>,
    registered: bool,
}

impl Flights {
    pub(super) fn new() -> Arc<Self> {
        Arc::new(Self {
            shards: (0..SHARDS).map(|_| Mutex::default()).collect(),
            private: (0..PRIVATE).map(|_| AtomicU64::new(0)).collect(),
            hasher: RandomState::new(),
        })
    }

    fn hash(&self, key: &Key) -> usize {
        usize::try_from(self.hasher.hash_one(key) & u64::from(u32::MAX)).unwrap_or(0)
    }

    fn shard(&self, key: &Key) -> &Shard {
        &self.shards[self.hash(key) % SHARDS]
    }

    fn private_until_ms(&self, key: &Key) -> &AtomicU64 {
        &self.private[self.hash(key) / SHARDS % PRIVATE]
    }

    /// Takes part in the flight of a key.
    pub(super) fn join(self: &Arc<Self>, key: &Key, now_us: u64) -> Joined {
        let too_long = key.resource.len() + key.selector.len() > KEY_MAX;
        if too_long || now_us / 1_000 < self.private_until_ms(key).load(Relaxed) {
            return Joined::Alone;
        }
        let mut shard = lock(self.shard(key));
        if let Some(flight) = shard.get(key) {
            return Joined::Follow(Follow { flight: Arc::clone(flight), registered: false });
        }
        if shard.len() >= FLIGHTS_MAX {
            return Joined::Alone;
        }
        let flight = Arc::<Flight>::default();
        shard.insert(key.clone(), Arc::clone(&flight));
        let flights = Arc::clone(self);
        Joined::Lead(Lead { flights, key: key.clone(), flight, verdict: Verdict::Lost })
    }
}

impl Lead {
    /// Ends the flight.
    pub(super) fn end(mut self, verdict: Verdict) {
        self.verdict = verdict;
    }

    /// The resource has responses that are not stored: for a while, its requests do not wait for each other.
    pub(super) fn end_private(self, now_us: u64) {
        let until_ms = now_us / 1_000 + PRIVATE_MS;
        self.flights.private_until_ms(&self.key).store(until_ms, Relaxed);
        self.end(Verdict::Private);
    }
}

impl Drop for Lead {
    fn drop(&mut self) {
        lock(self.flights.shard(&self.key)).remove(&self.key);
        let mut progress = lock(&self.flight.0);
        progress.verdict = Some(self.verdict);
        let followers = std::mem::take(&mut progress.followers);
        drop(progress);
        for Resume { entry, mailbox } in followers {
            mailbox.resume(entry);
        }
    }
}

impl Follow {
    /// What the flight has ended with; `None`: the session runs again when it ends.
    pub(super) fn verdict(&mut self, resume: impl FnOnce() -> Resume) -> Option<Verdict> {
        let mut progress = lock(&self.flight.0);
        if progress.verdict.is_some() || self.registered {
            return progress.verdict;
        }
        if progress.followers.len() >= FOLLOWERS_MAX {
            return Some(Verdict::Full);
        }
        progress.followers.push(resume());
        self.registered = true;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn key(resource: &str) -> Key {
        Key { resource: resource.as_bytes().into(), selector: Box::default() }
    }

    fn mailbox() -> Arc<Mailbox> {
        let poll = mio::Poll::new().unwrap();
        Arc::new(Mailbox::new(poll.registry(), mio::Token(0)).unwrap())
    }

    fn lead(flights: &Arc<Flights>, key: &Key) -> Lead {
        match flights.join(key, 0) {
            Joined::Lead(lead) => lead,
            other => panic!("{other:?}"),
        }
    }

    fn follow(flights: &Arc<Flights>, key: &Key) -> Follow {
        match flights.join(key, 0) {
            Joined::Follow(follow) => follow,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn the_end_of_the_leader_resumes_all_followers_once() {
        let (flights, mailbox) = (Flights::new(), mailbox());
        let first = lead(&flights, &key("a"));
        let resume = |place| Resume { entry: (place, 0), mailbox: Arc::clone(&mailbox) };
        let mut followers: Vec<_> = (0..3).map(|_| follow(&flights, &key("a"))).collect();
        for (place, follower) in followers.iter_mut().enumerate() {
            assert_eq!(follower.verdict(|| resume(place)), None);
            assert_eq!(follower.verdict(|| resume(place)), None, "it is registered once");
        }
        assert!(matches!(flights.join(&key("b"), 0), Joined::Lead(_)), "another resource");
        first.end(Verdict::Stored);
        assert_eq!(mailbox.resumed(), [(0, 0), (1, 0), (2, 0)]);
        for follower in &mut followers {
            assert_eq!(follower.verdict(|| resume(9)), Some(Verdict::Stored));
        }
        // Without an end, the leader has gone.
        let gone = lead(&flights, &key("a"));
        let mut follower = follow(&flights, &key("a"));
        drop(gone);
        assert_eq!(follower.verdict(|| resume(9)), Some(Verdict::Lost));
    }

    #[test]
    fn requests_for_private_responses_do_not_wait_for_a_while() {
        let flights = Flights::new();
        lead(&flights, &key("a")).end_private(1_000);
        assert!(matches!(flights.join(&key("a"), 2_000), Joined::Alone));
        let later_us = 1_000 + PRIVATE_MS * 1_000;
        assert!(matches!(flights.join(&key("a"), later_us), Joined::Lead(_)));
    }

    #[test]
    fn flights_and_their_followers_are_limited() {
        let (flights, mailbox) = (Flights::new(), mailbox());
        let first = lead(&flights, &key("a"));
        let mut followers = Vec::new();
        for place in 0..FOLLOWERS_MAX + 3 {
            let mut follower = follow(&flights, &key("a"));
            let verdict =
                follower.verdict(|| Resume { entry: (place, 0), mailbox: Arc::clone(&mailbox) });
            assert_eq!(verdict, (place >= FOLLOWERS_MAX).then_some(Verdict::Full));
            followers.push(follower);
        }
        let mut leads = vec![first];
        assert!(matches!(flights.join(&key(&"x".repeat(KEY_MAX + 1)), 0), Joined::Alone));
        for number in 0..4 * SHARDS * FLIGHTS_MAX {
            if let Joined::Lead(lead) = flights.join(&key(&number.to_string()), 0) {
                leads.push(lead);
            }
        }
        assert_eq!(leads.len(), SHARDS * FLIGHTS_MAX);
        drop(leads);
        assert!(flights.shards.iter().all(|shard| lock(shard).is_empty()));
    }
}
