//! The world as scripts see it: requests over the network, and time that passes.

mod kerberos;
mod resolve;
mod status;

pub use status::get;

use std::cell::Cell;
use std::io;
use std::time::Duration;

use eval::script::{ANSWER_BYTES_MAX, HttpAnswer, HttpAuth, HttpCall, Outside};
use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use ureq::http::{Request, Uri};
use ureq::tls::{TlsConfig, TlsProvider};
use ureq::unversioned::transport::DefaultConnector;
use ureq::{Agent, AsSendBody, Body, Error, Proxy};

use resolve::Addresses;
use wire::http_auth::{self, digest, ntlm};

/// Redirects that one request follows.
const REDIRECTS_MAX: u32 = 10;

/// Connections that are kept from call to call.
const KEPT: Idle = Idle { time: Duration::from_secs(3), to_one: 1, to_all: 8 };

/// Idle connections of an agent.
#[derive(Debug, Clone, Copy)]
struct Idle {
    /// How long they are kept.
    time: Duration,
    /// How many, to one server.
    to_one: usize,
    /// How many, to all servers.
    to_all: usize,
}

/// The network and the thread's own sleep.
pub struct World {
    /// Measures what is left of a call's time.
    clock: SharedClock,
    /// For servers that ask for Kerberos.
    tickets: Tickets,
    /// Address of a WebDriver.
    webdriver: Option<String>,
    /// Keeps connections from call to call.
    kept: Option<Agent>,
}

impl std::fmt::Debug for World {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("World").finish_non_exhaustive()
    }
}

impl World {
    /// Each request has its own connection.
    pub fn new(clock: SharedClock, tickets: Tickets) -> Self {
        Self { clock, tickets, webdriver: None, kept: None }
    }

    /// Scripts lead browsers through the WebDriver at this address.
    pub fn with_webdriver(self, webdriver: Option<String>) -> Self {
        Self { webdriver, ..self }
    }

    /// Connections are kept for the next request, except those through a proxy and those on which a server has
    /// learned who sends the requests (NTLM, Kerberos).
    pub fn keeping_connections(self) -> Self {
        Self { kept: Some(with_config(None, KEPT)), ..self }
    }

    /// The agent for a call, and whether it may have a connection from before.
    fn agent(&self, call: &HttpCall) -> Result<(Agent, bool), String> {
        let personal = matches!(call.auth, HttpAuth::Ntlm(..) | HttpAuth::Negotiate);
        match &self.kept {
            Some(kept) if call.proxy.is_none() && !personal => Ok((kept.clone(), true)),
            _ => Ok((agent(call)?, false)),
        }
    }
}

impl Outside for World {
    fn http(&self, call: &HttpCall) -> Result<HttpAnswer, String> {
        let complete;
        let call = match call.url.contains("://") {
            true => call,
            // As libcurl reads it.
            false => {
                complete = HttpCall { url: format!("http://{}", call.url.trim()), ..call.clone() };
                &complete
            }
        };
        let (agent, kept) = self.agent(call)?;
        Exchange {
            call,
            agent,
            asked_before: Cell::new(kept),
            clock: &self.clock,
            tickets: &self.tickets,
            end: self.clock.monotonic() + call.timeout,
        }
        .run()
    }

    fn sleep(&self, time: Duration) {
        std::thread::sleep(time);
    }

    fn webdriver(&self) -> Option<&str> {
        self.webdriver.as_deref()
    }
}

/// An agent for one call, whose connections end with it.
fn agent(call: &HttpCall) -> Result<Agent, String> {
    let proxy = match &call.proxy {
        Some(address) => Some(Proxy::new(address).map_err(|e| said(&e))?),
        None => None,
    };
    Ok(with_config(proxy, Idle { time: call.timeout, to_one: 3, to_all: 10 }))
}

