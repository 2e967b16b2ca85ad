//! The history service over gRPC: HTTP/2, streams, flow control, TLS.
//!
//! One request: `connections` (accepted, secured, bounded) → [`calls`] (by the path of the call;
//! protobuf to messages of `wire::history_service`) → [`history::service::Service`], which the
//! server puts here. That blocks, and is called on blocking threads.
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

use std::path::PathBuf;
use std::sync::Arc;

use history::service::Service;
use tokio::sync::Semaphore;

/// How it is served.
#[derive(Debug, Clone)]
pub struct Config {
    /// Certificate chain and private key (PEM); without them plain HTTP/2.
    pub tls: Option<(PathBuf, PathBuf)>,
    /// Connections at the same time; more wait in the kernel's queue.
    pub connections_max: usize,
    /// Calls of one connection at the same time; its client lets more wait.
    pub streams_max: u32,
    /// Batches that are written at the same time; others wait.
    pub writes_max: usize,
    /// Answers to reads that are sent at the same time; others are refused for the moment.
    pub reads_max: usize,
}

impl Default for Config {
    fn default() -> Self {
        Self {
            tls: None,
            connections_max: 1_024,
            streams_max: 100,
            writes_max: 32,
            reads_max: 64,
        }
    }
}

/// What all connections share.
#[derive(Clone)]
struct Shared {
    service: Arc<dyn Service>,
    config: Arc<Config>,
    writes: Arc<Semaphore>,
    reads: Arc<Semaphore>,
}

/// Serves on `listener` until `stop` resolves. The error is that of a certificate.
pub async fn serve(
    service: Arc<dyn Service>,
    config: Config,
    listener: tokio::net::TcpListener,
    stop: impl Future<Output = ()> + Send,
) -> std::io::Result<()> {
    let tls = config.tls.as_ref().map(connections::acceptor).transpose()?;
    let shared = Shared {
        service,
        writes: Arc::new(Semaphore::new(config.writes_max)),
        reads: Arc::new(Semaphore::new(config.reads_max)),
        config: Arc::new(config),
    };
    tokio::select! {
        () = connections::accept(listener, tls, shared) => {}
        () = stop => {}
    }
    Ok(())
}
