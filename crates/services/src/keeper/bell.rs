//! What others tell the thread that keeps services: that there is something new in the database.

use std::time::Duration;

use stdx::inbox::{self, Ids, Inbox, Taken};

/// What has come since the last look.
#[derive(Debug, Default)]
pub(super) struct Mail {
    /// There are new events or updates.
    pub(super) rung: bool,
    /// The configuration has changed.
    pub(super) configured: bool,
    /// Problems that were deleted, or whose suppression has changed.
    pub(super) problems: Ids,
    /// Problems that have more tags, and so may belong to other services.
    pub(super) tagged: Ids,
}

impl inbox::Mail for Mail {
    fn is_empty(&self) -> bool {
        let Self { rung, configured, problems, tagged } = self;
        !(*rung || *configured) && problems.is_empty() && tagged.is_empty()
    }
}

/// Tells the thread; clones tell the same one. Nothing of it blocks.
#[derive(Debug, Clone, Default)]
pub struct Bell(Inbox<Mail>);

impl Bell {
    /// There are new events, or new updates of problems.
    pub fn ring(&self) {
        self.0.put(|mail| mail.rung = true);
    }

    /// The configuration has changed.
    pub fn configured(&self) {
        self.0.put(|mail| mail.configured = true);
    }

    /// These problems were deleted, or their suppression has changed.
    pub fn problems_changed(&self, problems: &[u64]) {
        self.0.put(|mail| mail.problems.add(problems.iter().copied()));
    }

    /// These problems have more tags.
    pub fn problems_tagged(&self, problems: &[u64]) {
        self.0.put(|mail| mail.tagged.add(problems.iter().copied()));
    }

    /// The thread ends.
    pub fn end(&self) {
        self.0.end();
    }

    /// Waits until something comes or the time is over, and takes it.
    pub(super) fn take(&self, within: Duration) -> Taken<Mail> {
        self.0.take(within)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_note_wakes_the_thread() {
        let bell = Bell::default();
        let taken = || bell.take(Duration::from_secs(60)).mail;
        bell.ring();
        assert!(taken().rung);
        bell.configured();
        assert!(taken().configured);
        bell.problems_changed(&[5, 6, 5]);
        assert_eq!(taken().problems.some, [5, 6].into());
        bell.problems_tagged(&[7]);
        assert_eq!(taken().tagged.some, [7].into());
        bell.end();
        assert!(bell.take(Duration::from_secs(60)).ended);
    }
}
