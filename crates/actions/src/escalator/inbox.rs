//! What others tell the escalator: that there is something new in the database, and how attempts to send ended.

use std::collections::BTreeSet;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Condvar, Mutex};
use std::time::Duration;

use model::alert::{Report, Reports};
use stdx::sync::lock;

/// Reports that wait to be written; beyond, those who report wait.
const REPORTS_MAX: usize = 10_000;
/// Problems whose suppression has changed; beyond, all paused escalations are looked at.
const WOKEN_MAX: usize = 10_000;

/// What has come since the last look.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// There are new events or updates.
    pub(super) rung: bool,
    /// Problems whose suppression has changed.
    pub(super) woken: BTreeSet<u64>,
    /// They were too many.
    pub(super) all_woken: bool,
    pub(super) reports: Vec<Report>,
    /// Nothing more will come.
    pub(super) ended: bool,
}

impl Mail {
    fn is_empty(&self) -> bool {
        !self.rung
            && self.woken.is_empty()
            && !self.all_woken
            && self.reports.is_empty()
            && !self.ended
    }
}

#[derive(Debug, Default)]
struct Shared {
    mail: Mutex<Mail>,
    came: Condvar,
    room: Condvar,
    /// When the escalator was last done with all that there was to do, unix time; 0 = not yet.
    looked: AtomicU64,
}

/// Tells the escalator; clones tell the same one.
#[derive(Debug, Clone, Default)]
pub struct Bell(Arc<Shared>);

impl Bell {
    /// There are new events, or new updates of problems. Does not block.
    pub fn ring(&self) {
        self.put(|mail| mail.rung = true);
    }

    /// The suppression of these problems has changed. Does not block.
    pub fn suppression_changed(&self, problems: &[u64]) {
        self.put(|mail| {
            mail.woken.extend(problems);
            if mail.woken.len() > WOKEN_MAX {
                mail.woken.clear();
                mail.all_woken = true;
            }
        });
    }

    /// The escalator ends when it has written all reports. To be called after the media have made their last one.
    pub fn end(&self) {
        self.put(|mail| mail.ended = true);
    }

    /// The escalator is done with what there was to do.
    pub fn looked(&self, now: u64) {
        self.0.looked.store(now, Ordering::Relaxed);
    }

    /// When the escalator last was, unix time; 0 = not since the start. It looks at least once a minute.
    pub fn last_look(&self) -> u64 {
        self.0.looked.load(Ordering::Relaxed)
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
        drop(mail);
        self.0.room.notify_all();
        taken
    }
}

impl Reports for Bell {
    fn report(&self, report: Report) {
        let guard = lock(&self.0.mail);
        let full = |mail: &mut Mail| mail.reports.len() >= REPORTS_MAX && !mail.ended;
        let waited = self.0.room.wait_while(guard, full);
        waited.unwrap_or_else(std::sync::PoisonError::into_inner).reports.push(report);
        self.0.came.notify_one();
    }
}

#[cfg(test)]
mod tests {
    use model::AlertId;
    use model::alert::Outcome;

    use super::*;

    #[test]
    fn what_comes_is_taken_once() {
        let bell = Bell::default();
        assert!(bell.take(Duration::ZERO).is_empty());
        bell.ring();
        bell.ring();
        bell.suppression_changed(&[5, 6]);
        let mail = bell.take(Duration::from_secs(60));
        assert_eq!((mail.rung, mail.woken.len(), mail.all_woken), (true, 2, false));
        assert!(bell.take(Duration::ZERO).is_empty());
        let many: Vec<u64> = (0..=WOKEN_MAX as u64).collect();
        bell.suppression_changed(&many);
        let mail = bell.take(Duration::from_secs(60));
        assert_eq!((mail.woken.len(), mail.all_woken), (0, true));
    }

    #[test]
    fn reports_wait_for_room() {
        let bell = Bell::default();
        let report = |id: usize| Report { alert: AlertId(id as u64), outcome: Outcome::NotStarted };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..3 * REPORTS_MAX).for_each(|id| bell.report(report(id))));
            let mut taken = 0;
            while taken < 3 * REPORTS_MAX {
                let reports = bell.take(Duration::from_secs(60)).reports;
                assert!((1..=REPORTS_MAX).contains(&reports.len()));
                taken += reports.len();
            }
        });
        bell.end();
        assert!(bell.take(Duration::from_secs(60)).ended);
        assert!(bell.take(Duration::from_secs(60)).ended, "for good");
    }
}
