//! What others leave for one thread: notes that are joined while they wait, and things that wait for room.

use std::collections::BTreeSet;
use std::fmt::Debug;
use std::sync::{Arc, Condvar, Mutex, PoisonError};
use std::time::Duration;

use crate::sync::lock;

/// What has come since the last look. Its size is bounded by those who [put](Inbox::put) into it.
pub trait Mail: Debug + Default {
    /// Nothing has come.
    fn is_empty(&self) -> bool;
}

/// Where it is left; clones are the same inbox.
#[derive(Debug)]
pub struct Inbox<M>(Arc<Shared<M>>);

#[derive(Debug, Default)]
struct Shared<M> {
    waiting: Mutex<Taken<M>>,
    came: Condvar,
    room: Condvar,
}

/// What was taken out at once.
#[derive(Debug, Default)]
pub struct Taken<M> {
    /// What has come.
    pub mail: M,
    /// Nothing more will come; stays true.
    pub ended: bool,
}

impl<M: Mail> Default for Inbox<M> {
    fn default() -> Self {
        Self(Arc::default())
    }
}

impl<M> Clone for Inbox<M> {
    fn clone(&self) -> Self {
        Self(Arc::clone(&self.0))
    }
}

impl<M: Mail> Inbox<M> {
    /// Leaves something. Does not block.
    pub fn put(&self, change: impl FnOnce(&mut M)) {
        change(&mut lock(&self.0.waiting).mail);
        self.0.came.notify_one();
    }

    /// The same as soon as the mail is not full. Blocks until then, unless the inbox has [ended](Self::end).
    pub fn put_with_room(&self, is_full: impl Fn(&M) -> bool, change: impl FnOnce(&mut M)) {
        let guard = lock(&self.0.waiting);
        let waited =
            self.0.room.wait_while(guard, |waiting| is_full(&waiting.mail) && !waiting.ended);
        change(&mut waited.unwrap_or_else(PoisonError::into_inner).mail);
        self.0.came.notify_one();
    }

    /// Nothing more will come.
    pub fn end(&self) {
        lock(&self.0.waiting).ended = true;
        self.0.came.notify_one();
        self.0.room.notify_all();
    }

    /// Waits until something comes or the time is over, and takes it.
    pub fn take(&self, within: Duration) -> Taken<M> {
        let guard = lock(&self.0.waiting);
        let nothing = |waiting: &mut Taken<M>| waiting.mail.is_empty() && !waiting.ended;
        let waited = self.0.came.wait_timeout_while(guard, within, nothing);
        let (mut waiting, _) = waited.unwrap_or_else(PoisonError::into_inner);
        let taken = Taken { mail: std::mem::take(&mut waiting.mail), ended: waiting.ended };
        drop(waiting);
        self.0.room.notify_all();
        taken
    }
}

/// Ids of what is to be looked at. Beyond [`Ids::MAX`] it is everything.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct Ids {
    /// These.
    pub some: BTreeSet<u64>,
    /// Everything.
    pub all: bool,
}

impl Ids {
    /// Ids that are kept.
    pub const MAX: usize = 10_000;

    /// There is nothing to look at.
    pub fn is_empty(&self) -> bool {
        self.some.is_empty() && !self.all
    }

    /// These, too.
    pub fn add(&mut self, ids: impl IntoIterator<Item = u64>) {
        for id in ids {
            self.some.insert(id);
            if self.some.len() > Self::MAX {
                self.some.clear();
                self.all = true;
            }
        }
    }

    /// Those of another one, too.
    pub fn join(&mut self, other: Self) {
        self.all |= other.all;
        self.add(other.some);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[derive(Debug, Default, PartialEq)]
    struct Notes {
        rung: bool,
        things: Vec<usize>,
    }

    impl Mail for Notes {
        fn is_empty(&self) -> bool {
            *self == Self::default()
        }
    }

    #[test]
    fn what_comes_is_taken_once() {
        let inbox = Inbox::<Notes>::default();
        assert!(inbox.take(Duration::ZERO).mail.is_empty());
        inbox.put(|notes| notes.rung = true);
        inbox.put(|notes| notes.things.push(5));
        let taken = inbox.take(LONG);
        assert_eq!((taken.mail.rung, taken.mail.things, taken.ended), (true, vec![5], false));
        assert!(inbox.take(Duration::ZERO).mail.is_empty());
        inbox.end();
        assert!(inbox.take(LONG).ended);
        assert!(inbox.take(LONG).ended, "for good");
    }

    #[test]
    fn things_wait_for_room_until_the_end() {
        let inbox = Inbox::<Notes>::default();
        let put = |n| {
            inbox.put_with_room(|notes| notes.things.len() >= 2, |notes| notes.things.push(n));
        };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..100).for_each(put));
            let mut all = Vec::new();
            while all.len() < 100 {
                let things = inbox.take(LONG).mail.things;
                assert!((1..=2).contains(&things.len()));
                all.extend(things);
            }
            assert_eq!(all, Vec::from_iter(0..100));
            scope.spawn(|| (0..5).for_each(put));
            inbox.end();
        });
        assert_eq!(inbox.take(LONG).mail.things, [0, 1, 2, 3, 4], "nobody takes them");
    }

    #[test]
    fn many_ids_are_everything() {
        let mut ids = Ids::default();
        ids.add([5, 6, 5]);
        assert_eq!((ids.some.len(), ids.all, ids.is_empty()), (2, false, false));
        let mut other = Ids::default();
        other.add(10..10 + Ids::MAX as u64 - 1);
        assert_eq!((other.some.len(), other.all), (Ids::MAX - 1, false));
        ids.join(other);
        assert!(ids.all && ids.some.len() < Ids::MAX, "the two are too many");
    }
}
