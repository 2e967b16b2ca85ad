//! The server's side: accepts engines, and serves each connection by a task of its own.

mod checks;
mod groups;
mod orders;
mod placement;
mod records;
mod report;
mod session;
mod tickets;

use std::collections::HashMap;
use std::net::SocketAddr;
use std::path::PathBuf;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anyhow::Context;
use config::Config;
use openssl::ssl::{Ssl, SslAcceptor, SslMethod, SslVerifyMode, SslVersion};
use socket2::{SockRef, TcpKeepalive};
use stdx::clock::SharedClock;
use stdx::seats::{Seat, Seats};
use stdx::seldom::Seldom;
use stdx::sync::lock;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::Notify;
use tokio::time::timeout;
use tokio_openssl::SslStream;
use transactions::Store;

use crate::OPENING;
use crate::analytics::Board;
use crate::authority::Authority;
use checks::Checks;
use groups::Groups;
use placement::Placer;
use tickets::Tickets;

/// Connections of all engines.
pub const CONNECTIONS_MAX: usize = 4_096;
/// Connections of engines at one address.
const CONNECTIONS_OF_SOURCE: usize = 256;
/// The kernel asks whether the other side lives after a pause, so often, and so many times.
const PROBE_AFTER: Duration = Duration::from_secs(2);
const PROBE_EVERY: Duration = Duration::from_secs(1);
const PROBES: u32 = 3;
/// Pause after an error of accept(2), and how often it is logged.
const ACCEPT_PAUSE: Duration = Duration::from_secs(1);
const LOG_EVERY: Duration = Duration::from_secs(60);

/// What all connections share.
pub(crate) struct Shared {
    pub(crate) config: Arc<Config>,
    pub(crate) records: Arc<dyn Store>,
    pub(crate) clock: SharedClock,
    pub(crate) authority: Authority,
    pub(crate) board: Arc<Board>,
    pub(crate) groups: Groups,
    pub(crate) checks: Arc<Checks>,
    pub(crate) tickets: Arc<Tickets>,
    pub(crate) placer: Arc<Placer>,
    /// The connection of each engine, so that a newer one replaces it.
    present: Mutex<HashMap<u64, Present>>,
    connections: AtomicU64,
}

struct Present {
    connection: u64,
    replaced: Arc<Notify>,
}

/// The place of an engine's connection; free when dropped.
pub(crate) struct Place {
    shared: Arc<Shared>,
    engine: u64,
    connection: u64,
    /// Notified when the engine has connected again.
    pub(crate) replaced: Arc<Notify>,
}

impl Shared {
    /// Makes a connection the one of its engine. `true`: it replaces another one.
    pub(crate) fn enter(self: &Arc<Self>, engine: u64) -> (Place, bool) {
        let connection = self.connections.fetch_add(1, Relaxed);
        let replaced = Arc::new(Notify::new());
        let present = Present { connection, replaced: Arc::clone(&replaced) };
        let before = lock(&self.present).insert(engine, present);
        self.board.connected(engine, true);
        if let Some(before) = &before {
            before.replaced.notify_one();
        }
        (Place { shared: Arc::clone(self), engine, connection, replaced }, before.is_some())
    }
}

/// Runs what blocks.
pub(crate) async fn blocking<T: Send + 'static>(
    shared: &Arc<Shared>,
    work: impl FnOnce(&Shared) -> T + Send + 'static,
) -> anyhow::Result<T> {
    let shared = Arc::clone(shared);
    Ok(tokio::task::spawn_blocking(move || work(&shared)).await?)
}

impl Place {
    /// Whether the engine has not connected again.
    fn is_newest(&self) -> bool {
        let present = lock(&self.shared.present);
        present.get(&self.engine).is_some_and(|now| now.connection == self.connection)
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        let mut present = lock(&self.shared.present);
        if present.get(&self.engine).is_some_and(|now| now.connection == self.connection) {
            present.remove(&self.engine);
            self.shared.board.connected(self.engine, false);
        }
    }
}

/// What the listener needs.
pub struct Needs {
    /// Where engines and their certificates are stored.
    pub config: Arc<Config>,
    /// Where their records are kept.
    pub records: Arc<dyn Store>,
    /// The time.
    pub clock: SharedClock,
    /// Issues certificates.
    pub authority: Authority,
    /// Where figures of engines are summed.
    pub board: Arc<Board>,
    /// Program that sets and removes TXT records for certificates by ACME.
    pub dns_hook: Option<PathBuf>,
}

