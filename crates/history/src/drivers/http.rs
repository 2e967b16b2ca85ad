//! Requests over HTTP to stores that speak it.

use std::time::Duration;

use ureq::Agent;
use ureq::http::Request;
use ureq::tls::{TlsConfig, TlsProvider};

use crate::{Error, Fault};

/// A server that does not even accept a connection is away.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest that a question or a batch takes: whoever reads history waits for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Largest answer.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// Connections to servers of one kind; they are kept and used again.
pub(crate) struct Http {
    agent: Agent,
    /// What people call the kind.
    kind: &'static str,
}

/// What a server said.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) body: Vec<u8>,
}

impl Http {
    pub(crate) fn new(kind: &'static str) -> Self {
        let tls = TlsConfig::builder().provider(TlsProvider::NativeTls).build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_WITHIN))
            .timeout_global(Some(ANSWER_WITHIN))
            .max_redirects(0)
            .proxy(None)
            .tls_config(tls)
            .build()
            .new_agent();
        Self { agent, kind }
    }

    /// Sends a request; whatever the server says is an answer. `location` is told to people.
    pub(crate) fn send(&self, request: Request<&[u8]>, location: &str) -> Result<Answer, Error> {
        let mut answer = self.agent.run(request).map_err(|error| self.away(&error, location))?;
        let status = answer.status().as_u16();
        let body = answer.body_mut().with_config().limit(ANSWER_BYTES_MAX).read_to_vec();
        let body = body.map_err(|error| self.away(&error, location))?;
        Ok(Answer { status, body })
    }

    fn away(&self, error: &ureq::Error, location: &str) -> Error {
        let kind = self.kind;
        if let ureq::Error::BodyExceedsLimit(limit) = error {
            let message =
                format!("{kind} has more than {limit} bytes of that: ask for a shorter time");
            return Error { fault: Fault::Us, retry: false, message };
        }
        Error::storage_away(format!(
            "{kind} at {location} does not answer ({error}); is it up, and can it be reached?"
        ))
    }
}
