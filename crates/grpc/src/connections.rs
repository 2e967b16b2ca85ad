//! Connections: accepted, secured, bounded in number, time and memory.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use openssl::ssl::{AlpnError, Ssl, SslAcceptor, SslFiletype, SslMethod, select_next_proto};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_openssl::SslStream;

use crate::{Shared, calls};

/// A client whose TLS handshake takes longer is cut off.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// A connection is asked for a sign of life this often, and ends when it gives none.
const PING_EVERY: Duration = Duration::from_secs(30);
/// So long it may take to answer.
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of one call, and of a connection, that are taken before they are asked for.
const STREAM_WINDOW: u32 = 1 << 20;
const CONNECTION_WINDOW: u32 = 4 << 20;
/// Bytes of the headers of a call.
const HEADERS_MAX: u32 = 16 << 10;
/// Pause after a failed accept (no file handles left), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// What gRPC is called in the handshake: protocol names with their lengths.
const ALPN: &[u8] = b"\x02h2";

/// Certificate and key for TLS.
pub(crate) fn acceptor(files: &(PathBuf, PathBuf)) -> std::io::Result<SslAcceptor> {
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
    builder.set_alpn_select_callback(|_, offered| {
        select_next_proto(ALPN, offered).ok_or(AlpnError::ALERT_FATAL)
    });
    Ok(builder.build())
}

/// Accepts until dropped.
pub(crate) async fn accept(listener: TcpListener, tls: Option<SslAcceptor>, shared: Shared) {
    let room = Arc::new(Semaphore::new(shared.config.connections_max));
    let tls = tls.map(Arc::new);
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (tls, shared) = (tls.clone(), shared.clone());
                tokio::spawn(async move {
                    one(stream, peer, tls, shared).await;
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

async fn one(stream: TcpStream, peer: SocketAddr, tls: Option<Arc<SslAcceptor>>, shared: Shared) {
    // Acknowledgements are small, and their readers wait for them.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else {
        serve(stream, peer, shared).await;
        return;
    };
    let secured = async {
        let ssl = Ssl::new(tls.context()).ok()?;
        let mut stream = SslStream::new(ssl, stream).ok()?;
        Pin::new(&mut stream).accept().await.ok()?;
        Some(stream)
    };
    if let Ok(Some(stream)) = timeout(HANDSHAKE_TIMEOUT, secured).await {
        serve(stream, peer, shared).await;
    }
}

async fn serve<S>(stream: S, peer: SocketAddr, shared: Shared)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
    let streams = shared.config.streams_max;
    let service = service_fn(move |request| {
        let shared = shared.clone();
        async move { Ok::<_, Infallible>(calls::answer(shared, peer, request).await) }
    });
    let connection = http2::Builder::new(TokioExecutor::new())
        .timer(TokioTimer::new())
        .keep_alive_interval(PING_EVERY)
        .keep_alive_timeout(PING_TIMEOUT)
        .max_concurrent_streams(streams)
        .initial_stream_window_size(STREAM_WINDOW)
        .initial_connection_window_size(CONNECTION_WINDOW)
        .max_header_list_size(HEADERS_MAX)
        .serve_connection(TokioIo::new(stream), service);
    // An error here is a client that went away or sent no HTTP/2.
    drop(connection.await);
}
