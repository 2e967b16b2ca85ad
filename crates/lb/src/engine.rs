//! The engine: threads that share nothing but the configuration.

use std::collections::HashSet;
use std::io;
use std::net::{SocketAddr, TcpListener};
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::Ordering::Relaxed;
use std::thread::JoinHandle;

use anyhow::{Context, anyhow};
use arc_swap::ArcSwap;
use stdx::clock::SharedClock;

use crate::config::{Config, Transactions};
use crate::health::Monitors;
use crate::recorder::Records;
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
    workers: Vec<JoinHandle<()>>,
    records: Option<Records>,
    fixed: Fixed,
}

/// What a running engine cannot change.
#[derive(Debug, PartialEq, Eq)]
struct Fixed {
    name: Option<String>,
    transactions: Option<Transactions>,
}

impl Fixed {
    fn of(config: &Config) -> Self {
        Self { name: config.name.clone(), transactions: config.transactions.clone() }
    }
}

/// Name of this machine.
fn machine() -> String {
    std::fs::read_to_string("/proc/sys/kernel/hostname")
        .map_or_else(|_| "engine".to_owned(), |name| name.trim().to_owned())
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
        let mut workers = Vec::new();
        let records = config.transactions.as_ref();
        let records = records.map(|config| Records::start(config, clock)).transpose()?;
        let name = config.name.clone().unwrap_or_else(machine);
        for number in 0..threads.map_or(1, std::num::NonZero::get) {
            let mut worker = Worker::new(Arc::clone(&snapshot), Arc::clone(clock))?;
            if let Some(records) = &records {
                worker.record(records.recorder(&name));
            }
            mailboxes.push(worker.mailbox());
            workers.push(stdx::thread::permanent(&format!("engine-{number}"), move || {
                if let Err(error) = worker.run() {
                    tracing::error!("a thread of the engine has ended: {error}");
                }
            })?);
        }
        let monitors = Monitors::start(Arc::clone(&snapshot), Arc::clone(clock))?;
        let fixed = Fixed::of(config);
        let listening = HashSet::new();
        let mut engine = Self { snapshot, mailboxes, listening, monitors, workers, records, fixed };
        engine.apply(config)?;
        Ok(engine)
    }

    /// Replaces the configuration; open connections stay. On an error nothing changes.
    ///
    /// # Errors
    /// Problems of the configuration, addresses that cannot be used.
    pub fn apply(&mut self, config: &Config) -> anyhow::Result<()> {
        if Fixed::of(config) != self.fixed {
            return Err(anyhow!(
                "changes of 'name' and 'transactions' need a restart of the engine"
            ));
        }
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

    /// Closes all connections, and writes the records of what was carried.
    pub fn stop(self) {
        stdx::thread::set_running(false);
        for mailbox in &self.mailboxes {
            mailbox.stop.store(true, Relaxed);
            if let Err(error) = mailbox.waker.wake() {
                tracing::error!("a thread of the engine cannot be ended: {error}");
            }
        }
        for worker in self.workers {
            let _panicked = worker.join();
        }
        if let Some(records) = self.records {
            records.end();
        }
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
