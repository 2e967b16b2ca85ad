//! Connections: bounded in time and memory.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};

use crate::{Server, calls};

/// A connection is asked for a sign of life this often, and ends when it gives none.
const PING_EVERY: Duration = Duration::from_secs(30);
/// So long it may take to answer.
const PING_TIMEOUT: Duration = Duration::from_secs(20);
/// Bytes of one call that are taken before they are asked for: what a stream sends in the time of a
/// round trip.
const STREAM_WINDOW: u32 = 512 << 10;
/// The same of a connection: a stream that waits leaves room for others.
const CONNECTION_WINDOW: u32 = 2 << 20;
/// Bytes of the headers of a call.
const HEADERS_MAX: u32 = 16 << 10;

impl Server {
    /// Serves a connection until it ends.
    pub async fn connection<S>(&self, stream: S, peer: SocketAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let server = self.clone();
        let service = service_fn(move |request| {
            let server = server.clone();
            async move { Ok::<_, Infallible>(calls::answer(server, peer, request).await) }
        });
        let connection = http2::Builder::new(TokioExecutor::new())
            .timer(TokioTimer::new())
            .keep_alive_interval(PING_EVERY)
            .keep_alive_timeout(PING_TIMEOUT)
            .max_concurrent_streams(self.config.streams_max)
            .initial_stream_window_size(STREAM_WINDOW)
            .initial_connection_window_size(CONNECTION_WINDOW)
            .max_header_list_size(HEADERS_MAX)
            .serve_connection(TokioIo::new(stream), service);
        // An error here is a client that went away or sent no HTTP/2.
        drop(connection.await);
    }
}
