//! Requests with what belongs to them: redirects, proofs of identity, connections used again.

use std::net::IpAddr;
use std::time::Duration;

use stdx::clock::SharedClock;
use stdx::kerberos::Tickets;
use tokio::io::AsyncWriteExt;
use wire::http::cookies::Jar;
use wire::http::{Answer, Asked, Decoder, Progress, Url, content, request};
use wire::http_auth::{self, digest, ntlm};

use super::failure::{Failure, REDIRECTS_MAX, Stage, Track};
use super::pool::{Pool, Stream};
use super::tls::{Contexts, TlsWish};
use super::way::{Proxy, Way};
use crate::settings::WebFiles;
use collect::read::read_some;
use collect::resolver::Resolver;

/// Bytes of a body, packed and unpacked.
pub(crate) const BODY_BYTES_MAX: usize = 64 << 20;

/// Authentication of a request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Auth<'a> {
    /// No authentication.
    None,
    /// Name and password in clear text.
    Basic(&'a str, &'a str),
    /// A proof that knows the password.
    Digest(&'a str, &'a str),
    /// Windows, version 2.
    Ntlm(&'a str, &'a str),
    /// A ticket that the server's own machine has; names and passwords do not count.
    Kerberos,
}

impl<'a> Auth<'a> {
    /// From the API's number.
    pub(crate) fn from_api(number: u8, user: &'a str, password: &'a str) -> Self {
        match number {
            1 => Self::Basic(user, password),
            2 => Self::Ntlm(user, password),
            3 => Self::Kerberos,
            4 => Self::Digest(user, password),
            _ => Self::None,
        }
    }
}

/// A request as the configuration has it.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Call<'a> {
    pub(crate) url: &'a str,
    pub(crate) method: &'a str,
    pub(crate) headers: &'a [(String, String)],
    pub(crate) body: Option<&'a [u8]>,
    /// `User-Agent`.
    pub(crate) agent: Option<&'a str>,
    pub(crate) auth: Auth<'a>,
    /// `[http://][user[:password]@]host[:port]`; empty = none.
    pub(crate) proxy: &'a str,
    pub(crate) tls: TlsWish<'a>,
    pub(crate) follow: bool,
    pub(crate) timeout: Duration,
}

/// What came of a request.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Fetched {
    /// The headers of all answers on the way to the last one.
    pub(crate) head: Vec<u8>,
    /// The last answer, unpacked.
    pub(crate) answer: Answer,
    /// Bytes of its body as they came.
    pub(crate) bytes: usize,
    /// How long it took.
    pub(crate) spent: Duration,
}

/// What one thread knows of web servers.
pub(crate) struct Client {
    pub(super) clock: SharedClock,
    pub(super) source_ip: Option<IpAddr>,
    pub(super) resolver: Resolver,
    pub(super) tickets: Tickets,
    pub(super) contexts: Contexts,
    pool: Pool,
}

/// One request of a call: its redirects have their own.
pub(super) struct Hop<'a> {
    call: &'a Call<'a>,
    pub(super) url: &'a Url,
    method: &'a str,
    pub(super) body: Option<&'a [u8]>,
    proxy: Option<&'a Proxy>,
    headers: &'a [(String, String)],
    auth: Auth<'a>,
    cookies: Option<String>,
    /// Where equal connections wait.
    key: String,
    pub(super) track: &'a Track,
}

/// What came of a request, and over which connection.
pub(super) struct Sent {
    pub(super) stream: Stream,
    pub(super) answer: Answer,
    /// Nothing came behind the answer.
    clean: bool,
}

impl Client {
    pub(crate) fn new(
        clock: SharedClock,
        resolver: Resolver,
        tickets: Tickets,
        source_ip: Option<IpAddr>,
        files: WebFiles,
    ) -> Self {
        Self {
            contexts: Contexts::new(files, clock.clone()),
            clock,
            source_ip,
            resolver,
            tickets,
            pool: Pool::default(),
        }
    }

