//! Connections: bounded in time and memory.

use std::convert::Infallible;
use std::net::SocketAddr;
use std::pin::pin;
use std::sync::Arc;
use std::time::Duration;

use hyper::server::conn::http2;
use hyper::service::service_fn;
use hyper_util::rt::{TokioExecutor, TokioIo, TokioTimer};
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::watch;
use tokio::time::{Instant, timeout_at};

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
    /// Serves a connection until it ends, or nobody calls on it.
    pub async fn connection<S>(&self, stream: S, peer: SocketAddr)
    where
        S: AsyncRead + AsyncWrite + Unpin + Send + 'static,
    {
        let usage = Usage::new(self.config.first_call, self.config.idle);
        let (server, calls) = (self.clone(), usage.clone());
        let service = service_fn(move |request| {
            let (server, usage) = (server.clone(), calls.clone());
            async move { Ok::<_, Infallible>(calls::answer(server, peer, request, &usage).await) }
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
        let mut connection = pin!(connection);
        // An error here is a client that went away or sent no HTTP/2.
        tokio::select! {
            _ = connection.as_mut() => return,
            () = usage.over() => {}
        }
        // What is called while the client hears of it is still answered.
        connection.as_mut().graceful_shutdown();
        usage.until(Instant::now() + self.config.first_call);
        tokio::select! {
            _ = connection => {}
            () = usage.over() => {}
        }
    }
}

/// The use that a connection is of: calls with a good token. Those of strangers keep none.
#[derive(Clone)]
pub(crate) struct Usage {
    seen: Arc<watch::Sender<Seen>>,
    idle: Duration,
}

#[derive(Clone, Copy)]
struct Seen {
    open: usize,
    /// Without an open call the connection ends then.
    until: Instant,
}

impl Usage {
    /// The first call has to come within `first`, others within `idle` behind the one before.
    fn new(first: Duration, idle: Duration) -> Self {
        let seen = Seen { open: 0, until: Instant::now() + first };
        Self { seen: Arc::new(watch::Sender::new(seen)), idle }
    }

    fn until(&self, until: Instant) {
        self.seen.send_modify(|seen| seen.until = until);
    }

    /// A call begins.
    pub(crate) fn call(&self) -> OpenCall {
        self.seen.send_modify(|seen| seen.open += 1);
        OpenCall(self.clone())
    }

    /// Nobody calls, and nobody has for long enough.
    async fn over(&self) {
        let mut changes = self.seen.subscribe();
        loop {
            let Seen { open, until } = *changes.borrow_and_update();
            if open > 0 {
                // The sender is `self`.
                drop(changes.changed().await);
            } else if timeout_at(until, changes.changed()).await.is_err() {
                return;
            }
        }
    }
}

/// A call until it is dropped.
pub(crate) struct OpenCall(Usage);

impl Drop for OpenCall {
    fn drop(&mut self) {
        self.0.seen.send_modify(|seen| {
            seen.open -= 1;
            seen.until = Instant::now() + self.0.idle;
        });
    }
}
