//! Start and stop.

use std::net::SocketAddr;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use stdx::kerberos::Tickets;
use stdx::queue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::Status;
use crate::availability::Availability;
use crate::counters::Counters;
use crate::deps::Deps;
use crate::peers::PeerNames;
use crate::poll::host_keys::HostKeys;
use crate::poll::http::Client;
use crate::poll::icmp::Pinger;
use crate::poll::odbc::Helpers;
use crate::poll::simple::Simple;
use crate::poll::vmware::Services;
use crate::poll::{self, Command, Reply, Sockets};
use crate::resolver::Resolver;
use crate::settings::CollectorConfig;
use crate::sink::Sink;
use crate::status::Shared;
use crate::tls::{PskTable, TlsContexts, TlsError};
use crate::trapper::Trapper;
use crate::trapper::active::ActiveAgents;
use crate::trapper::expected::ExpectedValues;
use crate::trapper::matching::KeyGuesses;
use crate::trapper::sessions::Sessions;

/// What is in hand may take so long at a stop.
const GRACE: Duration = Duration::from_secs(1);
/// Descriptors that checks leave to everything else.
const FILES_KEPT: usize = 2_000;
/// With fewer open files something will be missing sooner or later.
const FILES_FEW: u64 = 10_000;
/// Checks in flight that are possible wherever a process may open a few thousand files.
const CHECKS_WANTED: usize = 70_000;
const COMMANDS: usize = 64;

/// Why collection cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address of the trapper is taken or not there.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// The address for traps is taken or not there.
    #[error("cannot receive SNMP traps on {address}: {error}")]
    Traps {
        /// The address.
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// Certificates cannot be used.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// The system gives no thread.
    #[error("cannot start a poller's thread: {0}")]
    Thread(std::io::Error),
}

/// Collection as a whole.
#[derive(Debug)]
pub struct Collector;

/// Running collection. Dropping it stops the listener; [`Handle::stop`] ends everything in order.
#[derive(Debug)]
pub struct Handle {
    status: Status,
    addresses: Vec<SocketAddr>,
    trapper: Arc<Trapper>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl std::fmt::Debug for Trapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trapper")
    }
}

impl Collector {
    /// Binds the trapper, starts the pollers. Call it within a tokio runtime with several
    /// threads: the trapper's long requests run on it, the short ones and the pollers have threads
    /// of their own.
    pub async fn start(mut config: CollectorConfig, deps: Deps) -> Result<Handle, StartError> {
        let psk = Arc::new(PskTable::new(Arc::clone(&deps.snapshots), Arc::clone(&deps.backend)));
        let tls = TlsContexts::new(&config.tls, psk)?;
        let mut listeners = Vec::new();
        let mut addresses = Vec::new();
        for address in &config.listen {
            let listen = |error| StartError::Listen { address: *address, error };
            let listener = Trapper::bind(*address).map_err(listen)?;
            addresses.push(listener.local_addr().map_err(listen)?);
            listeners.push(listener);
        }
        let traps = match config.snmp_traps {
            Some(address) => {
                let listen = |error| StartError::Traps { address, error };
                let socket = tokio::net::UdpSocket::bind(address).await.map_err(listen)?;
                tracing::info!("SNMP traps: {}", socket.local_addr().map_err(listen)?);
                Some(socket)
            }
            None => None,
        };
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = config.pollers.unwrap_or(cores).max(1);
        let (pollers, commands): (Vec<_>, Vec<_>) =
            (0..count).map(|_| queue::bounded("poller commands", COMMANDS)).unzip();
        let remembered = std::mem::take(&mut config.remembered);
        let pinger = Pinger::new(Arc::clone(&deps.clock), config.source_ip);
        let runtime = tokio::runtime::Handle::current();
        let host_keys = HostKeys::new(config.ssh_host_keys, config.ssh_known_hosts.clone());
        let odbc = Helpers::new(config.odbc_program.clone(), runtime);
        let resolver = Resolver::new(Arc::clone(&deps.clock));
        let tickets = Tickets::new(Arc::clone(&deps.clock));
        let vmware = Services::new(Arc::clone(&deps.clock), {
            let clock = Arc::clone(&deps.clock);
            let (resolver, tickets) = (resolver.clone(), tickets.clone());
            let (source, web) = (config.source_ip, config.web.clone());
            Arc::new(move || {
                let (resolver, tickets) = (resolver.clone(), tickets.clone());
                Client::new(clock.clone(), resolver, tickets, source, web.clone())
            })
        });
        let shared = Arc::new(Shared {
            sink: Sink::new(deps.shards.clone()),
            deps,
            config,
            counters: Counters::default(),
            availability: Availability::default(),
            active: ActiveAgents::default(),
            expected: ExpectedValues::default(),
            sessions: Sessions::default(),
            guesses: KeyGuesses::default(),
            names: PeerNames::default(),
            resolver,
            tickets,
            tls,
            pinger,
            simple: Simple::default(),
            odbc,
            vmware,
            host_keys,
            pollers,
            trap_position: Mutex::new(remembered.trap_file),
        });
        shared.active.restore(remembered.log_positions);
        shared.availability.restore(remembered.interfaces);
        shared.counters.pollers(count);
        shared.counters.trapper.workers(cores);
        let mut threads = start_pollers(&shared, commands)?;
        let (stop, stopped) = watch::channel(false);
        let trapper = Trapper::new(Arc::clone(&shared));
        let accepting = trapper.start(listeners, stopped.clone(), GRACE);
        threads.push(accepting.map_err(StartError::Thread)?);
        let mut tasks = Vec::new();
        if let Some(socket) = traps {
            let listen = crate::traps::listen(Arc::clone(&shared), socket, stopped.clone());
            tasks.push(tokio::spawn(listen));
        }
        if let Some(path) = shared.config.snmp_trap_file.clone() {
            let read = crate::traps::read(Arc::clone(&shared), path, stopped.clone());
            tasks.push(tokio::spawn(read));
        }
        threads.push(start_discovery(&shared, stopped.clone())?);
        tasks.push(tokio::spawn(sample(Arc::clone(&shared), stopped)));
        let status = Status(shared);
        Ok(Handle { status, addresses, trapper, stop, tasks, threads })
    }
}