/// Certificates are not checked: the field's scripts reach devices with their own, and have no way
/// to name one.
fn with_config(proxy: Option<Proxy>, idle: Idle) -> Agent {
    let tls = TlsConfig::builder().provider(TlsProvider::NativeTls).disable_verification(true);
    let config = Agent::config_builder()
        .http_status_as_error(false)
        .allow_non_standard_methods(true)
        .max_idle_age(idle.time)
        .max_idle_connections_per_host(idle.to_one)
        .max_idle_connections(idle.to_all)
        .max_redirects(REDIRECTS_MAX)
        .max_redirects_will_error(false)
        .user_agent("")
        .proxy(proxy)
        .tls_config(tls.build())
        .build();
    Agent::with_parts(config, DefaultConnector::new(), Addresses::default())
}

/// One request of a script, which may take several to prove who sends it.
struct Exchange<'a> {
    call: &'a HttpCall,
    agent: Agent,
    /// The agent may have kept a connection.
    asked_before: Cell<bool>,
    clock: &'a SharedClock,
    tickets: &'a Tickets,
    /// When the script's time is over.
    end: Duration,
}

/// A request as it leaves, with no redirect followed.
struct Leg<'a> {
    method: &'a str,
    url: String,
    headers: &'a [(String, String)],
    body: Option<&'a [u8]>,
    /// The server that the script named: others get no secrets.
    at_home: bool,
}

impl<'a> Leg<'a> {
    /// The script's own request.
    fn of(call: &'a HttpCall) -> Self {
        Self {
            method: &call.method,
            url: call.url.clone(),
            headers: &call.headers,
            // Without one, the library sends these methods in chunks, which some servers refuse.
            body: call.body.as_deref().or(has_body(&call.method).then_some(&[][..])),
            at_home: true,
        }
    }
}

/// Requests of these methods have a body, even if it is empty.
fn has_body(method: &str) -> bool {
    ["POST", "PUT", "PATCH"].contains(&method)
}

