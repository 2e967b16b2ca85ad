//! Asks one service: connects, talks as its codec says, and takes the time.

use std::cell::Cell;
use std::io;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::pin::Pin;
use std::sync::OnceLock;
use std::time::Duration;

use openssl::error::ErrorStack;
use openssl::ssl::{Ssl, SslContext, SslMethod, SslVerifyMode};
use stdx::clock::Clock;
use tokio::io::{AsyncRead, AsyncReadExt, AsyncWrite, AsyncWriteExt};
use tokio::net::{TcpSocket, TcpStream, UdpSocket};
use tokio::time::timeout;
use tokio_openssl::SslStream;
use wire::services::{Service, Talk, Verdict, ntp};

use super::params::ServiceCheck;
use crate::checks::dial::is_local;
use collect::resolver::Resolver;

/// Bytes read at once.
const READ_BYTES: usize = 4 << 10;
/// A prompt is complete when nothing follows it for so long.
const PAUSE: Duration = Duration::from_millis(100);
/// Maximum time to send the closing command. The result does not depend on it.
const FAREWELL: Duration = Duration::from_millis(100);

/// How a service was found; `None` = it does not work.
type Found = Option<Duration>;

/// What a check needs to connect.
pub(super) struct Asker<'a> {
    pub(super) resolver: &'a Resolver,
    /// The address to ask from.
    pub(super) source: Option<IpAddr>,
    pub(super) clock: &'a dyn Clock,
}

/// Where to connect, and from where.
struct Where<'a> {
    host: &'a str,
    port: u16,
    asker: &'a Asker<'a>,
}

/// Asks a service; the error is this machine's, not the service's.
pub(super) async fn ask(
    check: &ServiceCheck,
    target: &str,
    limit: Duration,
    asker: &Asker<'_>,
) -> Result<Found, String> {
    let clock = asker.clock;
    let (host, path) = match check.service {
        Service::Https => web_parts(target),
        _ => (target, ""),
    };
    let place = Where { host, port: check.port, asker };
    let begin = clock.monotonic();
    let since = |end: Duration| end.saturating_sub(begin);
    let asked = async {
        if check.service == Service::Ntp {
            let up = time_server(&place, clock).await?;
            return Ok(up.then(|| since(clock.monotonic())));
        }
        let stream = place.connect().await?;
        let talk = Talk::new(check.service, &place.host_header(), path);
        if check.service != Service::Https {
            return Ok(converse(stream, talk, clock).await.map(since));
        }
        match encrypted(stream, host).await {
            Ok(stream) => Ok(converse(stream, talk, clock).await.map(since)),
            Err(_) => Ok(None),
        }
    };
    match timeout(limit, asked).await {
        Ok(Ok(found)) => Ok(found),
        Ok(Err(error)) if is_local(&error) => Err(error.to_string()),
        // Refused, unreachable, unknown, or too late.
        Ok(Err(_)) | Err(_) => Ok(None),
    }
}

/// A web server may be given as an address of the web.
fn web_parts(target: &str) -> (&str, &str) {
    let target = target.strip_prefix("https://").unwrap_or(target);
    let (host, path) = target.split_once('/').unwrap_or((target, ""));
    let bare = host.strip_prefix('[').and_then(|host| host.strip_suffix(']'));
    (bare.unwrap_or(host), path)
}

impl Where<'_> {
    /// As a web server is told whom it is asked for (RFC 9110, 7.2).
    fn host_header(&self) -> String {
        let host =
            if self.host.contains(':') { format!("[{}]", self.host) } else { self.host.to_owned() };
        if self.port == 443 { host } else { format!("{host}:{}", self.port) }
    }

    async fn addresses(&self) -> io::Result<Vec<SocketAddr>> {
        let found = self.asker.resolver.find(self.host).await.map_err(io::Error::other)?;
        Ok(found.into_iter().map(|ip| SocketAddr::new(ip, self.port)).collect())
    }

    /// Connects to the first address that takes it.
    async fn connect(&self) -> io::Result<TcpStream> {
        let mut failed = None;
        for address in self.addresses().await? {
            match self.connect_to(address).await {
                Ok(stream) => return Ok(stream),
                Err(error) => failed = Some(error),
            }
        }
        Err(failed.unwrap_or_else(|| io::ErrorKind::NotFound.into()))
    }

    async fn connect_to(&self, address: SocketAddr) -> io::Result<TcpStream> {
        let socket = match address {
            SocketAddr::V4(_) => TcpSocket::new_v4()?,
            SocketAddr::V6(_) => TcpSocket::new_v6()?,
        };
        if let Some(source) = self.source_of(address) {
            socket.bind(SocketAddr::new(source, 0))?;
        }
        socket.connect(address).await
    }

    fn source_of(&self, address: SocketAddr) -> Option<IpAddr> {
        self.asker.source.filter(|source| source.is_ipv4() == address.is_ipv4())
    }
}

