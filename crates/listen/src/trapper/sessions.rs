//! Sessions of active agents: which values of a session are kept already.
//!
//! An agent numbers its values within a session and sends again what was not acknowledged. The
//! number of the newest kept value is remembered per host and session; requests of one session
//! are taken one after the other, so that a value sent again while the first attempt is still
//! under way is not stored twice.
//!
//! The table does not outlive the process. A session that is new to it may come from before: an
//! agent whose values were kept, but not acknowledged, sends them again. So the values of a
//! new session are possible duplicates and are compared with history before they are stored.

use std::collections::HashMap;
use std::hash::{BuildHasher, RandomState};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use model::HostId;
use stdx::sync::lock;

/// A session that was silent for so long is forgotten.
const EXPIRY: Duration = Duration::from_secs(24 * 3600);
/// Sessions kept at most: two for each of a million hosts is beyond what one server serves.
const SESSIONS_MAX: usize = 2_000_000;
const PARTS: usize = 64;

type Key = (HostId, u64);

/// A session's progress; hold the lock while values are on their way.
pub(crate) type Session = Arc<tokio::sync::Mutex<Progress>>;

/// A session whose values were all new for so long holds nothing from before.
const DOUBT: Duration = Duration::from_secs(60);

/// How far a session has come.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Progress {
    /// Number of the newest value that is kept.
    pub(crate) last_id: u64,
    /// Since when all values were new; `None` = not seen yet.
    new_since: Option<Duration>,
    sure: bool,
}

impl Progress {
    /// Values may have been kept before.
    pub(crate) fn in_doubt(&self) -> bool {
        !self.sure
    }

    /// Values up to `last_id` are kept now, `repeated` of them were before. `now` is monotonic.
    pub(crate) fn kept(&mut self, last_id: u64, repeated: u64, now: Duration) {
        self.last_id = last_id;
        if repeated > 0 {
            self.new_since = None;
        }
        let since = *self.new_since.get_or_insert(now);
        self.sure |= repeated == 0 && now.saturating_sub(since) >= DOUBT;
    }
}

/// Values of a session that are being stored. When it is dropped without [`Attempt::kept`], because the
/// request timed out or a shard refused its part, some of the values may be stored: the
/// session's values are possible duplicates again, and a resend is compared with history.
pub(crate) struct Attempt<'a> {
    progress: &'a mut Progress,
    kept: bool,
}

impl<'a> Attempt<'a> {
    pub(crate) fn of(progress: &'a mut Progress) -> Self {
        Self { progress, kept: false }
    }

    pub(crate) fn in_doubt(&self) -> bool {
        self.progress.in_doubt()
    }

    /// All values are kept: see [`Progress::kept`].
    pub(crate) fn kept(mut self, last_id: u64, repeated: u64, now: Duration) {
        self.kept = true;
        self.progress.kept(last_id, repeated, now);
    }
}

impl Drop for Attempt<'_> {
    fn drop(&mut self) {
        if !self.kept {
            (self.progress.sure, self.progress.new_since) = (false, None);
        }
    }
}

#[derive(Debug)]
struct Entry {
    session: Session,
    seen: Duration,
}

/// All sessions.
#[derive(Debug)]
pub(crate) struct Sessions {
    parts: Box<[Mutex<HashMap<Key, Entry>>]>,
    // Seeded at random: a stranger cannot choose tokens that collide.
    hasher: RandomState,
    part_max: usize,
}

impl Default for Sessions {
    fn default() -> Self {
        Self::with_max(SESSIONS_MAX)
    }
}

impl Sessions {
    fn with_max(max: usize) -> Self {
        let parts = (0..PARTS).map(|_| Mutex::default()).collect();
        Self { parts, hasher: RandomState::new(), part_max: (max / PARTS).max(1) }
    }

