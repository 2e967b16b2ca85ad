//! What an action would have sent about problems of the past.

use std::collections::BTreeMap;

use objects::{OperationMode, Withholding};

use super::outlook::{Silence, Verdict};

/// Messages that are listed; all are counted.
pub const LISTED_MAX: usize = 1_000;

/// A span of time, seconds since 1970, both ends included.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Span {
    /// First second.
    pub from: i64,
    /// Last second.
    pub till: i64,
}

/// A message that would have been made.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Planned {
    /// When, seconds since 1970.
    pub at: i64,
    /// The problem.
    pub event: u64,
    /// What it reports.
    pub mode: OperationMode,
    /// Step of the escalation.
    pub step: u32,
    /// Its recipient.
    pub user: u64,
    /// Media type and address; `None` = the user has none.
    pub address: Option<(u64, String)>,
    /// Whether it would have been sent, if nothing had withheld it.
    pub verdict: Verdict,
    /// Why it would not have been sent by itself; `None` = it would have been.
    pub withheld: Option<Withholding>,
    /// Messages that it summarises; 0 = it is no summary.
    pub tells: u64,
    /// Names of the schedules by which the user gets it.
    pub on_call: Vec<String>,
}

/// Why a user would not have got a message by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Reason {
    /// No media of the user takes it.
    Silent(Silence),
    /// Another message tells of it, or the user is spared it.
    Withheld(Withholding),
}

impl Reason {
    /// As the API names it.
    pub const fn word(self) -> &'static str {
        match self {
            Self::Silent(silence) => silence.word(),
            Self::Withheld(withholding) => withholding.reason(),
        }
    }
}

/// What one user would have got.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OfUser {
    /// Messages that would have been sent, summaries included.
    pub messages: u64,
    /// Those of them between 22:00 and 6:00 in the time zone of the user.
    pub at_night: u64,
    /// Start of the hour with most messages, seconds since 1970, and their number.
    pub busiest_hour: (i64, u64),
    /// Messages without a media or a text.
    pub failed: u64,
    /// Messages that would not have been sent by themselves, by reason.
    pub withheld: BTreeMap<Reason, u64>,
    /// Messages that the user got in fact within the span, from all actions.
    pub sent: u64,
}

/// What an action would have done.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Rehearsed {
    /// Problems of the span that were looked at.
    pub problems: u64,
    /// Those that meet the conditions.
    pub fitting: u64,
    /// The last second that counts, if the span has more problems or messages than one rehearsal looks at.
    pub stopped_at: Option<i64>,
    /// Each user whom an operation names or who got a message in fact.
    pub users: BTreeMap<u64, OfUser>,
    /// Messages that nobody would have got, by the name of the schedule that had a gap.
    pub gaps: BTreeMap<String, u64>,
    /// The first messages, in the order of time.
    pub listed: Vec<Planned>,
}
