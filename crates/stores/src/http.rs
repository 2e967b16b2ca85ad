//! Requests over HTTP to stores that speak it.

use std::io::Read;
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use percent_encoding::percent_decode_str;
use ureq::Agent;
use ureq::http::{HeaderMap, Method, Request, Uri};
use ureq::tls::{RootCerts, TlsConfig, TlsProvider};

use super::as_name;
#[cfg(any(test, feature = "fuzzing"))]
use super::script::Script;
use history::Error;

/// Timeout after which a server that accepts no connection is unavailable.
const CONNECT_WITHIN: Duration = Duration::from_secs(3);
/// Longest that a question or a batch takes: readers of history wait for it.
const ANSWER_WITHIN: Duration = Duration::from_secs(20);
/// Connections to a server that wait for the next request.
const IDLE_MAX: usize = 8;
/// Signs of an error that are told to people.
const SAID_MAX: usize = 300;
/// Largest answer, unpacked.
const ANSWER_BYTES_MAX: u64 = 256 << 20;

/// `http://user:password@host:port/path?settings`, taken apart.
pub(crate) struct Address {
    /// What people call the kind of server.
    kind: &'static str,
    /// `http://host:port/`, without secrets.
    base: String,
    /// The header that says who we are.
    user: Option<String>,
    /// Without slashes around it.
    path: String,
    pub(crate) settings: String,
}

impl Address {
    /// Reads the address of a server of a kind; `port` where it has none. The text may hold a
    /// password: no message repeats it.
    pub(crate) fn read(kind: &'static str, url: &str, port: u16) -> Result<Self, Error> {
        Self::parse(kind, url, port).ok_or_else(|| {
            Error::config(format!(
                "the address of {kind} is not like http://user:password@host:{port}/vedette"
            ))
        })
    }

    fn parse(kind: &'static str, url: &str, port: u16) -> Option<Self> {
        let uri: Uri = url.parse().ok()?;
        let scheme = uri.scheme_str().filter(|scheme| ["http", "https"].contains(scheme))?;
        let authority = uri.authority()?;
        let (user, host) = match authority.as_str().rsplit_once('@') {
            Some((user, host)) => (Some(user.split_once(':').unwrap_or((user, ""))), host),
            None => (None, authority.as_str()),
        };
        let host = match authority.port() {
            Some(_) => host.to_owned(),
            None if host == authority.host() => format!("{host}:{port}"),
            // Behind the colon stands no number.
            None => return None,
        };
        let decoded = |text| percent_decode_str(text).decode_utf8_lossy();
        let basic = |(name, password)| {
            let pair = format!("{}:{}", decoded(name), decoded(password));
            format!("Basic {}", STANDARD.encode(pair))
        };
        Some(Self {
            kind,
            base: format!("{scheme}://{host}/"),
            user: user.map(basic),
            path: uri.path().trim_matches('/').to_owned(),
            settings: uri.query().unwrap_or_default().to_owned(),
        })
    }

    /// The path, or what stores are called that have none.
    pub(crate) fn name(&self) -> &str {
        if self.path.is_empty() { "vedette" } else { &self.path }
    }
}

/// A server, or what stands in front of several, at one address.
pub(crate) struct Server {
    http: Http,
    address: Address,
    /// Base and our part of the server, without secrets.
    location: String,
}

impl Server {
    /// `part` = our part of the server, for people.
    pub(crate) fn new(address: Address, part: &str) -> Self {
        let location = format!("{}{part}", address.base);
        Self { http: Http::new(address.kind), address, location }
    }

    /// Where our part of it is, without secrets.
    pub(crate) fn location(&self) -> &str {
        &self.location
    }

    /// The same for names of files.
    pub(crate) fn place(&self) -> String {
        as_name(self.location.split_once("://").map_or("", |(_, place)| place))
    }

    /// Asks for what is below the base; whatever the server says is an answer.
    pub(crate) fn send(
        &self,
        method: Method,
        path: &str,
        headers: &[(&str, &str)],
        body: &[u8],
    ) -> Result<Answer, Error> {
        let Address { base, user, kind, .. } = &self.address;
        let mut request = Request::builder().method(method).uri(format!("{base}{path}"));
        for (name, value) in headers {
            request = request.header(*name, *value);
        }
        if let Some(user) = user {
            request = request.header("Authorization", user);
        }
        let odd = |_| Error::config(format!("the address of {kind} is not a valid URL"));
        self.http.send(request.body(body).map_err(odd)?, &self.location)
    }

    /// What an answer that is no success means: it may be better later.
    pub(crate) fn refused(&self, status: u16, said: &str) -> Error {
        self.http.refused(status, said, &self.location, false)
    }

    /// The same of an answer to rows: 400 blames them, 413 their size.
    pub(crate) fn refused_rows(&self, status: u16, said: &str) -> Error {
        self.http.refused(status, said, &self.location, status == 400 || status == 413)
    }
}

/// Connections to servers of one kind; they are kept and used again.
pub(crate) struct Http {
    agent: Agent,
    /// What people call the kind.
    kind: &'static str,
    /// Answers instead of any server.
    #[cfg(any(test, feature = "fuzzing"))]
    script: Option<Script>,
}

