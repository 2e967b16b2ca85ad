//! What the work for certificates needs of the program: where things are kept, and who answers checks.

use std::fmt;
use std::future::Future;
use std::pin::Pin;

use instant_acme::AccountCredentials;
use serde::{Deserialize, Serialize};

use super::issued::Issued;
use super::schedule::Attempts;
use super::wanted::{Authority, Wanted};

/// An account at an authority.
#[derive(Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Account {
    pub(super) directory: String,
    pub(super) contact: Vec<String>,
    pub(super) credentials: AccountCredentials,
}

impl Account {
    /// URL of the authority's directory.
    #[must_use]
    pub fn directory(&self) -> &str {
        &self.directory
    }

    /// Mail addresses that the authority may write to.
    #[must_use]
    pub fn contact(&self) -> &[String] {
        &self.contact
    }
}

/// How far a certificate is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Phase {
    /// An order has not begun.
    Waiting,
    /// An order is in progress.
    Ordering,
    /// The authority has issued it.
    Issued,
    /// The last order failed.
    Failed,
}

impl Phase {
    /// As it is stored.
    #[must_use]
    pub const fn word(self) -> &'static str {
        match self {
            Self::Waiting => "waiting",
            Self::Ordering => "ordering",
            Self::Issued => "issued",
            Self::Failed => "failed",
        }
    }
}

/// What users see of the work for a certificate.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Standing {
    /// How far it is.
    pub phase: Phase,
    /// Why the last order failed, or why none begins; empty: neither.
    pub error: String,
    /// When the next order begins; Unix time in seconds.
    pub next_s: u64,
}

/// Where certificates, accounts and attempts outlive the process. Methods may block.
pub trait Store: fmt::Debug + Send + Sync {
    /// Keeps a certificate. It fulfils the request of a user of the time `requested_s` (Unix time in seconds)
    /// and older ones.
    ///
    /// # Errors
    /// It cannot be written; the caller retries later.
    fn keep_certificate(
        &self,
        wanted: &Wanted,
        issued: &Issued,
        requested_s: u64,
    ) -> anyhow::Result<()>;

    /// Attempts since the last certificate.
    ///
    /// # Errors
    /// They cannot be read now; the caller retries later and orders nothing before.
    fn attempts(&self, wanted: &Wanted) -> anyhow::Result<Attempts>;

    /// Keeps the number of attempts.
    ///
    /// # Errors
    /// It cannot be written; then the authority is not asked.
    fn keep_attempts(&self, wanted: &Wanted, attempts: &Attempts) -> anyhow::Result<()>;

    /// The account at an authority.
    ///
    /// # Errors
    /// It cannot be read.
    fn account(&self, authority: &Authority) -> anyhow::Result<Option<Account>>;

    /// Keeps an account.
    ///
    /// # Errors
    /// It cannot be written.
    fn keep_account(&self, account: &Account) -> anyhow::Result<()>;

    /// Shows users how far a certificate is.
    fn show(&self, wanted: &Wanted, standing: &Standing);
}

/// What one check of an authority must find.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Check {
    /// A request for the token gets the key authorization (RFC 8555, 8.3).
    Http {
        /// End of the path.
        token: String,
        /// The response.
        authorization: String,
    },
    /// A handshake for the host name gets a certificate with the digest (RFC 8737, 3).
    Tls {
        /// Host name.
        name: String,
        /// SHA-256 of the key authorization, 32 bytes.
        digest: Vec<u8>,
    },
}

/// The result of [`Responder::post`], later.
pub type Posting<'r> = Pin<Box<dyn Future<Output = Result<(), String>> + Send + 'r>>;

/// Who answers the checks of an authority.
pub trait Responder: fmt::Debug + Send + Sync {
    /// Whether a check could arrive now. Otherwise no order begins.
    ///
    /// # Errors
    /// Why not, and what to do.
    fn ready(&self, wanted: &Wanted) -> Result<(), String>;

    /// Lets these checks of a certificate pass and no others; ends when they would.
    ///
    /// # Errors
    /// Why they would not.
    fn post<'r>(&'r self, wanted: &'r Wanted, checks: Vec<Check>) -> Posting<'r>;

    /// Lets no check pass any more.
    fn clear(&self);
}
