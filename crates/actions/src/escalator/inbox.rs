//! What others tell the escalator: that there is something new in the database, and how attempts to send ended.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use model::alert::{Report, Reports};
use stdx::inbox::{self, Ids, Inbox, Taken};

/// Reports that wait to be written; beyond, those who report wait.
const REPORTS_MAX: usize = 10_000;

/// What has come since the last look.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// There are new events or updates.
    pub(super) rung: bool,
    /// Problems whose suppression has changed; too many = all paused escalations are looked at.
    pub(super) woken: Ids,
    pub(super) reports: Vec<Report>,
}

impl inbox::Mail for Mail {
    fn is_empty(&self) -> bool {
        let Self { rung, woken, reports } = self;
        !rung && woken.is_empty() && reports.is_empty()
    }
}

/// Tells the escalator; clones tell the same one.
#[derive(Debug, Clone, Default)]
pub struct Bell {
    inbox: Inbox<Mail>,
    /// When the escalator was last done with all that there was to do, unix time; 0 = not yet.
    looked: Arc<AtomicU64>,
}

impl Bell {
    /// There are new events, or new updates of problems. Does not block.
    pub fn ring(&self) {
        self.inbox.put(|mail| mail.rung = true);
    }

    /// The suppression of these problems has changed. Does not block.
    pub fn suppression_changed(&self, problems: &[u64]) {
        self.inbox.put(|mail| mail.woken.add(problems.iter().copied()));
    }

    /// The escalator ends when it has written all reports. To be called after the media have made their last one.
    pub fn end(&self) {
        self.inbox.end();
    }

    /// The escalator is done with what there was to do.
    pub fn looked(&self, now: u64) {
        self.looked.store(now, Ordering::Relaxed);
    }

    /// When the escalator last was, unix time; 0 = not since the start. It looks at least once a minute.
    pub fn last_look(&self) -> u64 {
        self.looked.load(Ordering::Relaxed)
    }

    /// Waits until something comes or the time is over, and takes it.
    pub(super) fn take(&self, within: Duration) -> Taken<Mail> {
        self.inbox.take(within)
    }
}

impl Reports for Bell {
    fn report(&self, report: Report) {
        let is_full = |mail: &Mail| mail.reports.len() >= REPORTS_MAX;
        self.inbox.put_with_room(is_full, |mail| mail.reports.push(report));
    }
}

#[cfg(test)]
mod tests {
    use model::AlertId;
    use model::alert::Outcome;

    use super::*;

    const LONG: Duration = Duration::from_secs(60);

    #[test]
    fn each_note_wakes_the_escalator() {
        let bell = Bell::default();
        bell.ring();
        assert!(bell.take(LONG).mail.rung);
        bell.suppression_changed(&[5, 6]);
        assert_eq!(bell.take(LONG).mail.woken.some, [5, 6].into());
    }

    #[test]
    fn reports_wait_for_room() {
        let bell = Bell::default();
        let report = |id: usize| Report { alert: AlertId(id as u64), outcome: Outcome::NotStarted };
        std::thread::scope(|scope| {
            scope.spawn(|| (0..3 * REPORTS_MAX).for_each(|id| bell.report(report(id))));
            let mut taken = 0;
            while taken < 3 * REPORTS_MAX {
                let reports = bell.take(LONG).mail.reports;
                assert!((1..=REPORTS_MAX).contains(&reports.len()));
                taken += reports.len();
            }
        });
        bell.end();
        assert!(bell.take(LONG).ended);
    }
}
