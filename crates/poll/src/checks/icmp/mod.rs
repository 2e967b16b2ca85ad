//! Pings: one thread for the whole server sends echo requests for everybody and gathers what comes
//! back.
//!
//! * [`Pinger`] takes a [`Series`] and gives its [`Outcome`]. Equal series that are asked for at the
//!   same time (the three items of one host) go out once.
//! * Requests leave in batches, paced so that thousands of them overrun neither this machine's
//!   buffers nor the network.
//! * Times are those at which the system saw the packets, not those at which this thread got to them.

mod engine;
mod params;
mod series;
mod sockets;

use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use stdx::clock::SharedClock;
use stdx::queue;
use tokio::sync::oneshot;

pub(crate) use params::{Ping, seconds};
pub use series::{Outcome, Series};

use collect::counters::Busy;
use collect::resolver::Resolver;
use engine::Request;

/// Requests that wait for the thread; who finds the queue full waits.
const REQUESTS: usize = 4_096;

/// Why a series brought nothing.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PingError {
    /// This process has no socket for it.
    #[error("{0}.")]
    Refused(String),
    /// The system does not take such packets for this address.
    #[error("Cannot send ICMP ping packets to this host.")]
    Unsendable,
    /// The server is stopping.
    #[error("The server is stopping.")]
    Stopping,
}

/// Sends pings for everybody. Its thread starts with the first one.
pub struct Pinger {
    clock: SharedClock,
    source: Option<IpAddr>,
    requests: OnceLock<Result<queue::Sender<Request>, String>>,
    busy: Arc<Busy>,
}

impl std::fmt::Debug for Pinger {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Pinger")
    }
}

impl Pinger {
    /// Packets leave from `source` where it is of the target's family.
    pub fn new(clock: SharedClock, source: Option<IpAddr>) -> Self {
        Self { clock, source, requests: OnceLock::new(), busy: Arc::default() }
    }

    /// Sends a series and waits for what comes back. That takes as long as the series says: all
    /// intervals and the last timeout, less where everything is answered.
    pub async fn ping(&self, series: Series) -> Result<Outcome, PingError> {
        let requests = self.requests.get_or_init(|| self.start());
        let requests = requests.as_ref().map_err(|why| PingError::Refused(why.clone()))?;
        let (reply, answer) = oneshot::channel();
        let sent = requests.send(Request { series, reply }).await;
        sent.map_err(|_| PingError::Stopping)?;
        answer.await.map_err(|_| PingError::Stopping)?
    }

    /// Time in work of the thread.
    pub(crate) fn busy(&self) -> &Busy {
        &self.busy
    }

    fn start(&self) -> Result<queue::Sender<Request>, String> {
        let (requests, received) = queue::bounded("pings", REQUESTS);
        let (clock, source, busy) = (self.clock.clone(), self.source, Arc::clone(&self.busy));
        stdx::thread::critical("pinger", move || engine::run(clock, source, received, &busy))
            .map(|_| requests)
            .map_err(|error| format!("cannot start the thread for pings: {error}"))
    }
}

/// The address of a target: as it is, or by its name. `None` = it has none, or none in time.
pub(crate) async fn lookup(
    resolver: &Resolver,
    target: &str,
    limit: Duration,
) -> Option<SocketAddr> {
    let found = tokio::time::timeout(limit, resolver.find(target)).await;
    Some(SocketAddr::new(*found.ok()?.ok()?.first()?, 0))
}

#[cfg(test)]
mod tests;
