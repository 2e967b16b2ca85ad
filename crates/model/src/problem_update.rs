//! What a user does with problems: the API's message to the events.

use objects::Severity;

use crate::{EventId, UnixSeconds, UserId};

/// Changes of problems, made for all of them or for none. What a problem already is, is skipped for it.
#[derive(Debug, Clone, PartialEq, Eq, Default)]
pub struct ProblemUpdate {
    /// The events that opened the problems.
    pub events: Vec<EventId>,
    /// The acting user.
    pub user: UserId,
    /// Closes them.
    pub close: bool,
    /// Acknowledges them, or takes the acknowledgement back.
    pub acknowledge: Option<bool>,
    /// Comment; empty = none.
    pub message: String,
    /// Severity that they get.
    pub severity: Option<Severity>,
    /// Starts or ends the suppression.
    pub suppression: Option<Suppression>,
    /// Makes them causes or symptoms.
    pub rank: Option<ProblemRank>,
}

/// Suppression by a user.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suppression {
    /// It ends by itself.
    Until(UnixSeconds),
    /// It ends only by [`Suppression::End`].
    Indefinite,
    /// It is over.
    End,
}

/// Place of a problem among others.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum ProblemRank {
    /// It is a cause.
    Cause,
    /// It is a symptom of this problem.
    SymptomOf(EventId),
}
