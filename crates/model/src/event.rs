//! What triggers tell.

pub use objects::Severity;

use crate::{EventId, ItemId, Timestamp, TriggerId};

/// State of a trigger.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerState {
    /// The problem expression is false, or the recovery expression true.
    Ok,
    /// A problem is open.
    Problem,
}

/// What trigger evaluation found: the pipeline's message to the writer of events.
#[derive(Debug, Clone, PartialEq)]
pub enum TriggerFinding {
    /// A problem is to be opened.
    Problem {
        /// The trigger.
        trigger: TriggerId,
        /// Time of the value that made it so.
        at: Timestamp,
        /// Event name with all macros resolved.
        name: String,
        /// Operational data with all macros resolved.
        opdata: String,
        /// Tags of the trigger and of its hosts with all macros resolved.
        tags: Vec<(String, String)>,
    },
    /// The trigger's problems recover (those whose correlation tag matches, where the trigger
    /// says so).
    Recovery {
        /// The trigger.
        trigger: TriggerId,
        /// Time of the value that made it so.
        at: Timestamp,
        /// Name of the recovery event with all macros resolved.
        name: String,
        /// Tags of the trigger and of its hosts with all macros resolved.
        tags: Vec<(String, String)>,
    },
    /// Evaluation failed, or works again (`error` empty).
    State {
        /// The trigger.
        trigger: TriggerId,
        /// Why it cannot be evaluated; empty = it can.
        error: String,
    },
    /// The shard has told everything that it found for values kept before a second.
    Mark(FindingsMark),
}

/// How far the findings of a shard have come: behind all of them in the queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct FindingsMark {
    /// The number of the shard.
    pub shard: usize,
    /// How many shards there are.
    pub shards: usize,
    /// Seconds since 1970.
    pub at_s: u32,
    /// Values were kept since the mark before: one that says otherwise alone is not worth writing.
    pub news: bool,
}

/// What may not have been evaluated before the process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// Values of this second and later, seconds since 1970.
    pub since_s: u32,
    /// The newest event of each trigger that has one since then: it is evaluated up to there.
    pub events: Vec<(TriggerId, Timestamp)>,
}

/// A low-level discovery rule got a value: the pipeline's message to the worker of low-level discovery.
#[derive(Debug, Clone, PartialEq)]
pub struct LldValue {
    /// The rule.
    pub rule: ItemId,
    /// When.
    pub at: Timestamp,
    /// JSON rows after preprocessing, or the reason why there are none.
    pub rows: Result<String, String>,
}

impl LldValue {
    /// Bytes of its text.
    pub fn bytes(&self) -> usize {
        let (Ok(text) | Err(text)) = &self.rows;
        text.len()
    }
}

/// A problem was opened or closed: what the UI's live stream tells.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ProblemChange {
    /// The problem.
    pub event: EventId,
    /// The trigger it is of.
    pub trigger: TriggerId,
    /// Its new state.
    pub state: TriggerState,
}
