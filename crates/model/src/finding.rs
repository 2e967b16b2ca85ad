//! What triggers tell, and changes of the states of items.

pub use objects::Severity;

use crate::{ItemId, Timestamp, TriggerId, UnixSeconds};

/// Whether a trigger has a problem, as far as is known.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum TriggerState {
    /// The problem expression is false, or the recovery expression true.
    Ok,
    /// A problem is open.
    Problem,
}

/// What trigger evaluation and preprocessing found: the pipeline's message to the writer of events.
#[derive(Debug, Clone, PartialEq)]
pub enum TriggerFinding {
    /// A problem is to be opened.
    Problem {
        /// The one that was evaluated.
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
        /// The one that was evaluated.
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
        /// The one that was evaluated.
        trigger: TriggerId,
        /// When.
        at: Timestamp,
        /// Why it cannot be evaluated; empty = it can.
        error: String,
        /// Tags as of a problem, for internal events; empty if nobody needs them.
        tags: Vec<(String, String)>,
    },
    /// An item is no longer supported, or supported again (`error` empty).
    ItemState {
        /// The item, or the discovery rule.
        item: ItemId,
        /// It is a low-level discovery rule.
        is_rule: bool,
        /// Time of the value that made it so.
        at: Timestamp,
        /// Why it is not supported; empty = it is.
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
    /// Up to here.
    pub at: UnixSeconds,
    /// Values were kept since the mark before: one that says otherwise alone is not worth writing.
    pub news: bool,
}

/// What may not have been evaluated before the process ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Unwritten {
    /// Values of this second and later.
    pub since: UnixSeconds,
    /// The newest event of each trigger that has one since then: it is evaluated up to there.
    pub events: Vec<(TriggerId, Timestamp)>,
}

/// A trigger that is not in the state every trigger begins in (OK, without an error), when the shards
/// start.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InitialTrigger {
    /// The one in that state.
    pub trigger: TriggerId,
    /// [`TriggerState::Problem`] if it has an open problem.
    pub state: TriggerState,
    /// Why its last evaluation failed; empty = it did not.
    pub error: String,
}
