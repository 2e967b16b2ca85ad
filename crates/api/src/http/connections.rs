//! Connections: accepted, secured, bounded in number and time.

use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::body::Body;
use axum::extract::ConnectInfo;
use axum::http::Request;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use hyper_util::server::conn::auto;
use openssl::ssl::{AlpnError, Ssl, SslAcceptor, SslFiletype, SslMethod};
use stdx::clock::SharedClock;
use stdx::seats::{Seat, Seats};
use stdx::seldom::Seldom;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::time::timeout;
use tokio_openssl::SslStream;
use tower::ServiceExt;

use super::proxies::Proxies;

/// A client that has not sent a request's header by then is cut off.
const HEADER_TIMEOUT: Duration = Duration::from_secs(20);
/// The same for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after an error of accept(2), mostly for lack of file descriptors. It doubles with each further
/// error.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const ACCEPT_PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often such errors are logged.
const ACCEPT_LOG_EVERY: Duration = Duration::from_secs(60);
/// Requests of one HTTP/2 connection at a time.
const STREAMS_MAX: u32 = 32;
/// Bytes that an HTTP/2 connection may send before they are read, and one request of it.
const CONNECTION_WINDOW: u32 = 256 * 1024;
const STREAM_WINDOW: u32 = 128 * 1024;
/// An HTTP/2 connection that does not answer a ping is closed.
const PING_EVERY: Duration = Duration::from_secs(30);

/// A connection, secured or not.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A listener with TLS and a connection limit, for any protocol.
pub struct Listening {
    listener: TcpListener,
    tls: Option<Arc<SslAcceptor>>,
    seats: Arc<Seats>,
    errors: Seldom,
    clock: SharedClock,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl Listening {
    /// `files` = certificate and key (PEM) for TLS. `alpn` = the protocols, as the handshake names
    /// them, the preferred one first. With `connections_max` connections a new one replaces the
    /// longest idle one of the source that has most.
    pub fn new(
        listener: TcpListener,
        files: Option<&(PathBuf, PathBuf)>,
        alpn: &'static [&'static str],
        connections_max: usize,
        clock: SharedClock,
    ) -> std::io::Result<Self> {
        let tls = files.map(|files| acceptor(files, alpn)).transpose()?.map(Arc::new);
        let seats = Seats::new(connections_max, connections_max);
        Ok(Self { listener, tls, seats, errors: Seldom::new(ACCEPT_LOG_EVERY), clock })
    }

    /// Accepts until dropped; each connection is `serve`d by a task of its own. It counts as idle
    /// while its seat is not marked busy.
    pub async fn run<F>(
        self,
        serve: impl Fn(Box<dyn Stream>, SocketAddr, Arc<Seat>) -> F + Clone + Send + Sync + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        let mut pause = ACCEPT_PAUSE;
        loop {
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    pause = ACCEPT_PAUSE;
                    let Some(seat) = self.seats.take(peer.ip()).await else { continue };
                    let (tls, serve) = (self.tls.clone(), serve.clone());
                    tokio::spawn(async move {
                        let served = async {
                            if let Some(stream) = secured(stream, tls).await {
                                serve(stream, peer, Arc::clone(&seat)).await;
                            }
                        };
                        tokio::select! {
                            () = served => {}
                            () = seat.evicted() => {}
                        }
                    });
                }
                Err(error) => {
                    // Whatever is missing, a connection holds some of it.
                    self.seats.evict_one();
                    if let Some(more) = self.errors.pass(self.clock.monotonic()) {
                        tracing::warn!(
                            %error, more,
                            "cannot accept connections. If file descriptors are missing, raise the \
                             limit (LimitNOFILE)"
                        );
                    }
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(ACCEPT_PAUSE_MAX);
                }
            }
        }
    }
}