    /// The counter of a session. `now` is monotonic.
    pub(crate) fn get(&self, host: HostId, session: &str, now: Duration) -> Session {
        let key = (host, self.hasher.hash_one(session));
        let at = usize::try_from(self.hasher.hash_one(key)).unwrap_or(0) % PARTS;
        let Some(part) = self.parts.get(at) else { return Session::default() };
        let mut part = lock(part);
        if part.len() >= self.part_max && !part.contains_key(&key) {
            make_room(&mut part, now);
        }
        let entry =
            part.entry(key).or_insert_with(|| Entry { session: Session::default(), seen: now });
        entry.seen = now;
        Arc::clone(&entry.session)
    }

    #[cfg(test)]
    fn len(&self) -> usize {
        self.parts.iter().map(|part| part.lock().unwrap().len()).sum()
    }
}

fn make_room(part: &mut HashMap<Key, Entry>, now: Duration) {
    part.retain(|_, entry| now.saturating_sub(entry.seen) < EXPIRY);
    // Still full: the older half goes. A session in use has somebody who holds its counter.
    let mut seen: Vec<Duration> = part.values().map(|entry| entry.seen).collect();
    let mut surplus = part.len().div_ceil(2);
    if surplus == 0 {
        return;
    }
    let (_, newest_to_go, _) = seen.select_nth_unstable(surplus - 1);
    let newest_to_go = *newest_to_go;
    part.retain(|_, entry| {
        let goes =
            surplus > 0 && entry.seen <= newest_to_go && Arc::strong_count(&entry.session) == 1;
        surplus -= usize::from(goes);
        !goes
    });
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn doubt_ends_after_a_minute_of_new_values() {
        let mut progress = Progress::default();
        let s = Duration::from_secs;
        for (now, repeated, in_doubt) in [
            (100, 3, true),
            (130, 0, true),
            (170, 1, true),
            (171, 0, true),
            (229, 0, true),
            (230, 0, false),
        ] {
            progress.kept(now, repeated, s(now));
            assert_eq!(progress.in_doubt(), in_doubt, "{now}");
        }
        progress.kept(300, 0, s(300));
        assert_eq!((progress.in_doubt(), progress.last_id), (false, 300));
    }

    #[test]
    fn partly_stored_values_make_their_session_uncertain_again() {
        let s = Duration::from_secs;
        let mut progress = Progress::default();
        progress.kept(1, 0, s(0));
        Attempt::of(&mut progress).kept(2, 0, s(60));
        assert!(!progress.in_doubt());
        drop(Attempt::of(&mut progress));
        assert_eq!((progress.in_doubt(), progress.last_id), (true, 2));
        Attempt::of(&mut progress).kept(3, 0, s(61));
        assert!(progress.in_doubt());
        Attempt::of(&mut progress).kept(4, 0, s(121));
        assert!(!progress.in_doubt());
    }

    #[tokio::test]
    async fn a_session_is_known_by_host_and_token() {
        let sessions = Sessions::default();
        let now = Duration::from_secs(1);
        sessions.get(HostId(1), "a", now).lock().await.last_id = 7;
        for (host, token, last_id) in [(1, "a", 7), (1, "b", 0), (2, "a", 0)] {
            assert_eq!(sessions.get(HostId(host), token, now).lock().await.last_id, last_id);
        }
    }

    #[tokio::test]
    async fn the_table_is_bounded_and_keeps_the_newest() {
        let sessions = Sessions::with_max(6400);
        for host in 0..50_000 {
            let now = Duration::from_secs(host);
            sessions.get(HostId(host), "s", now).lock().await.last_id = host;
        }
        assert!(sessions.len() <= 6400 + PARTS, "{}", sessions.len());
        let now = Duration::from_secs(50_000);
        assert_eq!(sessions.get(HostId(49_999), "s", now).lock().await.last_id, 49_999);
        assert_eq!(*sessions.get(HostId(0), "s", now).lock().await, Progress::default());
    }

    #[tokio::test]
    async fn silent_sessions_expire_when_room_is_needed() {
        let sessions = Sessions::with_max(PARTS);
        drop(sessions.get(HostId(1), "s", Duration::ZERO));
        for host in 2..200 {
            drop(sessions.get(HostId(host), "s", EXPIRY + Duration::from_secs(1)));
        }
        assert!(sessions.len() <= 2 * PARTS);
    }
}
