//! Requests over HTTP to stores that speak it.

use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use ureq::Agent;
use ureq::http::{HeaderMap, Method, Request, Uri};
use ureq::tls::{TlsConfig, TlsProvider};

use crate::{Error, Fault};

/// A server that does not even accept a connection is away.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest that a question or a batch takes: whoever reads history waits for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Connections to a server that wait for the next request.
const IDLE_MAX: usize = 8;
/// Largest answer.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// `http://user:password@host:port/path?settings`, taken apart.
pub(crate) struct Address {
    /// `http://host:port/`, without secrets.
    pub(crate) base: String,
    /// The header that says who we are.
    pub(crate) user: Option<String>,
    /// Without slashes around it.
    pub(crate) path: String,
    pub(crate) settings: String,
}

impl Address {
    /// Reads it; `port` where it has none.
    pub(crate) fn read(url: &str, port: u16) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?;
        let authority = uri.authority()?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user.split_once(':').unwrap_or((user, ""))), host),
            None => (None, authority.as_str()),
        };
        let host =
            if authority.port().is_some() { host.to_owned() } else { format!("{host}:{port}") };
        let decoded = |text| percent_decode_str(text).decode_utf8_lossy();
        let basic = |(name, password)| {
            let pair = format!("{}:{}", decoded(name), decoded(password));
            format!("Basic {}", STANDARD.encode(pair))
        };
        Some(Self {
            base: format!("{scheme}://{host}/"),
            user: user.map(basic),
            path: uri.path().trim_matches('/').to_owned(),
            settings: uri.query().unwrap_or_default().to_owned(),
        })
    }

    /// A request for what is below the base; `None` when that cannot be part of an address.
    pub(crate) fn request<'a>(
        &self,
        method: Method,
        path: &str,
        (headers, body): (&[(&str, &str)], &'a [u8]),
    ) -> Option<Request<&'a [u8]>> {
        let mut request = Request::builder().method(method).uri(format!("{}{path}", self.base));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(user) = &self.user {
            request = request.header("Authorization", user);
        }
        request.body(body).ok()
    }
}

/// Connections to servers of one kind; they are kept and used again.
pub(crate) struct Http {
    agent: Agent,
    /// What people call the kind.
    kind: &'static str,
}

/// What a server said.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Http {
    pub(crate) fn new(kind: &'static str) -> Self {
        let tls = TlsConfig::builder().provider(TlsProvider::NativeTls).build();
        let agent = Agent::config_builder()
            .http_status_as_error(false)
            .timeout_connect(Some(CONNECT_WITHIN))
            .timeout_global(Some(ANSWER_WITHIN))
            .max_idle_connections_per_host(IDLE_MAX)
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
        let headers = std::mem::take(answer.headers_mut());
        Ok(Answer { status, headers, body })
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
