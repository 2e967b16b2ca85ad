//! What others hear of after a commit.

use model::{ProblemChange, TriggerId, TriggerState};

/// What a transaction did that others hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Problem(ProblemChange),
    Trigger(TriggerId, TriggerState),
    /// An event that only those hear of who follow the events in the database.
    Event,
}
