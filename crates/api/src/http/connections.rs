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
use hyper::server::conn::http1;
use hyper::service::service_fn;
use hyper_util::rt::{TokioIo, TokioTimer};
use openssl::ssl::{AlpnError, Ssl, SslAcceptor, SslFiletype, SslMethod};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_openssl::SslStream;
use tower::ServiceExt;

/// Browsers' connections at the same time. Each browser holds up to six.
pub(super) const CONNECTIONS_MAX: usize = 2_048;
/// A client that has not sent a request's header by then is cut off.
const HEADER_TIMEOUT: Duration = Duration::from_secs(20);
/// The same for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a failed accept (no file handles left), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// A connection, secured or not.
pub trait Stream: AsyncRead + AsyncWrite + Unpin + Send {}

impl<S: AsyncRead + AsyncWrite + Unpin + Send> Stream for S {}

/// A listener whose connections are secured and bounded, whatever is spoken on them.
pub struct Listening {
    listener: TcpListener,
    tls: Option<Arc<SslAcceptor>>,
    room: Arc<Semaphore>,
}

impl std::fmt::Debug for Listening {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Listening").field("listener", &self.listener).finish_non_exhaustive()
    }
}

impl Listening {
    /// `files` = certificate and key (PEM) for TLS. `alpn` = the only protocol, as the handshake
    /// names it; empty = whatever the client likes. Beyond `connections_max` connections more wait
    /// in the kernel's queue.
    pub fn new(
        listener: TcpListener,
        files: Option<&(PathBuf, PathBuf)>,
        alpn: &'static str,
        connections_max: usize,
    ) -> std::io::Result<Self> {
        let tls = files.map(|files| acceptor(files, alpn)).transpose()?.map(Arc::new);
        Ok(Self { listener, tls, room: Arc::new(Semaphore::new(connections_max)) })
    }

    /// Accepts until dropped; each connection is `serve`d by a task of its own.
    pub async fn run<F>(
        self,
        serve: impl Fn(Box<dyn Stream>, SocketAddr) -> F + Clone + Send + 'static,
    ) where
        F: Future<Output = ()> + Send,
    {
        loop {
            let Ok(permit) = Arc::clone(&self.room).acquire_owned().await else { return };
            match self.listener.accept().await {
                Ok((stream, peer)) => {
                    let (tls, serve) = (self.tls.clone(), serve.clone());
                    tokio::spawn(async move {
                        if let Some(stream) = secured(stream, tls).await {
                            serve(stream, peer).await;
                        }
                        drop(permit);
                    });
                }
                Err(error) => {
                    tracing::warn!(%error, "a connection could not be accepted");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }
}

fn acceptor(files: &(PathBuf, PathBuf), alpn: &'static str) -> std::io::Result<SslAcceptor> {
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
    if !alpn.is_empty() {
        // Offered names stand behind their lengths.
        builder.set_alpn_select_callback(move |_, mut offered| {
            while let Some((length, rest)) = offered.split_first() {
                let (name, rest) =
                    rest.split_at_checked(usize::from(*length)).ok_or(AlpnError::ALERT_FATAL)?;
                if name == alpn.as_bytes() {
                    return Ok(name);
                }
                offered = rest;
            }
            Err(AlpnError::ALERT_FATAL)
        });
    }
    Ok(builder.build())
}

/// The connection behind its handshake; `None` = it did not come to that.
async fn secured(stream: TcpStream, tls: Option<Arc<SslAcceptor>>) -> Option<Box<dyn Stream>> {
    // Answers are written whole; waiting for more to send would only delay them.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else { return Some(Box::new(stream)) };
    let shake = async {
        let ssl = Ssl::new(tls.context()).ok()?;
        let mut stream = SslStream::new(ssl, stream).ok()?;
        Pin::new(&mut stream).accept().await.ok()?;
        Some(stream)
    };
    let stream = timeout(HANDSHAKE_TIMEOUT, shake).await.ok()??;
    Some(Box::new(stream))
}

/// Serves HTTP/1.1 on a connection.
pub(super) async fn serve(stream: Box<dyn Stream>, peer: SocketAddr, router: Router) {
    let service = service_fn(move |request: Request<hyper::body::Incoming>| {
        let router = router.clone();
        async move {
            let mut request = request.map(Body::new);
            request.extensions_mut().insert(ConnectInfo(peer));
            router.oneshot(request).await
        }
    });
    let connection = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEADER_TIMEOUT)
        .serve_connection(TokioIo::new(stream), service);
    // An error here is a client that went away or sent no HTTP.
    drop(connection.await);
}
