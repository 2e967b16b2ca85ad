//! Media types as attempts need them.

use std::path::PathBuf;
use std::time::Duration;

use model::MediaTypeId;

/// Sessions of a media type without a limit; the most that the API accepts.
pub(crate) const SESSIONS_MAX: usize = 100;

/// A way to reach users.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct MediaType {
    /// By which alerts name it.
    pub id: MediaTypeId,
    /// Whether it is switched on.
    pub enabled: bool,
    /// How it sends.
    pub kind: Kind,
    /// Messages that it sends at the same time; 0: no limit of its own.
    pub sessions: usize,
    /// Attempts for one message.
    pub attempts: u32,
    /// Time from a failure to the next attempt.
    pub interval: Duration,
}

impl MediaType {
    pub(crate) fn sessions_max(&self) -> usize {
        match (&self.kind, self.sessions) {
            (Kind::Sms(_), _) => 1,
            (_, 0) => SESSIONS_MAX,
            (_, some) => some.min(SESSIONS_MAX),
        }
    }
}

/// How a media type sends.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Kind {
    /// E-mail.
    Mail(Box<Mail>),
    /// JavaScript.
    Webhook(Webhook),
    /// A program of the operator's folder.
    Program(Program),
    /// A modem.
    Sms(Sms),
}

/// Settings of e-mail.
#[derive(Clone, PartialEq, Eq)]
pub struct Mail {
    /// Name or address of the server.
    pub server: String,
    /// Port of the server.
    pub port: u16,
    /// Name that this client gives; empty: the domain of the sender.
    pub helo: String,
    /// Address of the sender, also with a display name.
    pub from: String,
    /// Protection of the connection.
    pub security: Security,
    /// How it logs in; `None`: not at all.
    pub login: Option<Login>,
    /// Messages are HTML.
    pub html: bool,
}

impl std::fmt::Debug for Mail {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        // No password in logs.
        f.debug_struct("Mail").field("server", &self.server).field("port", &self.port).finish()
    }
}

/// Who logs in to a mail server.
#[derive(Clone, PartialEq, Eq)]
pub struct Login {
    /// Name of the account.
    pub user: String,
    /// In clear text.
    pub password: String,
}

impl std::fmt::Debug for Login {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Login").field("user", &self.user).finish_non_exhaustive()
    }
}

/// Protection of a connection to a mail server.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Security {
    /// Clear text.
    None,
    /// TLS after STARTTLS.
    StartTls(Verify),
    /// TLS from the start.
    Tls(Verify),
}

/// What is checked of a server's certificate.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Verify {
    /// An authority that this machine trusts has signed it.
    pub peer: bool,
    /// It names the server.
    pub host: bool,
}

/// Settings of a webhook.
#[derive(Clone, PartialEq, Eq)]
pub struct Webhook {
    /// Body of a function with the argument `value`.
    pub script: String,
    /// Time for one call, 1 to 60 s.
    pub timeout: Duration,
    /// The returned JSON has tags for the problem.
    pub tags: bool,
    /// The returned JSON has the id of the message.
    pub living: bool,
}

impl std::fmt::Debug for Webhook {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Webhook").field("timeout", &self.timeout).finish_non_exhaustive()
    }
}

/// Settings of a program.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Program {
    /// Name of a file in the folder of programs.
    pub name: String,
    /// The output is JSON with the id of the message.
    pub living: bool,
}

/// Settings of SMS.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Sms {
    /// Serial line of the modem.
    pub modem: PathBuf,
}
