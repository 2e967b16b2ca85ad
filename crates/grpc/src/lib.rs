//! The history service over gRPC: HTTP/2, streams, flow control.
//!
//! One request: a connection that the server accepted and secured → `calls` (by the path of the
//! call, whose token has to be good) → `incoming` (bytes to messages) →
//! [`history::service::Gate`] → the service.
//!
//! A crate of its own, because HTTP/2 and gRPC are used nowhere else: work on the API
//! does not need to build them.
//!
//! **Back-pressure.** A stream's batches are written one after the other; while one waits for the
//! shards' queues, nothing more is read of the stream, and HTTP/2's window makes its sender wait. A
//! page of an answer is read from history when the former has been taken.

mod calls;
mod connections;
mod incoming;
mod status;

use std::sync::Arc;
use std::time::Duration;

use history::service::Gate;
use tokio::sync::Semaphore;
use wire::history_service::MESSAGE_BYTES_MAX;

/// The protocol, as a TLS handshake names it.
pub const ALPN: &[&str] = &["h2"];
/// Connections that are served at the same time.
pub const CONNECTIONS_MAX: usize = 1_024;

/// How much at the same time.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// Calls of one connection; its client lets more wait.
    pub streams_max: u32,
    /// Calls of all connections; others are refused for the moment.
    pub calls_max: usize,
    /// Bytes of messages that have not been worked on; others wait.
    pub messages_bytes_max: usize,
    /// A message that has not arrived by then is not waited for.
    pub message_timeout: Duration,
    /// A connection on which nobody known has called by then ends; who is told of an end has as long
    /// to take notice.
    pub first_call: Duration,
    /// A connection ends so long after its last call.
    pub idle: Duration,
}

impl Config {
    /// That of a server.
    pub const SERVER: Self = Self {
        streams_max: 100,
        calls_max: 4_096,
        messages_bytes_max: 256 << 20,
        message_timeout: Duration::from_secs(60),
        first_call: Duration::from_secs(30),
        idle: Duration::from_secs(300),
    };
}

const _: () = assert!(
    MESSAGE_BYTES_MAX <= Config::SERVER.messages_bytes_max,
    "the largest message fits the budget"
);

impl Default for Config {
    fn default() -> Self {
        Self::SERVER
    }
}

/// What serves connections; clones share the limits.
#[derive(Clone)]
pub struct Server {
    gate: Gate,
    config: Config,
    calls: Arc<Semaphore>,
    /// One permit a KiB.
    messages: Arc<Semaphore>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Server {
    /// Serves the service behind `gate`.
    pub fn new(gate: Gate, config: Config) -> Self {
        let calls = Arc::new(Semaphore::new(config.calls_max));
        let messages = Arc::new(Semaphore::new(config.messages_bytes_max / 1024));
        Self { gate, config, calls, messages }
    }
}
