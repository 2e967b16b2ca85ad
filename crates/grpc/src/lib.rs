//! The history service over gRPC: HTTP/2, streams, flow control.
//!
//! One request: a connection that the server accepted and secured → `calls` (by the path of the
//! call; protobuf to messages of `wire::history_service`) → [`history::service::Service`], which
//! blocks and is called on blocking threads.
//!
//! A crate of its own, because HTTP/2 and gRPC are what nobody else needs: whoever works on the API
//! does not build them.
//!
//! **Back-pressure.** A stream's batches are written one after the other; while one waits for the
//! shards' queues, nothing more is read of the stream, and HTTP/2's window makes its sender wait. A
//! page of an answer is read from history when the former has been taken.

mod calls;
mod connections;
mod status;

use std::sync::Arc;

use history::service::Service;
use tokio::sync::Semaphore;

/// The protocol, as a TLS handshake names it.
pub const ALPN: &str = "h2";
/// Connections that are served at the same time.
pub const CONNECTIONS_MAX: usize = 1_024;

/// How much at the same time.
#[derive(Debug, Clone, Copy)]
pub struct Config {
    /// Calls of one connection; its client lets more wait.
    pub streams_max: u32,
    /// Batches that are written; others wait.
    pub writes_max: usize,
    /// Answers to reads that are sent; others are refused for the moment.
    pub reads_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self { streams_max: 100, writes_max: 32, reads_max: 64 }
    }
}

/// What serves connections; clones share the limits.
#[derive(Clone)]
pub struct Server {
    service: Arc<dyn Service>,
    config: Config,
    writes: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

impl std::fmt::Debug for Server {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Server").field("config", &self.config).finish_non_exhaustive()
    }
}

impl Server {
    /// Gives what `service` does to whoever calls.
    pub fn new(service: Arc<dyn Service>, config: Config) -> Self {
        let writes = Arc::new(Semaphore::new(config.writes_max));
        let reads = Arc::new(Semaphore::new(config.reads_max));
        Self { service, config, writes, reads }
    }
}