    /// Performs a request within its time.
    pub(crate) async fn fetch(&self, call: &Call<'_>, jar: &mut Jar) -> Result<Fetched, Failure> {
        let begin = self.clock.monotonic();
        let track = Track::default();
        let followed = tokio::time::timeout(call.timeout, self.follow(call, jar, &track)).await;
        let spent = self.clock.monotonic().saturating_sub(begin);
        let (head, mut answer) = followed.unwrap_or_else(|_| Err(track.late(spent)))?;
        let bytes = answer.body.len();
        content::unpack(&mut answer, BODY_BYTES_MAX)?;
        Ok(Fetched { head, answer, bytes, spent })
    }

    async fn follow(
        &self,
        call: &Call<'_>,
        jar: &mut Jar,
        track: &Track,
    ) -> Result<(Vec<u8>, Answer), Failure> {
        let first = Url::parse(call.url)?;
        let proxy = Proxy::parse(call.proxy)?;
        let (mut url, mut method, mut body) = (first.clone(), call.method, call.body);
        let mut head = Vec::new();
        for _ in 0..=REDIRECTS_MAX {
            // Credentials for the first server are not sent to another one.
            let at_home = url.same_origin(&first);
            let told = |(name, _): &&(String, String)| !http_auth::is_secret(name);
            let abroad: Vec<_> = match at_home {
                true => Vec::new(),
                false => call.headers.iter().filter(told).cloned().collect(),
            };
            let user = url.user.clone();
            let auth = match (&user, call.auth) {
                (_, auth) if at_home && auth != Auth::None => auth,
                (Some((name, password)), _) => Auth::Basic(name, password),
                _ => Auth::None,
            };
            let hop = Hop {
                call,
                url: &url,
                method,
                body,
                proxy: proxy.as_ref(),
                headers: if at_home { call.headers } else { &abroad },
                auth,
                cookies: jar.header(&url),
                key: key(&url, proxy.as_ref(), &call.tls, auth),
                track,
            };
            let answer = self.ask(&hop, &mut head).await?;
            jar.take(&url, answer.header("set-cookie"), self.clock.unix().as_secs());
            let location = match answer.status {
                301..=303 | 307 | 308 if call.follow => answer.header("location").next(),
                _ => None,
            };
            let Some(location) = location.filter(|text| !text.is_empty()) else {
                return Ok((head, answer));
            };
            url = url.join(location).map_err(Failure::Redirect)?;
            if answer.status <= 303 {
                body = None;
                method = if method == "POST" { "GET" } else { method };
            }
        }
        Err(Failure::TooManyRedirects)
    }

    /// One request with the proofs that the server wants.
    async fn ask(&self, hop: &Hop<'_>, head: &mut Vec<u8>) -> Result<Answer, Failure> {
        match hop.auth {
            Auth::None => self.send_once(hop, None, hop.body, head).await,
            Auth::Kerberos => self.kerberos(hop, head).await,
            Auth::Basic(user, password) => {
                let proof = http_auth::basic(user, password);
                self.send_once(hop, Some(&proof), hop.body, head).await
            }
            Auth::Digest(user, password) => self.digest(hop, user, password, head).await,
            Auth::Ntlm(user, password) => self.ntlm(hop, user, password, head).await,
        }
    }

    /// A first request shows what the server asks; it has no body.
    async fn digest(
        &self,
        hop: &Hop<'_>,
        user: &str,
        password: &str,
        head: &mut Vec<u8>,
    ) -> Result<Answer, Failure> {
        let empty = hop.body.map(|_| &[][..]);
        let answer = self.send_once(hop, None, empty, head).await?;
        if answer.status < 300 && hop.body.is_some() {
            // Servers that do not ask for authentication get the body too.
            return self.send_once(hop, None, hop.body, head).await;
        }
        let find = || digest::Challenge::find(answer.header("www-authenticate"));
        let challenge = if answer.status == 401 { find() } else { None };
        let Some(challenge) = challenge else { return Ok(answer) };
        let client_nonce: String =
            random::<16>()?.iter().map(|byte| format!("{byte:02x}")).collect();
        let proof = challenge.answer(&digest::Question {
            user,
            password,
            method: hop.method,
            target: &hop.url.target,
            client_nonce: &client_nonce,
        });
        self.send_once(hop, Some(&proof), hop.body, head).await
    }

