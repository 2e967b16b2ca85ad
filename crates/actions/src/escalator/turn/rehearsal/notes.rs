//! What a rehearsal finds, in little memory: an escalation may repeat for ever.

use model::alert::outlook::Verdict;
use objects::{OperationMode, Severity, Withholding};

use crate::bundles::Numbers;

/// Notes that are kept. Up to half as many more are collected before later ones are left out.
const NOTES_MAX: usize = if cfg!(test) { 20_000 } else { 500_000 };

/// One look at a problem, or what it led to for one address.
#[derive(Debug, Clone, Copy)]
pub(super) struct Note {
    /// Seconds since 1970.
    pub(super) at: i64,
    pub(super) user: u64,
    /// Number in [`Notes::fitting`].
    pub(super) problem: usize,
    /// Number in [`Notes::addresses`].
    pub(super) address: Option<usize>,
    /// Number in [`Notes::on_call`].
    pub(super) on_call: usize,
    pub(super) step: u32,
    pub(super) mode: OperationMode,
    pub(super) what: What,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum What {
    /// It led to nothing. It counts because looks take time.
    Nothing,
    /// The schedule named in `on_call` has a gap at this time.
    Gap,
    Case(Verdict),
    /// A message that is stored and not sent.
    Withheld(Withholding),
}

/// A problem that meets the conditions.
#[derive(Debug, Clone, Copy)]
pub(super) struct Fitting {
    pub(super) event: u64,
    pub(super) begin: i64,
    pub(super) end: Option<i64>,
    pub(super) severity: Severity,
    /// That of its trigger.
    pub(super) of_trigger: Severity,
    /// Number in [`Notes::groups`].
    pub(super) group: Option<usize>,
}

#[derive(Debug)]
pub(super) struct Notes {
    /// The last second of which all is known. It moves back when there is too much to keep.
    pub(super) till: i64,
    all: Vec<Note>,
    /// When problems began, whether they meet the conditions or not.
    pub(super) problems: Vec<i64>,
    pub(super) fitting: Vec<Fitting>,
    pub(super) addresses: Numbers<(u64, String)>,
    pub(super) on_call: Numbers<Vec<String>>,
    pub(super) groups: Numbers<String>,
}

impl Notes {
    pub(super) fn new(till: i64) -> Self {
        Self {
            till,
            all: Vec::new(),
            problems: Vec::new(),
            fitting: Vec::new(),
            addresses: Numbers::default(),
            on_call: Numbers::default(),
            groups: Numbers::default(),
        }
    }

    pub(super) fn push(&mut self, note: Note) {
        self.all.push(note);
        if self.all.len() >= NOTES_MAX + NOTES_MAX / 2 {
            self.all.sort_by_key(|note| note.at);
            let (first, last) = (self.all[0].at, self.all[NOTES_MAX].at);
            // Of a single second as many count as are kept.
            self.stop((last - 1).max(first));
            self.all.truncate(NOTES_MAX);
        }
    }

    /// Leaves out what came after this second.
    pub(super) fn stop(&mut self, till: i64) {
        self.till = self.till.min(till);
        self.all.retain(|note| note.at <= self.till);
    }

    /// All of them, in the order of time.
    pub(super) fn sorted(&mut self) -> Vec<Note> {
        self.stop(self.till);
        let mut all = std::mem::take(&mut self.all);
        all.sort_by_key(|note| note.at);
        all
    }
}
