//! The result of a check, of whatever kind.

use collect::positions::LogPosition;
use model::{CompactString, LogMeta};

/// What a check brought.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckReply {
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

impl CheckReply {
    /// What a test of an item shows: the value, of a log its newest line, or why there is none.
    pub fn into_text(self) -> Result<String, String> {
        match self {
            Self::Value(value) => Ok(value),
            Self::Lines(lines) => match lines.values.last() {
                Some((text, _)) => Ok(text.to_string()),
                None => Err("There is no value now.".to_owned()),
            },
            Self::Nothing => Err("There is no value now.".to_owned()),
            Self::NotSupported(why)
            | Self::NetworkError(why)
            | Self::ConfigError(why)
            | Self::LocalError(why) => Err(why),
        }
    }
}

/// What a check brings that reads a log.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Lines {
    /// Where the item's log was read up to when the check began. Lines are kept only if it is still read up to there:
    /// a check that began before the lines of another were kept brings the same lines again.
    pub since: Option<LogPosition>,
    /// Texts with what belongs to them, in their order.
    pub values: Vec<(CompactString, LogMeta)>,
    /// What [`LogPosition::lastlogsize`] is from now on.
    pub position: u64,
}
