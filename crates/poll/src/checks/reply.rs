//! The result of a check, of whatever kind.

use model::{CompactString, LogMeta};

/// What a check brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckReply {
    /// A value.
    Value(String),
    /// Log lines, and where the item goes on the next time.
    Lines(Box<Lines>),
    /// The agent has nothing to store.
    Nothing,
    /// The item is not supported, and why.
    NotSupported(String),
    /// The agent could not be asked, and why: counts against the interface's availability.
    NetworkError(String),
    /// The server's own configuration forbids the check, and why.
    ConfigError(String),
    /// The server is out of sockets or ports, and how: says nothing about the agent.
    LocalError(String),
}

/// What a check brings that reads a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Texts with what belongs to them, in their order.
    pub values: Vec<(CompactString, LogMeta)>,
    /// What [`collect::positions::LogPosition::lastlogsize`] is from now on.
    pub position: u64,
}
