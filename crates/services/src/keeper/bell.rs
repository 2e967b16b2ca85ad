//! What others tell the thread that keeps services: that there is something new in the database.

use std::collections::BTreeSet;
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use stdx::sync::lock;

/// Problems to be looked at; beyond, everything is looked at.
const PROBLEMS_MAX: usize = 10_000;

/// What has come since the last look.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// There are new events or updates.
    pub(super) rung: bool,
    /// The configuration has changed.
    pub(super) configured: bool,
    /// Problems that were deleted, or whose suppression has changed.
    pub(super) problems: BTreeSet<u64>,
    /// They were too many.
    pub(super) overflowed: bool,
    /// Nothing more will come.
    pub(super) ended: bool,
}

impl Mail {
    fn is_empty(&self) -> bool {
        let Self { rung, configured, problems, overflowed, ended } = self;
        !(*rung || *configured || *overflowed || *ended) && problems.is_empty()
    }
}

#[derive(Debug, Default)]
struct Shared {
    mail: Mutex<Mail>,
    came: Condvar,
}

/// Tells the thread; clones tell the same one. Nothing of it blocks.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Shared>);

impl Bell {
    /// There are new events, or new updates of problems.
    pub fn ring(&self) {
        self.put(|mail| mail.rung = true);
    }

    /// The configuration has changed.
    pub fn configured(&self) {
        self.put(|mail| mail.configured = true);
    }

    /// These problems were deleted, or their suppression has changed.
    pub fn problems_changed(&self, problems: &[u64]) {
        self.put(|mail| {
            mail.problems.extend(problems);
            if mail.problems.len() > PROBLEMS_MAX {
                mail.problems.clear();
                mail.overflowed = true;
            }
        });
    }

    /// The thread ends.
    pub fn end(&self) {
        self.put(|mail| mail.ended = true);
    }

    fn put(&self, change: impl FnOnce(&mut Mail)) {
        change(&mut lock(&self.0.mail));
        self.0.came.notify_one();
    }

    /// Waits until something comes or the time is over, and takes it.
    pub(super) fn take(&self, within: Duration) -> Mail {
        let guard = lock(&self.0.mail);
        let waited = self.0.came.wait_timeout_while(guard, within, |mail| mail.is_empty());
        let (mut mail, _) = waited.unwrap_or_else(std::sync::PoisonError::into_inner);
        let ended = mail.ended;
        let taken = std::mem::take(&mut *mail);
        mail.ended = ended;
        taken
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_comes_is_taken_once() {
        let bell = Bell::default();
        bell.ring();
        bell.configured();
        bell.problems_changed(&[5, 6, 5]);
        let mail = bell.take(Duration::from_secs(60));
        assert_eq!((mail.rung, mail.configured, mail.problems.len()), (true, true, 2));
        assert!(bell.take(Duration::ZERO).is_empty());
        bell.problems_changed(&Vec::from_iter(0..=PROBLEMS_MAX as u64));
        let mail = bell.take(Duration::from_secs(60));
        assert_eq!((mail.overflowed, mail.problems.len()), (true, 0));
        bell.end();
        assert!(bell.take(Duration::from_secs(60)).ended);
        assert!(bell.take(Duration::from_secs(60)).ended, "for good");
    }
}
