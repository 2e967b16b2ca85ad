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
use openssl::ssl::{Ssl, SslAcceptor, SslFiletype, SslMethod};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Semaphore;
use tokio::time::timeout;
use tokio_openssl::SslStream;
use tower::ServiceExt;

/// Connections at the same time; more wait in the kernel's queue. Each browser holds up to six.
const CONNECTIONS_MAX: usize = 2_048;
/// A client that has not sent a request's header by then is cut off.
const HEADER_TIMEOUT: Duration = Duration::from_secs(20);
/// The same for a TLS handshake.
const HANDSHAKE_TIMEOUT: Duration = Duration::from_secs(10);
/// Pause after a failed accept (no file handles left), so that the loop does not spin.
const ACCEPT_PAUSE: Duration = Duration::from_millis(100);

/// Certificate and key for HTTPS.
pub(super) fn acceptor(files: &(PathBuf, PathBuf)) -> std::io::Result<SslAcceptor> {
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
    Ok(builder.build())
}

/// Accepts until dropped.
pub(super) async fn accept(listener: TcpListener, tls: Option<SslAcceptor>, router: Router) {
    let room = Arc::new(Semaphore::new(CONNECTIONS_MAX));
    let tls = tls.map(Arc::new);
    loop {
        let Ok(permit) = Arc::clone(&room).acquire_owned().await else { return };
        match listener.accept().await {
            Ok((stream, peer)) => {
                let (tls, router) = (tls.clone(), router.clone());
                tokio::spawn(async move {
                    one(stream, peer, tls, router).await;
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

async fn one(stream: TcpStream, peer: SocketAddr, tls: Option<Arc<SslAcceptor>>, router: Router) {
    // Answers are written whole; waiting for more to send would only delay them.
    drop(stream.set_nodelay(true));
    let Some(tls) = tls else {
        serve(stream, peer, router).await;
        return;
    };
    let secured = async {
        let ssl = Ssl::new(tls.context()).ok()?;
        let mut stream = SslStream::new(ssl, stream).ok()?;
        Pin::new(&mut stream).accept().await.ok()?;
        Some(stream)
    };
    if let Ok(Some(stream)) = timeout(HANDSHAKE_TIMEOUT, secured).await {
        serve(stream, peer, router).await;
    }
}

async fn serve<S>(stream: S, peer: SocketAddr, router: Router)
where
    S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
{
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
