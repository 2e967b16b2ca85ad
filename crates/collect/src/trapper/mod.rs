//! The trapper port: one request per connection, any number of connections at one time, within
//! the limits of [`crate::Limits`].

pub(crate) mod active;
mod conn;
mod dispatch;
pub(crate) mod expected;
pub(crate) mod matching;
pub(crate) mod sessions;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use stdx::seats::{Seat, Seats};
use stdx::seldom::Seldom;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{Semaphore, watch};

pub(crate) use conn::read_some;

use crate::counters::Counters;
use crate::peers::plain;
use crate::status::Shared;

/// Pause after an error of accept(2), mostly for lack of file descriptors. It doubles with each further
/// error.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const ACCEPT_PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often such errors are logged.
const ACCEPT_LOG_EVERY: Duration = Duration::from_secs(60);

/// Connections in the system's backlog.
const BACKLOG: u32 = 4096;

/// What all connections share.
pub(crate) struct Trapper {
    pub(crate) shared: Arc<Shared>,
    /// KiB of messages in memory.
    budget: Arc<Semaphore>,
    /// One message at a time may go beyond the budget.
    finisher: Arc<Semaphore>,
    seats: Arc<Seats>,
    accept_errors: Seldom,
}

/// One connection's place; gives it back when dropped.
struct Place {
    trapper: Arc<Trapper>,
    seat: Arc<Seat>,
}

impl Drop for Place {
    fn drop(&mut self) {
        self.trapper.shared.counters.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Trapper {
    pub(crate) fn new(shared: Arc<Shared>) -> Arc<Self> {
        let limits = shared.config.limits;
        let budget = Arc::new(Semaphore::new((limits.bytes_in_flight / 1024).max(1)));
        let seats = Seats::new(limits.connections, limits.connections_per_peer);
        let finisher = Arc::new(Semaphore::new(1));
        let accept_errors = Seldom::new(ACCEPT_LOG_EVERY);
        Arc::new(Self { shared, budget, finisher, seats, accept_errors })
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

    /// Accepts until told to stop. In a full table a new connection takes the place of the longest
    /// waiting one of the address that has most; while all are being answered it waits.
    pub(crate) async fn run(
        self: Arc<Self>,
        listener: TcpListener,
        mut stop: watch::Receiver<bool>,
    ) {
        let mut pause = ACCEPT_PAUSE;
        loop {
            let accepted = tokio::select! {
                accepted = listener.accept() => accepted,
                _ = stop.changed() => return,
            };
            match accepted {
                Ok((stream, address)) => {
                    pause = ACCEPT_PAUSE;
                    tokio::select! {
                        () = self.admit(stream, address) => {}
                        _ = stop.changed() => return,
                    }
                }
                Err(error) => {
                    self.accept_failed(&error);
                    tokio::time::sleep(pause).await;
                    pause = (pause * 2).min(ACCEPT_PAUSE_MAX);
                }
            }
        }
    }

    fn accept_failed(&self, error: &std::io::Error) {
        // Whatever is missing, a connection holds some of it.
        self.seats.evict_one();
        let now = self.shared.deps.clock.monotonic();
        if let Some(more) = self.accept_errors.pass(now) {
            tracing::warn!(
                "cannot accept connections on the trapper port: {error} ({more} more errors since the \
                 last message). If file descriptors are missing, raise the limit (LimitNOFILE)"
            );
        }
    }

    async fn admit(self: &Arc<Self>, stream: TcpStream, address: SocketAddr) {
        let counters = &self.shared.counters;
        Counters::one(&counters.accepted);
        let ip = plain(address.ip());
        let Some(seat) = self.seats.take(ip).await else {
            Counters::one(&counters.requests_refused);
            tracing::debug!("connection from {ip} refused: it has too many open requests");
            return;
        };
        counters.connections.fetch_add(1, Ordering::Relaxed);
        let place = Place { trapper: Arc::clone(self), seat };
        tokio::spawn(async move {
            let Place { trapper, seat } = &place;
            tokio::select! {
                () = trapper.serve(stream, ip, seat) => {}
                () = seat.evicted() => {
                    Counters::one(&trapper.shared.counters.slow);
                    tracing::debug!("connection from {ip} closed: the table of connections is full");
                }
            }
        });
    }

    /// Waits until all connections are done, at most `limit`.
    pub(crate) async fn drain(&self, limit: Duration) {
        let _late = tokio::time::timeout(limit, self.seats.empty()).await;
    }
}
