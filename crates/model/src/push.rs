//! Values of other programs: the message of the API and the history service to collection.

use std::net::IpAddr;

use crate::{ItemId, LogMeta, Timestamp};

/// A value for an item that the caller knows.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PushValue {
    /// The one that gets the value.
    pub item: ItemId,
    /// The value as text.
    pub value: String,
    /// What a log line carries beside its text.
    pub log: Option<LogMeta>,
    /// When it was measured.
    pub at: Timestamp,
}

/// Values that come together.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Push {
    /// In their order.
    pub values: Vec<PushValue>,
    /// Address of the client.
    pub client: IpAddr,
    /// A second value of an item and moment is refused; otherwise it gets the next free nanosecond,
    /// as those of senders do.
    pub refuse_duplicates: bool,
    /// The values may have been stored before: those that were are not stored again.
    pub resend: bool,
}
