//! Why a request brought no answer, in the words that people know from the field's servers.

use std::cell::Cell;
use std::time::Duration;

use stdx::kerberos::TicketError;
use wire::http::{HttpError, UrlError};

/// Redirects that one request follows.
pub(crate) const REDIRECTS_MAX: u32 = 10;

/// Why a request brought no answer.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(crate) enum Failure {
    /// The URL of the configuration.
    #[error(transparent)]
    Url(#[from] UrlError),
    /// Where a redirect leads.
    #[error("{}", .0.in_redirect())]
    Redirect(UrlError),
    /// A name without address.
    #[error("Could not resolve {what}: {name}")]
    Resolve {
        /// `host` or `proxy`.
        what: &'static str,
        name: String,
    },
    /// Nobody listens there, or nobody is there.
    #[error("Failed to connect to {name} port {port} after {ms} ms: Could not connect to server")]
    Connect { name: String, port: u16, ms: u128 },
    /// The connection broke.
    #[error("{doing} failure: {why}")]
    Broken {
        /// `Recv` or `Send`.
        doing: &'static str,
        why: String,
    },
    /// The answer makes no sense.
    #[error(transparent)]
    Answer(#[from] HttpError),
    /// Redirects without end.
    #[error("Maximum ({REDIRECTS_MAX}) redirects followed")]
    TooManyRedirects,
    /// The proxy does not let us through.
    #[error("CONNECT tunnel failed, response {0}")]
    Tunnel(u16),
    /// A proxy of another kind.
    #[error("Unsupported proxy scheme for '{0}'")]
    ProxyScheme(String),
    /// TLS, or its files.
    #[error("{0}")]
    Tls(String),
    /// No ticket, or one that the server does not take.
    #[error(transparent)]
    Ticket(#[from] TicketError),
    /// It took too long; the text tells how far it came.
    #[error("{0}")]
    Late(String),
    /// This machine is out of sockets, ports or memory.
    #[error("{0}")]
    Local(String),
}

impl Failure {
    /// A connection broke.
    pub(super) fn broken(doing: &'static str, error: &std::io::Error) -> Self {
        let text = error.to_string();
        let why = text.split(" (os error").next().unwrap_or(&text).to_owned();
        Self::Broken { doing, why }
    }
}

/// How far a request has come, for the text of a timeout.
#[derive(Debug, Default)]
pub(super) struct Track {
    stage: Cell<Stage>,
    received: Cell<(usize, Option<u64>)>,
}

#[derive(Debug, Clone, Copy, Default)]
pub(super) enum Stage {
    #[default]
    Resolve,
    /// Kerberos asks its key distribution center.
    Ticket,
    Connect,
    Transfer,
}

impl Track {
    pub(super) fn at(&self, stage: Stage) {
        self.stage.set(stage);
    }

    pub(super) fn received(&self, bytes: usize, of: Option<u64>) {
        self.received.set((bytes, of));
    }

    pub(super) fn late(&self, after: Duration) -> Failure {
        let ms = after.as_millis();
        Failure::Late(match (self.stage.get(), self.received.get()) {
            (Stage::Resolve, _) => format!("Resolving timed out after {ms} milliseconds"),
            (Stage::Ticket, _) => format!(
                "Operation timed out after {ms} milliseconds: Kerberos has no ticket yet, its key \
                 distribution center may not answer"
            ),
            (Stage::Connect, _) => format!("Connection timed out after {ms} milliseconds"),
            (Stage::Transfer, (bytes, Some(all))) => format!(
                "Operation timed out after {ms} milliseconds with {bytes} out of {all} bytes \
                 received"
            ),
            (Stage::Transfer, (bytes, None)) => {
                format!("Operation timed out after {ms} milliseconds with {bytes} bytes received")
            }
        })
    }
}
