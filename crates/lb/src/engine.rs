//! The engine: threads that share nothing but the configuration.

use std::collections::HashSet;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;

use anyhow::{Context, anyhow};
use arc_swap::ArcSwap;
use stdx::clock::SharedClock;

use crate::config::Config;
use crate::health::Monitors;
use crate::snapshot::Snapshot;
use crate::worker::{Mailbox, Worker};

/// Connections that the system completes before the engine accepts them.
const BACKLOG: i32 = 4096;

/// Reads and checks a configuration file.
///
/// # Errors
/// The file cannot be read, or the first problems in it.
pub fn read(file: &Path) -> anyhow::Result<Config> {
    let text = std::fs::read_to_string(file)
        .with_context(|| format!("cannot read the configuration {}", file.display()))?;
    Config::parse(&text).map_err(|problem| anyhow!("{}: {problem}", file.display()))
}

/// Checks a configuration without using it.
///
/// # Errors
/// All problems, one per line.
pub fn check(config: &Config) -> anyhow::Result<()> {
    Snapshot::compile(config, None).map(drop).map_err(|problems| anyhow!(problems))
}

/// A running engine.
pub struct Engine {
    snapshot: Arc<ArcSwap<Snapshot>>,
    mailboxes: Vec<Arc<Mailbox>>,
    listening: HashSet<SocketAddr>,
    monitors: Monitors,
}

impl Engine {
    /// Starts the threads and applies a configuration.
    ///
    /// # Errors
    /// Problems of the configuration, addresses that cannot be used, missing resources.
    pub fn start(config: &Config, clock: &SharedClock) -> anyhow::Result<Self> {
        let _as_many_as_allowed = stdx::sys::raise_open_files_limit();
        let empty = Snapshot::compile(&Config::default(), None).map_err(|text| anyhow!(text))?;
        let snapshot = Arc::new(ArcSwap::from_pointee(empty));
        let threads = config.threads.or_else(|| std::thread::available_parallelism().ok());
        let mut mailboxes = Vec::new();
        for number in 0..threads.map_or(1, std::num::NonZero::get) {
            let worker = Worker::new(Arc::clone(&snapshot), Arc::clone(clock))?;
            mailboxes.push(worker.mailbox());
            stdx::thread::permanent(&format!("engine-{number}"), move || {
                if let Err(error) = worker.run() {
                    tracing::error!("a thread of the engine has ended: {error}");
                }
            })?;
        }
        let monitors = Monitors::start(Arc::clone(&snapshot), Arc::clone(clock))?;
        let mut engine = Self { snapshot, mailboxes, listening: HashSet::new(), monitors };
        engine.apply(config)?;
        Ok(engine)
    }

    /// Replaces the configuration; open connections stay. On an error nothing changes.
    ///
    /// # Errors
    /// Problems of the configuration, addresses that cannot be used.
    pub fn apply(&mut self, config: &Config) -> anyhow::Result<()> {
        let before = self.snapshot.load_full();
        let snapshot =
            Snapshot::compile(config, Some(&before)).map_err(|problems| anyhow!(problems))?;
        let wanted: HashSet<SocketAddr> =
            snapshot.services.iter().map(|service| service.listen).collect();
        let mut sockets = Vec::new();
        for address in wanted.difference(&self.listening) {
            for mailbox in &self.mailboxes {
                let socket =
                    listen(*address).with_context(|| format!("cannot listen on {address}"))?;
                sockets.push((mailbox, socket));
            }
        }
        for (mailbox, socket) in sockets {
            stdx::sync::lock(&mailbox.listeners).push(socket);
        }
        self.listening = wanted;
        self.snapshot.store(Arc::new(snapshot));
        for mailbox in &self.mailboxes {
            mailbox.waker.wake()?;
        }
        self.monitors.changed();
        Ok(())
    }
}

/// A socket of its own for each thread: the system spreads new connections.
fn listen(address: SocketAddr) -> io::Result<TcpListener> {
    use socket2::{Domain, Socket, Type};
    let socket = Socket::new(Domain::for_address(address), Type::STREAM, None)?;
    socket.set_reuse_address(true)?;
    socket.set_reuse_port(true)?;
    socket.set_nonblocking(true)?;
    socket.bind(&address.into())?;
    socket.listen(BACKLOG)?;
    Ok(socket.into())
}