    /// Three messages over one connection, which belongs to this user afterwards: it is not kept.
    async fn ntlm(
        &self,
        hop: &Hop<'_>,
        user: &str,
        password: &str,
        head: &mut Vec<u8>,
    ) -> Result<Answer, Failure> {
        let empty = hop.body.map(|_| &[][..]);
        let bytes = encoded(hop, Some(&ntlm::negotiate()), empty);
        let mut stream = self.connect(&way(hop), hop.track, head).await?;
        let (answer, _) = exchange(&mut stream, &bytes, hop).await.map_err(|(why, _)| why)?;
        head.extend_from_slice(&answer.head);
        let find = || ntlm::Challenge::find(answer.header("www-authenticate"));
        let asked = answer.status == 401 && answer.keeps_open;
        let challenge = if asked { find() } else { None };
        let Some(challenge) = challenge else { return Ok(answer) };
        let proof = challenge.answer(&ntlm::Secret {
            user,
            password,
            client_challenge: random()?,
            unix_s: self.clock.unix().as_secs(),
        });
        let bytes = encoded(hop, Some(&proof), hop.body);
        let (answer, _) = exchange(&mut stream, &bytes, hop).await.map_err(|(why, _)| why)?;
        head.extend_from_slice(&answer.head);
        Ok(answer)
    }

    /// Sends a request over a connection that waits, or over a new one.
    pub(super) async fn send_once(
        &self,
        hop: &Hop<'_>,
        proof: Option<&str>,
        body: Option<&[u8]>,
        head: &mut Vec<u8>,
    ) -> Result<Answer, Failure> {
        let sent = self.send(hop, proof, body, head).await?;
        Ok(self.kept(hop, sent, head))
    }

    /// The same, with the connection.
    pub(super) async fn send(
        &self,
        hop: &Hop<'_>,
        proof: Option<&str>,
        body: Option<&[u8]>,
        head: &mut Vec<u8>,
    ) -> Result<Sent, Failure> {
        let bytes = encoded(hop, proof, body);
        while let Some(mut stream) = self.pool.take(&hop.key, self.clock.monotonic()) {
            match exchange(&mut stream, &bytes, hop).await {
                Ok((answer, clean)) => return Ok(Sent { stream, answer, clean }),
                // The server had closed it before our request came.
                Err((_, true)) => {}
                Err((failure, false)) => return Err(failure),
            }
        }
        let mut stream = self.connect(&way(hop), hop.track, head).await?;
        match exchange(&mut stream, &bytes, hop).await {
            Ok((answer, clean)) => Ok(Sent { stream, answer, clean }),
            Err((failure, _)) => Err(failure),
        }
    }

    /// Sends the request once more over the connection on which an answer came.
    pub(super) async fn send_again(
        &self,
        hop: &Hop<'_>,
        sent: Sent,
        proof: &str,
        head: &mut Vec<u8>,
    ) -> Result<Sent, Failure> {
        head.extend_from_slice(&sent.answer.head);
        let (bytes, mut stream) = (encoded(hop, Some(proof), hop.body), sent.stream);
        let (answer, clean) = exchange(&mut stream, &bytes, hop).await.map_err(|(why, _)| why)?;
        Ok(Sent { stream, answer, clean })
    }

