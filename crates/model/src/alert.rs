//! Messages to users: what the escalator hands to the media, and what the media report.
//!
//! An alert is stored before it is handed over. The media make one attempt per [`Outgoing`] and report it once. After a
//! failure they report when the next attempt is due; the alert waits for it in the database, not in a queue.

pub mod learnt;
pub mod outlook;
pub mod rehearsal;

use std::time::Duration;

pub use outlook::Silence;

use crate::{AlertId, EventId, MediaTypeId};

/// One attempt to send a message, due now.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Outgoing {
    /// The stored alert.
    pub alert: AlertId,
    /// How to send it.
    pub media_type: MediaTypeId,
    /// Address as stored; e-mail: several are separated by line feeds.
    pub sendto: String,
    /// Subject with expanded macros.
    pub subject: String,
    /// Text with expanded macros.
    pub message: String,
    /// Names and values of a webhook's or script's parameters in their order, with expanded macros.
    pub parameters: Vec<(String, String)>,
    /// The event that opened the problem; of other sources the event itself. Mails of one such event are one thread.
    pub problem: EventId,
    /// E-mail: where responses go to; empty = to the sender.
    pub reply_to: String,
    /// Attempts that failed before this one.
    pub failures: u32,
}

/// How an attempt ended.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Outcome {
    /// The receiver accepted the message.
    Sent {
        /// Tags for the problem, which a webhook returned.
        tags: Vec<(String, String)>,
        /// What the receiver calls the message, if the media type is living; empty = it did not say.
        message_id: String,
    },
    /// The receiver does not have the message. It counts as a failed attempt (`retries`).
    Failed {
        /// Reason as users see it, up to 2,048 characters.
        error: String,
        /// Time until the next attempt; `None`: it was the last one.
        again: Option<Duration>,
    },
    /// No attempt with these settings can succeed: none was made, and none counts.
    Impossible {
        /// Reason as users see it, up to 2,048 characters.
        error: String,
    },
    /// The media stop and have not started the attempt.
    NotStarted,
    /// The attempt was interrupted when the receiver may already have had the message.
    Unknown {
        /// What interrupted it, up to 2,048 characters.
        error: String,
    },
}

impl Outcome {
    /// The receiver accepted the message and returned nothing.
    pub const SENT: Self = Self::Sent { tags: Vec::new(), message_id: String::new() };
}

/// What came of a message that a user sent to test a media type.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Trial {
    /// How the attempt ended.
    pub outcome: Outcome,
    /// What the receiver said last: a mail server's response, what a webhook returned, what a program printed.
    pub response: String,
    /// What was sent and answered, and what a webhook logged, without passwords, in lines.
    pub log: Vec<String>,
    /// What a webhook logged.
    pub script_log: Vec<ScriptLine>,
    /// How long the attempt took.
    pub took: Duration,
}

/// A line that a webhook logged.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ScriptLine {
    /// Level as the script gave it: 0 to 5.
    pub level: i32,
    /// Time since the start of the script.
    pub at: Duration,
    /// The line.
    pub text: String,
}

/// The outcome of one attempt.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Report {
    /// The alert of the [`Outgoing`].
    pub alert: AlertId,
    /// How the attempt ended.
    pub outcome: Outcome,
}

/// Why an attempt was not accepted. It was not started and is not reported.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Refused {
    /// The queue of the media type is full; others may have room. A moment after each report of
    /// the media type there is room.
    Full(Box<Outgoing>),
    /// The media stop.
    Stopping(Box<Outgoing>),
}

/// Where attempts are handed over.
pub trait Media: Send + Sync {
    /// Queues an attempt without waiting.
    ///
    /// # Errors
    /// [`Refused`], with the attempt.
    fn send(&self, attempt: Outgoing) -> Result<(), Refused>;
}

/// Where the media report. Called by their threads: each accepted attempt once, unless the process dies.
pub trait Reports: Send + Sync {
    /// Takes a report. May wait for room; then attempts wait, too.
    fn report(&self, report: Report);
}
