//! The trapper port: one request per connection, any number of connections at one time, within
//! the limits of [`crate::Limits`]. Short plain requests are answered by [one thread](quick), all
//! others by tasks.

mod begun;
mod conn;
mod dispatch;
pub(crate) mod matching;
mod quick;
pub(crate) mod sessions;

use std::future::Future;
use std::net::{IpAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use stdx::seats::{Seat, Seats};
use stdx::seldom::Seldom;
use tokio::runtime::Handle;
use tokio::sync::{Semaphore, watch};

use begun::Begun;
use quick::Quick;

use crate::shared::Shared;
use collect::counters::Counters;

/// Pause after an error of accept(2), mostly for lack of file descriptors. It doubles with each further
/// error.
const ACCEPT_PAUSE: Duration = Duration::from_millis(50);
const ACCEPT_PAUSE_MAX: Duration = Duration::from_secs(1);
/// How often such errors are logged.
const ACCEPT_LOG_EVERY: Duration = Duration::from_secs(60);

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
        self.trapper.shared.context.counters.connections.fetch_sub(1, Ordering::Relaxed);
    }
}

impl Place {
    /// Serves a connection of `ip` by a task.
    fn serve(self, runtime: &Handle, stream: Begun, ip: IpAddr) {
        let (trapper, seat) = (Arc::clone(&self.trapper), Arc::clone(&self.seat));
        self.task(runtime, ip, async move { trapper.serve(stream, ip, &seat).await });
    }

    /// A task that keeps this place to its end, or until another needs it.
    fn task(self, runtime: &Handle, ip: IpAddr, work: impl Future<Output = ()> + Send + 'static) {
        drop(runtime.spawn(async move {
            tokio::select! {
                () = work => {}
                () = self.seat.evicted() => self.lost(ip),
            }
        }));
    }

    /// Another has needed this place.
    fn lost(&self, ip: IpAddr) {
        Counters::one(&self.trapper.shared.context.counters.slow);
        tracing::debug!("connection from {ip} closed: the table of connections is full");
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

    /// Starts the thread that accepts until told to stop; what is in hand then may take `grace`. Call it
    /// within a tokio runtime.
    pub(crate) fn start(
        self: &Arc<Self>,
        listeners: Vec<TcpListener>,
        stop: watch::Receiver<bool>,
        grace: Duration,
    ) -> std::io::Result<std::thread::JoinHandle<()>> {
        let quick = Quick::new(Arc::clone(self), Handle::current(), listeners)?;
        stdx::thread::permanent("trapper", move || quick.run(stop, grace))
    }

    fn accept_failed(&self, error: &std::io::Error) {
        // Whatever is missing, a connection holds some of it.
        self.seats.evict_one();
        let now = self.shared.context.clock.monotonic();
        if let Some(more) = self.accept_errors.pass(now) {
            tracing::warn!(
                "cannot accept connections on the trapper port: {error} ({more} more errors since the \
                 last message). If file descriptors are missing, raise the limit (LimitNOFILE)"
            );
        }
    }

    /// The place of a connection of `ip`; `None` = there was no seat for it.
    fn place(self: &Arc<Self>, seat: Option<Arc<Seat>>, ip: IpAddr) -> Option<Place> {
        let counters = &self.shared.context.counters;
        let Some(seat) = seat else {
            Counters::one(&counters.requests_refused);
            tracing::debug!("connection from {ip} refused: it has too many open requests");
            return None;
        };
        counters.connections.fetch_add(1, Ordering::Relaxed);
        Some(Place { trapper: Arc::clone(self), seat })
    }

    /// Waits until all connections are done, at most `limit`.
    pub(crate) async fn drain(&self, limit: Duration) {
        let _late = tokio::time::timeout(limit, self.seats.empty()).await;
    }
}
