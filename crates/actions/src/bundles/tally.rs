//! What gathered messages are about: counted row by row, so that memory does not grow with them.

use objects::Severity;

/// Problems that a summary lists.
const LISTED_MAX: usize = 50;

/// A gathered message, without its text. They come in the order of their problems, then of their ids.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Seen {
    pub(crate) alert: u64,
    pub(crate) action: u64,
    pub(crate) problem: u64,
    /// It reports the end of the problem, or an update after it.
    pub(crate) ended: bool,
    /// It reports an update.
    pub(crate) updated: bool,
    /// It waits to be told.
    pub(crate) waits: bool,
    pub(crate) step: u32,
    pub(crate) severity: Severity,
    /// When the problem began.
    pub(crate) clock: i64,
    pub(crate) open: bool,
}

/// What is said of a problem.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum State {
    New,
    Updated,
    /// It was told before.
    Open,
    Resolved,
}

/// A problem with its messages.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Entry {
    pub(crate) problem: u64,
    pub(crate) action: u64,
    pub(crate) step: u32,
    pub(crate) severity: Severity,
    pub(crate) clock: i64,
    pub(crate) open: bool,
    pub(crate) state: State,
    is_new: bool,
    told: bool,
    waiting: u64,
}

impl Entry {
    fn of(seen: &Seen) -> Self {
        Self {
            problem: seen.problem,
            action: seen.action,
            step: seen.step,
            severity: seen.severity,
            clock: seen.clock,
            open: seen.open,
            state: State::Open,
            is_new: false,
            told: false,
            waiting: 0,
        }
    }

    fn add(&mut self, seen: &Seen) {
        if !seen.waits {
            self.told = true;
            return;
        }
        (self.waiting, self.action, self.step) = (self.waiting + 1, seen.action, seen.step);
        self.is_new |= !self.told && !seen.ended && !seen.updated;
        self.state = match (seen.updated, seen.ended) {
            (false, true) => State::Resolved,
            _ if self.state == State::Resolved => State::Resolved,
            _ if self.is_new => State::New,
            (true, _) => State::Updated,
            (false, false) => self.state,
        };
    }

    /// The most severe first, then the newest.
    fn rank(&self) -> impl Ord + use<> {
        (std::cmp::Reverse(self.severity), std::cmp::Reverse(self.clock), self.problem)
    }
}

/// The first problems of many.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
struct First {
    entries: Vec<Entry>,
    /// How many there are.
    all: u64,
}

impl First {
    fn add(&mut self, entry: Entry) {
        self.all += 1;
        let at = self.entries.partition_point(|other| other.rank() <= entry.rank());
        if at < LISTED_MAX {
            self.entries.truncate(LISTED_MAX - 1);
            self.entries.insert(at, entry);
        }
    }
}

/// All gathered messages of one group or address.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub(crate) struct Tally {
    /// Messages that wait.
    pub(crate) waiting: u64,
    /// The last of them.
    pub(crate) last: u64,
    /// Problems that are open, whether told or not.
    pub(crate) open: u64,
    pub(crate) new: u64,
    pub(crate) updated: u64,
    pub(crate) resolved: u64,
    /// Problems of messages that wait, by their severity.
    pub(crate) by_severity: [u64; Severity::NUMBERS.len()],
    with_news: First,
    still_open: First,
    current: Option<Entry>,
}

impl Tally {
    pub(crate) fn add(&mut self, seen: &Seen) {
        if self.current.is_none_or(|current| current.problem != seen.problem) {
            self.finish();
        }
        self.current.get_or_insert_with(|| Entry::of(seen)).add(seen);
        if seen.waits {
            self.waiting += 1;
            self.last = seen.alert;
        }
    }

    /// After the last message.
    pub(crate) fn finish(&mut self) {
        let Some(entry) = self.current.take() else { return };
        if entry.open {
            self.open += 1;
            self.still_open.add(Entry { state: State::Open, ..entry });
        }
        if entry.waiting == 0 {
            return;
        }
        self.new += u64::from(entry.is_new);
        self.updated += u64::from(entry.state == State::Updated);
        self.resolved += u64::from(entry.state == State::Resolved);
        let severity = usize::try_from(entry.severity.number()).unwrap_or(0);
        self.by_severity[severity] += 1;
        self.with_news.add(entry);
    }

    /// Problems to list, and how many there are; `open`: those that are open, otherwise those with messages that wait.
    pub(crate) fn listed(&self, open: bool) -> (&[Entry], u64) {
        let first = if open { &self.still_open } else { &self.with_news };
        (&first.entries, first.all)
    }
}
