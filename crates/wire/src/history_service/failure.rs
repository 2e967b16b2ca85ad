//! Why something was not done: who is at fault, and whether to try again.

use serde::{Deserialize, Serialize};

/// Who can put it right.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Fault {
    /// The calling program, or who configured what it names.
    Caller,
    /// The server, its disk, or the history store that it reads.
    Server,
}

/// Why. The names are part of the protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Reason {
    /// The message breaks a rule that its text names.
    Invalid,
    /// No token, or none that is good.
    NotSignedIn,
    /// The user's role does not allow the call.
    Denied,
    /// There is no such item, or the user has no right to it.
    NoItem,
    /// The item takes no values from outside.
    WrongType,
    /// Item or host are switched off, or in a maintenance without data collection.
    Disabled,
    /// The item names the addresses that may send to it, and this is another one.
    NotAllowedHere,
    /// There is no such call.
    NoCall,
    /// Could not be kept.
    NotKept,
    /// History, or the configuration database, cannot be read now.
    NotRead,
    /// More is asked at once than the server takes.
    Busy,
    /// The server ends.
    Stopping,
    /// A fault of the program; its log says more.
    Internal,
}

impl Reason {
    /// All of them.
    pub const ALL: [Self; 13] = [
        Self::Invalid,
        Self::NotSignedIn,
        Self::Denied,
        Self::NoItem,
        Self::WrongType,
        Self::Disabled,
        Self::NotAllowedHere,
        Self::NoCall,
        Self::NotKept,
        Self::NotRead,
        Self::Busy,
        Self::Stopping,
        Self::Internal,
    ];

    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Invalid => "invalid",
            Self::NotSignedIn => "not_signed_in",
            Self::Denied => "denied",
            Self::NoItem => "no_item",
            Self::WrongType => "wrong_type",
            Self::Disabled => "disabled",
            Self::NotAllowedHere => "not_allowed_here",
            Self::NoCall => "no_call",
            Self::NotKept => "not_kept",
            Self::NotRead => "not_read",
            Self::Busy => "busy",
            Self::Stopping => "stopping",
            Self::Internal => "internal",
        }
    }

    /// Who can put it right.
    pub const fn fault(self) -> Fault {
        match self {
            Self::Invalid
            | Self::NotSignedIn
            | Self::Denied
            | Self::NoItem
            | Self::WrongType
            | Self::Disabled
            | Self::NotAllowedHere
            | Self::NoCall => Fault::Caller,
            Self::NotKept | Self::NotRead | Self::Busy | Self::Stopping | Self::Internal => {
                Fault::Server
            }
        }
    }

    /// Whether the same may succeed later without anybody changing the configuration.
    pub const fn retry(self) -> bool {
        matches!(self, Self::NotKept | Self::NotRead | Self::Busy | Self::Stopping)
    }

    /// Status of HTTP for it.
    pub const fn http_status(self) -> u16 {
        match self {
            Self::Invalid => 400,
            Self::NotSignedIn => 401,
            Self::Denied => 403,
            Self::NoItem | Self::NoCall => 404,
            Self::WrongType | Self::Disabled | Self::NotAllowedHere => 409,
            Self::Internal => 500,
            Self::NotKept | Self::NotRead | Self::Busy | Self::Stopping => 503,
        }
    }

    /// The failure with a text for people.
    pub fn with(self, message: impl Into<String>) -> Failure {
        Failure {
            reason: self.name().to_owned(),
            fault: self.fault().name().to_owned(),
            retry: self.retry(),
            message: message.into(),
        }
    }
}

impl Fault {
    /// As it is written.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Caller => "caller",
            Self::Server => "server",
        }
    }
}

/// What went wrong.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize, prost::Message)]
#[serde(default, deny_unknown_fields)]
pub struct Failure {
    /// Name of a [`Reason`].
    #[prost(string, tag = "1")]
    pub reason: String,
    /// Name of a [`Fault`].
    #[prost(string, tag = "2")]
    pub fault: String,
    /// Whether to send the same again, a little later.
    #[prost(bool, tag = "3")]
    pub retry: bool,
    /// What happened and what to do, for people.
    #[prost(string, tag = "4")]
    pub message: String,
}

impl Failure {
    /// Its reason; what a later version says that is not known here is [`Reason::Internal`].
    pub fn reason(&self) -> Reason {
        let known = Reason::ALL.into_iter().find(|reason| reason.name() == self.reason);
        known.unwrap_or(Reason::Internal)
    }
}