fn start_pollers(
    shared: &Arc<Shared>,
    commands: Vec<queue::Receiver<Command>>,
) -> Result<Vec<std::thread::JoinHandle<()>>, StartError> {
    let files = stdx::sys::raise_open_files_limit().unwrap_or(1024);
    if files < FILES_FEW {
        tracing::warn!(
            "this process may open {files} files: raise the hard limit (ulimit -Hn, or LimitNOFILE \
             of the service) for many concurrent connections"
        );
    }
    let files = usize::try_from(files).unwrap_or(usize::MAX);
    let checks = files.saturating_sub(FILES_KEPT).max(files / 2);
    let each = |of: usize| (of / commands.len().max(1)).max(1);
    let sockets = Sockets { here: each(checks), wanted: each(checks.max(CHECKS_WANTED)), files };
    let start = |(number, commands)| {
        let shared = Arc::clone(shared);
        let body = move || poll::run(shared, number, sockets, commands);
        stdx::thread::permanent(&format!("poller-{number}"), body).map_err(StartError::Thread)
    };
    commands.into_iter().enumerate().map(start).collect()
}

fn start_discovery(
    shared: &Arc<Shared>,
    stop: watch::Receiver<bool>,
) -> Result<std::thread::JoinHandle<()>, StartError> {
    let shared = Arc::clone(shared);
    stdx::thread::permanent("discoverer", move || crate::discovery::run(shared, stop))
        .map_err(StartError::Thread)
}

/// Samples the busy meters once a second.
async fn sample(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = second.tick() => {
                let now = shared.deps.clock.monotonic();
                shared.counters.sample(now);
                shared.pinger.busy().sample(now);
            }
            _ = stop.changed() => return,
        }
    }
}

impl Handle {
    /// Where the trapper listens (with the real port where 0 was asked for).
    pub fn addresses(&self) -> &[SocketAddr] {
        &self.addresses
    }

    /// What others read and ask.
    pub fn status(&self) -> Status {
        self.status.clone()
    }

    /// Stops accepting, lets requests and checks in hand finish within a second, and ends. Keep
    /// the shards running until it returns.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        let pollers = async {
            for poller in &self.status.0.pollers {
                let (reply, answer) = Reply::new();
                if poller.send(Command::Stop { grace: GRACE, reply }).await.is_ok() {
                    let _ended = answer.await;
                }
            }
        };
        tokio::join!(self.trapper.drain(GRACE), pollers);
        for task in &self.tasks {
            task.abort();
        }
        let join = move || {
            for thread in self.threads {
                if thread.join().is_err() {
                    tracing::error!("a collector thread panicked");
                }
            }
        };
        let _joined = tokio::task::spawn_blocking(join).await;
    }
}