impl Exchange<'_> {
    fn run(&self) -> Result<HttpAnswer, String> {
        match &self.call.auth {
            HttpAuth::None => self.send(None, true),
            HttpAuth::Basic(user, password) => {
                self.send(Some(&http_auth::basic(user, password)), true)
            }
            HttpAuth::Digest(user, password) => self.digest(user, password),
            HttpAuth::Ntlm(user, password) => self.ntlm(user, password),
            HttpAuth::Negotiate => self.kerberos(),
        }
    }

    fn digest(&self, user: &str, password: &str) -> Result<HttpAnswer, String> {
        let first = self.send(None, true)?;
        let Some(challenge) = digest::Challenge::find(asked(&first)) else { return Ok(first) };
        let client_nonce: String =
            random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let uri: Uri = self.call.url.parse().map_err(|_| BAD_URL.to_owned())?;
        let proof = challenge.answer(&digest::Question {
            user,
            password,
            method: &self.call.method,
            target: uri.path_and_query().map_or("/", |target| target.as_str()),
            client_nonce: &client_nonce,
        });
        self.send(Some(&proof), true)
    }

    /// The agent keeps the connection on which the server's challenge came.
    fn ntlm(&self, user: &str, password: &str) -> Result<HttpAnswer, String> {
        let first = self.send(Some(&ntlm::negotiate()), false)?;
        let Some(challenge) = ntlm::Challenge::find(asked(&first)) else { return Ok(first) };
        let proof = challenge.answer(&ntlm::Secret {
            user,
            password,
            client_challenge: random()?,
            unix_s: self.clock.unix().as_secs(),
        });
        self.send(Some(&proof), true)
    }

    /// Sends the request once and follows redirects.
    fn send(&self, proof: Option<&str>, with_body: bool) -> Result<HttpAnswer, String> {
        let mut leg = Leg::of(self.call);
        if !with_body {
            leg.body = leg.body.map(|_| &[][..]);
        }
        self.sent(&leg, proof, REDIRECTS_MAX).map_err(|error| said(&error))
    }

    /// Sends one request; a redirect is its answer.
    fn send_leg(&self, leg: &Leg<'_>, proof: Option<&str>) -> Result<HttpAnswer, Error> {
        self.sent(leg, proof, 0)
    }

    fn sent(
        &self,
        leg: &Leg<'_>,
        proof: Option<&str>,
        redirects: u32,
    ) -> Result<HttpAnswer, Error> {
        let mut request = Request::builder().method(leg.method).uri(leg.url.as_str());
        for (name, value) in leg.headers {
            if leg.at_home || !http_auth::is_secret(name) {
                request = request.header(name, value);
            }
        }
        if let Some(proof) = proof {
            request = request.header("Authorization", proof);
        }
        let mut answer = match leg.body {
            Some(body) => self.within(request.body(body)?, redirects),
            None => self.within(request.body(())?, redirects),
        }?;
        let text =
            |value: &ureq::http::HeaderValue| String::from_utf8_lossy(value.as_bytes()).into();
        let headers =
            answer.headers().iter().map(|(n, v)| (n.as_str().to_owned(), text(v))).collect();
        let status = answer.status().as_u16();
        let limit = u64::try_from(ANSWER_BYTES_MAX).unwrap_or(u64::MAX);
        let body = answer.body_mut().with_config().limit(limit).read_to_vec();
        Ok(HttpAnswer { status, headers, body: body? })
    }

    /// A server may close a connection that it kept just when the next request is on its way:
    /// that one goes out once more over a new connection.
    fn within<B: AsSendBody + Clone>(
        &self,
        request: Request<B>,
        redirects: u32,
    ) -> Result<ureq::http::Response<Body>, Error> {
        let run = |agent: &Agent, request: Request<B>| {
            let left = self.end.saturating_sub(self.clock.monotonic());
            let request = agent.configure_request(request).timeout_global(Some(left));
            agent.run(request.max_redirects(redirects).build())
        };
        let may_be_stale = self.asked_before.replace(true);
        match run(&self.agent, request.clone()) {
            Err(Error::Io(error)) if may_be_stale && is_gone(&error) => {
                run(&Agent::new_with_config(self.agent.config().clone()), request)
            }
            answer => answer,
        }
    }
}

/// Did the other side end the connection?
fn is_gone(error: &io::Error) -> bool {
    use io::ErrorKind::{BrokenPipe, ConnectionReset, UnexpectedEof};
    matches!(error.kind(), BrokenPipe | ConnectionReset | UnexpectedEof)
}

/// What the server asks, if it refused.
fn asked(answer: &HttpAnswer) -> impl Iterator<Item = &str> {
    let refused = answer.status == 401;
    let headers = answer
        .headers
        .iter()
        .filter(move |(name, _)| refused && name.eq_ignore_ascii_case("www-authenticate"));
    headers.map(|(_, value)| value.as_str())
}

fn random<const N: usize>() -> Result<[u8; N], String> {
    let mut bytes = [0; N];
    getrandom::fill(&mut bytes).map_err(|e| format!("the system gives no random bytes: {e}"))?;
    Ok(bytes)
}

const BAD_URL: &str = "URL using bad/illegal format or missing URL.";

/// What went wrong, in the words that the field's scripts look for.
fn said(error: &Error) -> String {
    match error {
        Error::HostNotFound => "Could not resolve hostname.".to_owned(),
        Error::ConnectionFailed => "Could not connect to server.".to_owned(),
        Error::Io(e) if e.kind() == io::ErrorKind::ConnectionRefused => {
            "Could not connect to server.".to_owned()
        }
        Error::Timeout(_) => "Timeout was reached.".to_owned(),
        Error::BadUri(_) | Error::Http(_) => BAD_URL.to_owned(),
        Error::Tls(_) | Error::NativeTls(_) => "SSL connect error.".to_owned(),
        other => other.to_string(),
    }
}

#[cfg(test)]
mod tests;