/// Talks until it is known whether the service works; tells when that was.
async fn converse<S: AsyncRead + AsyncWrite + Unpin>(
    mut stream: S,
    mut talk: Talk,
    clock: &dyn Clock,
) -> Found {
    let last = Cell::new(clock.monotonic());
    let verdict = until_verdict(&mut stream, &mut talk, &last, clock).await;
    let farewell = talk.take_out();
    if verdict == Verdict::Up && !farewell.is_empty() {
        let parting = async {
            stream.write_all(&farewell).await?;
            stream.shutdown().await
        };
        // The verdict stands, whether these arrive or not.
        let _heard = timeout(FAREWELL, parting).await;
    }
    (verdict == Verdict::Up).then(|| last.get())
}

async fn until_verdict<S: AsyncRead + AsyncWrite + Unpin>(
    stream: &mut S,
    talk: &mut Talk,
    last: &Cell<Duration>,
    clock: &dyn Clock,
) -> Verdict {
    let mut verdict = talk.connected();
    let mut room = [0; READ_BYTES];
    while verdict == Verdict::Open {
        let out = talk.take_out();
        if !out.is_empty() && stream.write_all(&out).await.is_err() {
            return Verdict::Down;
        }
        verdict = match timeout(PAUSE, stream.read(&mut room)).await {
            // The time of a prompt is when it came, not when nothing followed.
            Err(_) => talk.pause(),
            Ok(Ok(0)) => talk.end(),
            Ok(Ok(length)) => {
                last.set(clock.monotonic());
                talk.feed(&room[..length])
            }
            Ok(Err(_)) => Verdict::Down,
        };
    }
    verdict
}

/// TLS that shows nothing but that somebody speaks it: certificates are not looked at.
async fn encrypted(stream: TcpStream, host: &str) -> Result<SslStream<TcpStream>, ErrorStack> {
    static CONTEXT: OnceLock<Result<SslContext, ErrorStack>> = OnceLock::new();
    let context = CONTEXT.get_or_init(|| {
        let mut builder = SslContext::builder(SslMethod::tls_client())?;
        builder.set_verify(SslVerifyMode::NONE);
        Ok(builder.build())
    });
    let mut ssl = Ssl::new(context.as_ref().map_err(Clone::clone)?)?;
    if host.parse::<IpAddr>().is_err() {
        ssl.set_hostname(host)?;
    }
    let mut stream = SslStream::new(ssl, stream)?;
    Pin::new(&mut stream).connect().await.map_err(|_| ErrorStack::get())?;
    Ok(stream)
}

/// One question, and the first answer decides.
async fn time_server(place: &Where<'_>, clock: &dyn Clock) -> io::Result<bool> {
    let address = place.addresses().await?.into_iter().next();
    let address = address.ok_or(io::ErrorKind::NotFound)?;
    let any = match address {
        SocketAddr::V4(_) => IpAddr::V4(Ipv4Addr::UNSPECIFIED),
        SocketAddr::V6(_) => IpAddr::V6(Ipv6Addr::UNSPECIFIED),
    };
    let from = place.source_of(address).unwrap_or(any);
    let socket = UdpSocket::bind(SocketAddr::new(from, 0)).await?;
    // Packets of others are not seen.
    socket.connect(address).await?;
    let request = ntp::request(clock.unix());
    socket.send(&request).await?;
    let mut room = [0; 2 * ntp::PACKET_BYTES];
    let length = socket.recv(&mut room).await?;
    Ok(ntp::is_answer(&request, &room[..length]))
}

#[cfg(test)]
mod tests;
