//! The trapper port: one request per connection, any number of connections at one time, within
//! the limits of [`crate::Limits`].

pub(crate) mod active;
mod conn;
mod dispatch;
pub(crate) mod expected;
pub(crate) mod matching;
pub(crate) mod sessions;

use std::collections::HashMap;
use std::net::{IpAddr, SocketAddr};
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stdx::sync::lock;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

pub(crate) use conn::read_some;

use crate::counters::Counters;
use crate::peers::plain;
use crate::status::Shared;

/// Pause after an error of accept(2): out of file descriptors heals by itself.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);

/// Connections in the system's backlog.
const BACKLOG: u32 = 4096;

/// What all connections share.
pub(crate) struct Trapper {
    pub(crate) shared: Arc<Shared>,
    /// KiB of messages in memory.
    budget: Arc<Semaphore>,
    /// One message at a time may go beyond the budget.
    finisher: Arc<Semaphore>,
    places: Arc<Semaphore>,
    peers: Mutex<HashMap<IpAddr, usize>>,
}

/// One connection's place; gives it back when dropped.
struct Place {
    trapper: Arc<Trapper>,
    ip: IpAddr,
    _place: tokio::sync::OwnedSemaphorePermit,
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut peers = lock(&self.trapper.peers);
        if let Some(count) = peers.get_mut(&self.ip) {
            *count -= 1;
            if *count == 0 {
                peers.remove(&self.ip);
            }
        }
        self.trapper.shared.counters.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Trapper {
    pub(crate) fn new(shared: Arc<Shared>) -> Arc<Self> {
        let limits = shared.config.limits;
        let budget = Arc::new(Semaphore::new((limits.bytes_in_flight / 1024).max(1)));
        let places = Arc::new(Semaphore::new(limits.connections.max(1)));
        let finisher = Arc::new(Semaphore::new(1));
        Arc::new(Self { shared, budget, finisher, places, peers: Mutex::default() })
    }

    /// Binds one address; port 0 takes a free one.
    pub(crate) fn bind(address: SocketAddr) -> std::io::Result<TcpListener> {
        let socket = match address {
            SocketAddr::V4(_) => tokio::net::TcpSocket::new_v4()?,
            SocketAddr::V6(_) => tokio::net::TcpSocket::new_v6()?,
        };
        // A restarted server must not wait for connections of its predecessor to fade.
        socket.set_reuseaddr(true)?;
        socket.bind(address)?;
        socket.listen(BACKLOG)
    }

    /// Accepts until told to stop. A connection beyond the limit waits in the system's backlog.
    pub(crate) async fn run(
        self: Arc<Self>,
        listener: TcpListener,
        mut stop: watch::Receiver<bool>,
    ) {
        loop {
            let place = tokio::select! {
                place = Arc::clone(&self.places).acquire_owned() => place,
                _ = stop.changed() => return,
            };
            let Ok(place) = place else { return };
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.changed() => return,
            };
            match accepted {
                Ok((stream, address)) => self.admit(stream, address, place),
                Err(error) => {
                    tracing::warn!("cannot accept a connection on the trapper port: {error}");
                    tokio::time::sleep(ACCEPT_PAUSE).await;
                }
            }
        }
    }

    fn admit(
        self: &Arc<Self>,
        stream: TcpStream,
        address: SocketAddr,
        place: tokio::sync::OwnedSemaphorePermit,
    ) {
        let counters = &self.shared.counters;
        Counters::one(&counters.accepted);
        let ip = plain(address.ip());
        {
            let mut peers = lock(&self.peers);
            let count = peers.entry(ip).or_insert(0);
            if *count >= self.shared.config.limits.connections_per_peer {
                Counters::one(&counters.requests_refused);
                tracing::debug!("connection from {ip} refused: it has {count} already");
                return;
            }
            *count += 1;
        }
        counters.connections.fetch_add(1, Ordering::Relaxed);
        let place = Place { trapper: Arc::clone(self), ip, _place: place };
        let trapper = Arc::clone(self);
        tokio::spawn(async move {
            trapper.serve(stream, ip).await;
            drop(place);
        });
    }

    /// Waits until all connections are done, at most `limit`.
    pub(crate) async fn drain(&self, limit: Duration) {
        let all = u32::try_from(self.shared.config.limits.connections.max(1)).unwrap_or(u32::MAX);
        let _late = tokio::time::timeout(limit, self.places.acquire_many(all)).await;
    }
}
