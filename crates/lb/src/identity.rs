//! What rules demand of clients, and what servers learn of them.

use crate::config::NO_AUTHENTICATION;

/// What a rule says about authentication.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Guard {
    /// It is not needed.
    Open,
    /// The policy with this name.
    Policy(String),
}

impl Guard {
    /// Of a rule's member.
    pub(crate) fn of(name: &str) -> Self {
        if name == NO_AUTHENTICATION { Self::Open } else { Self::Policy(name.to_owned()) }
    }
}

/// Who a client is, and what servers learn of it.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Identity {
    /// The name that it proved; empty: no policy applied, or its token has no subject.
    pub(crate) user: String,
    /// Names and values of headers.
    pub(crate) set: Vec<(String, String)>,
    /// Authorization is not for the server.
    pub(crate) hides_authorization: bool,
}