/// What a server said.
pub(crate) struct Answer {
    pub(crate) status: u16,
    pub(crate) headers: HeaderMap,
    pub(crate) body: Vec<u8>,
}

impl Http {
    pub(crate) fn new(kind: &'static str) -> Self {
        // Stores have certificates of authorities that only their company believes.
        let tls = TlsConfig::builder()
            .provider(TlsProvider::NativeTls)
            .root_certs(RootCerts::PlatformVerifier)
            .build();
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
        Self {
            agent,
            kind,
            #[cfg(any(test, feature = "fuzzing"))]
            script: Script::current(),
        }
    }

    /// Sends a request; whatever the server says is an answer. `location` is told to people.
    pub(crate) fn send(&self, request: Request<&[u8]>, location: &str) -> Result<Answer, Error> {
        #[cfg(any(test, feature = "fuzzing"))]
        if let Some(script) = &self.script {
            return script.next();
        }
        let mut answer = self.agent.run(request).map_err(|error| self.away(&error, location))?;
        let status = answer.status().as_u16();
        let body = read_at_most(answer.body_mut().as_reader(), ANSWER_BYTES_MAX);
        let body = body.map_err(|error| self.away(&error, location))?;
        let headers = std::mem::take(answer.headers_mut());
        Ok(Answer { status, headers, body })
    }

    /// What a server said instead of doing what it was asked. `is_row` = it blames what was sent.
    pub(crate) fn refused(&self, status: u16, said: &str, location: &str, is_row: bool) -> Error {
        let said: String = said.trim().chars().take(SAID_MAX).collect();
        let message = format!("{} at {location} refuses ({status}): {said}", self.kind);
        if is_row { Error::row(message) } else { Error::storage_away(message) }
    }

    fn away(&self, error: &ureq::Error, location: &str) -> Error {
        let kind = self.kind;
        if let ureq::Error::BodyExceedsLimit(limit) = error {
            let message =
                format!("{kind} has more than {limit} bytes of that: ask for a shorter time");
            return Error::row(message);
        }
        Error::storage_away(format!(
            "{kind} at {location} does not answer ({error}); is it up, and can it be reached?"
        ))
    }
}

/// Reads to the end. The client's own limit counts what comes over the line, of which a few bytes
/// may unpack to any number.
fn read_at_most(body: impl Read, limit: u64) -> Result<Vec<u8>, ureq::Error> {
    let mut bytes = Vec::new();
    body.take(limit + 1).read_to_end(&mut bytes)?;
    if bytes.len() as u64 > limit { Err(ureq::Error::BodyExceedsLimit(limit)) } else { Ok(bytes) }
}

#[cfg(test)]
mod tests {
    use super::*;
    use history::Fault;

    #[test]
    fn what_is_too_large_unpacked_is_refused_as_too_large() {
        let body = |len: u64| std::io::repeat(b'x').take(len);
        assert_eq!(read_at_most(body(9), 9).unwrap(), [b'x'; 9]);
        let error = read_at_most(body(u64::MAX), 9).unwrap_err();
        let error = Http::new("Any").away(&error, "h");
        assert!(!error.retry && error.message.contains("more than 9 bytes"), "{error}");
    }

    #[test]
    fn addresses_are_parsed_and_shown_without_secrets() {
        for (url, base, user, name) in [
            ("http://h", "http://h:9200/", None, "vedette"),
            ("https://u:p%40@h:1/a_1/", "https://h:1/", Some("Basic dTpwQA=="), "a_1"),
            ("http://u@[::1]:9/x?y=z", "http://[::1]:9/", Some("Basic dTo="), "x"),
        ] {
            let address = Address::read("Any", url, 9200).unwrap();
            assert_eq!((address.base.as_str(), address.user.as_deref()), (base, user));
            assert_eq!(address.name(), name);
            let server = Server::new(address, name);
            assert_eq!(server.location(), format!("{base}{name}"));
            assert!(!server.place().contains(['/', ':', '@']), "{}", server.place());
        }
        for url in ["", "h:9200", "ftp://h/x", "http://u:secret@/x", "http://u:secret@h:x/y"] {
            let error = Address::read("Any", url, 9200).err().unwrap();
            assert!(error.fault == Fault::Config && !error.message.contains("secret"), "{error}");
        }
    }

    #[test]
    fn errors_say_whose_fault_they_are() {
        let server = Server::new(Address::read("Any", "http://h/x", 1).unwrap(), "x");
        for status in [400, 413, 401, 404, 429, 500, 503] {
            let said = format!(" {}", "a".repeat(1000));
            let error = server.refused(status, &said);
            assert_eq!((error.retry, error.fault), (true, Fault::Storage), "{status}");
            let error = server.refused_rows(status, &said);
            let is_row = status == 400 || status == 413;
            assert_eq!((error.retry, error.fault == Fault::Us), (!is_row, is_row), "{status}");
            let told = format!("Any at http://h:1/x refuses ({status}): {}", "a".repeat(300));
            assert_eq!(error.message, told);
        }
    }
}