/// The name in a list of offered protocols, whose names stand behind their lengths.
fn find<'o>(mut offered: &'o [u8], name: &[u8]) -> Option<&'o [u8]> {
    while let Some((length, rest)) = offered.split_first() {
        let (this, rest) = rest.split_at_checked(usize::from(*length))?;
        if this == name {
            return Some(this);
        }
        offered = rest;
    }
    None
}

fn acceptor(
    files: &(PathBuf, PathBuf),
    alpn: &'static [&'static str],
) -> std::io::Result<SslAcceptor> {
    let (cert, key) = files;
    let fail = |what: &str, path: &PathBuf| {
        let text = format!("the {what} {} cannot be used", path.display());
        move |error: openssl::error::ErrorStack| std::io::Error::other(format!("{text}: {error}"))
    };
    let mut builder = SslAcceptor::mozilla_intermediate_v5(SslMethod::tls_server())
        .map_err(std::io::Error::other)?;
    builder.set_certificate_chain_file(cert).map_err(fail("certificate", cert))?;
    builder.set_private_key_file(key, SslFiletype::PEM).map_err(fail("private key", key))?;
    builder.check_private_key().map_err(fail("private key", key))?;
    builder.set_alpn_select_callback(move |_, offered| {
        let chosen = alpn.iter().find_map(|name| find(offered, name.as_bytes()));
        // HTTP/1.1 needs no agreement.
        let other =
            if alpn.contains(&"http/1.1") { AlpnError::NOACK } else { AlpnError::ALERT_FATAL };
        chosen.ok_or(other)
    });
    Ok(builder.build())
}

/// The connection behind its handshake; `None` = it did not come to that.
async fn secured(stream: TcpStream, tls: Option<Arc<SslAcceptor>>) -> Option<Box<dyn Stream>> {
    // Answers are written whole; waiting for more to send would only delay them.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else {
        // The first bytes show the protocol; until then no other timeout applies.
        let first = timeout(HEADER_TIMEOUT, stream.peek(&mut [0])).await;
        return first.is_ok_and(|peeked| peeked.is_ok()).then(|| Box::new(stream) as _);
    };
    let shake = async {
        let ssl = Ssl::new(tls.context()).ok()?;
        let mut stream = SslStream::new(ssl, stream).ok()?;
        Pin::new(&mut stream).accept().await.ok()?;
        Some(stream)
    };
    let mut stream = timeout(HANDSHAKE_TIMEOUT, shake).await.ok()??;
    let first = timeout(HEADER_TIMEOUT, Pin::new(&mut stream).peek(&mut [0])).await;
    first.is_ok_and(|peeked| peeked.is_ok()).then(|| Box::new(stream) as _)
}

/// What the requests of a connection are asked of.
#[derive(Clone)]
pub(super) struct Site {
    pub(super) router: Router,
    pub(super) proxies: Arc<Proxies>,
}

/// Serves HTTP/1.1 or HTTP/2 on a connection, as its first bytes say.
pub(super) async fn serve(stream: Box<dyn Stream>, peer: SocketAddr, seat: Arc<Seat>, site: Site) {
    let service = service_fn(move |request: Request<hyper::body::Incoming>| {
        let (site, seat) = (site.clone(), Arc::clone(&seat));
        async move {
            let mut request = request.map(Body::new);
            let client = site.proxies.client(peer.ip(), request.headers());
            request.extensions_mut().insert(ConnectInfo(SocketAddr::new(client, peer.port())));
            request.extensions_mut().insert(seat);
            site.router.oneshot(request).await
        }
    });
    let mut builder = auto::Builder::new(TokioExecutor::new());
    builder.http1().timer(TokioTimer::new()).header_read_timeout(HEADER_TIMEOUT);
    builder
        .http2()
        .timer(TokioTimer::new())
        .max_concurrent_streams(STREAMS_MAX)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .initial_stream_window_size(STREAM_WINDOW)
        .keep_alive_interval(PING_EVERY);
    // An error here is a client that went away or sent no HTTP.
    drop(builder.serve_connection(TokioIo::new(stream), service).await);
}