    /// The answer; its connection waits for the next request if it can.
    pub(super) fn kept(&self, hop: &Hop<'_>, sent: Sent, head: &mut Vec<u8>) -> Answer {
        let Sent { stream, answer, clean } = sent;
        head.extend_from_slice(&answer.head);
        if clean && answer.keeps_open {
            self.pool.put(&hop.key, stream, self.clock.monotonic());
        }
        answer
    }
}

fn way<'a>(hop: &'a Hop<'_>) -> Way<'a> {
    Way { url: hop.url, proxy: hop.proxy, tls: &hop.call.tls }
}

/// What makes a connection another one.
fn key(url: &Url, proxy: Option<&Proxy>, tls: &TlsWish<'_>, auth: Auth<'_>) -> String {
    let proxy = proxy.map(Proxy::label);
    let mut key = format!("{} {} {}", url.host, url.port(), proxy.unwrap_or_default());
    if url.https {
        key += &format!("\n{tls:?}");
    }
    // A server may take all of a connection as coming from whom the first ticket named.
    if auth == Auth::Kerberos {
        key += "\nKerberos";
    }
    key
}

fn encoded(hop: &Hop<'_>, proof: Option<&str>, body: Option<&[u8]>) -> Vec<u8> {
    let forwarded = hop.proxy.filter(|_| !hop.url.https);
    let whole = forwarded.map(|_| hop.url.to_string());
    request::encode(&request::Request {
        method: hop.method,
        target: whole.as_deref().unwrap_or(&hop.url.target),
        host: &hop.url.host_header(),
        authorization: proof,
        proxy_authorization: forwarded.and_then(|proxy| proxy.authorization.as_deref()),
        proxied: forwarded.is_some(),
        agent: hop.call.agent,
        cookies: hop.cookies.as_deref(),
        headers: hop.headers,
        body,
    })
}

/// A failure, and whether it came before the first byte of an answer.
type Broken = (Failure, bool);

async fn exchange(
    stream: &mut Stream,
    bytes: &[u8],
    hop: &Hop<'_>,
) -> Result<(Answer, bool), Broken> {
    hop.track.at(Stage::Transfer);
    let sent = match stream.write_all(bytes).await {
        Ok(()) => stream.flush().await,
        Err(error) => Err(error),
    };
    let asked = if hop.method == "HEAD" { Asked::Head } else { Asked::Other };
    let read = read_answer(stream, asked, BODY_BYTES_MAX, hop.track).await;
    match (read, sent) {
        // A server may answer and close before it has read all.
        (Ok(read), _) => Ok(read),
        (Err((_, true)), Err(error)) => Err((Failure::broken("Send", &error), true)),
        (Err(broken), _) => Err(broken),
    }
}

/// Reads one answer; `true` = nothing came behind it.
pub(super) async fn read_answer(
    stream: &mut Stream,
    asked: Asked,
    body_max: usize,
    track: &Track,
) -> Result<(Answer, bool), Broken> {
    let mut decoder = Decoder::new(asked, body_max);
    loop {
        let read = read_some(stream, |bytes| {
            if bytes.is_empty() {
                return decoder.end().map(|()| Some(false));
            }
            Ok(match decoder.feed(bytes)? {
                Progress::More => None,
                Progress::Done(used) => Some(used == bytes.len()),
            })
        });
        let read = read.await;
        let (bytes, of) = decoder.received();
        track.received(bytes, of);
        match read {
            Ok(Ok(None)) => {}
            Ok(Ok(Some(clean))) => return Ok((decoder.finish(), clean)),
            Ok(Err(error)) => return Err((error.into(), decoder.is_untouched())),
            Err(error) => return Err((Failure::broken("Recv", &error), decoder.is_untouched())),
        }
    }
}

fn random<const N: usize>() -> Result<[u8; N], Failure> {
    let mut bytes = [0; N];
    let filled = getrandom::fill(&mut bytes);
    filled.map_err(|error| Failure::Local(format!("the system gives no random bytes: {error}")))?;
    Ok(bytes)
}
