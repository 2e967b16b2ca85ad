//! What is ordered, and of whom.

use std::path::PathBuf;
use std::sync::Arc;

use crate::config::{Challenge, Pem};

/// A certificate authority, and who orders there.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Authority {
    /// URL of its directory (RFC 8555, 7.1.1).
    pub directory: String,
    /// Authorities of the directory's own certificate, in addition to the machine's.
    pub ca: Option<Pem>,
    /// Mail addresses that it may write to.
    pub contact: Vec<String>,
    /// The user agrees to its terms of service.
    pub terms_agreed: bool,
    /// Program that sets and removes TXT records, for `dns-01`.
    pub dns_hook: Option<PathBuf>,
}

/// What is ordered.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Wanted {
    /// What the store knows it by.
    pub key: String,
    /// Name for messages.
    pub name: String,
    /// Host names in lower case, sorted.
    pub names: Vec<String>,
    /// Who issues it.
    pub authority: Arc<Authority>,
    /// How the authority checks the host names.
    pub challenge: Challenge,
    /// When a user last asked for an order: Unix time in seconds, 0 = never.
    pub requested_s: u64,
}