/// Serves engines until dropped.
///
/// # Errors
/// OpenSSL refuses the certificate.
pub async fn serve(listener: TcpListener, needs: Needs) -> anyhow::Result<()> {
    let acceptor = acceptor(&needs).context("cannot prepare TLS for engines")?;
    let Needs { config, records, clock, authority, board, dns_hook } = needs;
    let shared = Arc::new(Shared {
        groups: Groups::new(Arc::clone(&config)),
        checks: Arc::new(Checks::new(Arc::clone(&config))),
        tickets: Arc::new(Tickets::new(Arc::clone(&config), Arc::clone(&clock))),
        placer: Arc::new(Placer::new(Arc::clone(&config), Arc::clone(&clock), Arc::clone(&board))),
        config,
        records,
        clock,
        authority,
        board,
        present: Mutex::default(),
        connections: AtomicU64::new(0),
    });
    tokio::join!(
        shared.groups.watch(),
        shared.tickets.watch(shared.groups.changes()),
        shared.tickets.rotate(),
        shared.placer.keep(shared.groups.changes()),
        orders::keep(&shared, dns_hook),
        accept(listener, acceptor, Arc::clone(&shared))
    );
    Ok(())
}

fn acceptor(needs: &Needs) -> anyhow::Result<SslAcceptor> {
    let (certificate, key) = needs.authority.server(needs.clock.unix())?;
    let authority = needs.authority.certificate();
    let mut builder = SslAcceptor::mozilla_modern_v5(SslMethod::tls_server())?;
    builder.set_min_proto_version(Some(SslVersion::TLS1_3))?;
    builder.set_certificate(&certificate)?;
    builder.set_private_key(&key)?;
    // An engine that enrols recognises the authority by its fingerprint.
    builder.add_extra_chain_cert(authority.to_owned())?;
    builder.cert_store_mut().add_cert(authority.to_owned())?;
    builder.set_session_id_context(b"vedette engines")?;
    // Without a certificate an engine can only enrol.
    builder.set_verify(SslVerifyMode::PEER);
    Ok(builder.build())
}

async fn accept(listener: TcpListener, acceptor: SslAcceptor, shared: Arc<Shared>) {
    let acceptor = Arc::new(acceptor);
    let seats = Seats::new(CONNECTIONS_MAX, CONNECTIONS_OF_SOURCE);
    let errors = Seldom::new(LOG_EVERY);
    loop {
        match listener.accept().await {
            Ok((stream, peer)) => {
                let Some(seat) = seats.take(peer.ip()).await else { continue };
                let (acceptor, shared) = (Arc::clone(&acceptor), Arc::clone(&shared));
                tokio::spawn(async move {
                    tokio::select! {
                        () = connection(stream, From { peer, seat: &seat }, acceptor, shared) => {}
                        () = seat.evicted() => {}
                    }
                });
            }
            Err(error) => {
                if let Some(more) = errors.pass(shared.clock.monotonic()) {
                    tracing::warn!(%error, more, "cannot accept connections of engines");
                }
                tokio::time::sleep(ACCEPT_PAUSE).await;
            }
        }
    }
}

/// Whom a connection comes from.
#[derive(Clone, Copy)]
pub(crate) struct From<'s> {
    pub(crate) peer: SocketAddr,
    pub(crate) seat: &'s Arc<Seat>,
}

/// A machine without power closes no connection. Its VIPs must not wait for [`crate::SILENCE`].
fn notice_failures(stream: &TcpStream) -> std::io::Result<()> {
    let probes = TcpKeepalive::new().with_time(PROBE_AFTER).with_interval(PROBE_EVERY);
    let socket = SockRef::from(stream);
    socket.set_tcp_keepalive(&probes.with_retries(PROBES))?;
    socket.set_tcp_user_timeout(Some(PROBE_AFTER + PROBE_EVERY * PROBES))
}

async fn connection(
    stream: TcpStream,
    from: From<'_>,
    acceptor: Arc<SslAcceptor>,
    shared: Arc<Shared>,
) {
    let shake = async {
        stream.set_nodelay(true)?;
        notice_failures(&stream)?;
        let mut stream = SslStream::new(Ssl::new(acceptor.context())?, stream)?;
        Pin::new(&mut stream).accept().await?;
        anyhow::Ok(stream)
    };
    let ended = match timeout(OPENING, shake).await {
        Ok(Ok(stream)) => session::serve(stream, from, &shared).await,
        Ok(Err(error)) => Err(error.context("TLS")),
        Err(_) => Err(anyhow::anyhow!("no TLS handshake within {} s", OPENING.as_secs())),
    };
    if let Err(error) = ended {
        tracing::info!(peer = %from.peer, "connection of an engine ended: {error:#}");
    }
}
