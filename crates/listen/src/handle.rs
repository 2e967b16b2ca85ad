//! Start and stop.

use std::net::{SocketAddr, TcpListener};
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::Duration;

use tokio::net::UdpSocket;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::active::ActiveAgents;
use crate::backend::Backend;
use crate::push::Intake;
use crate::settings::ListenConfig;
use crate::shared::Shared;
use crate::trapper::Trapper;
use crate::trapper::sessions::Sessions;

/// What is in hand may take so long at a stop.
const GRACE: Duration = Duration::from_secs(1);

/// Why listeners cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// An address of the trapper is taken or does not exist.
    #[error("cannot listen on {address}: {error}")]
    Listen {
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// The address for traps is taken or does not exist.
    #[error("cannot receive SNMP traps on {address}: {error}")]
    Traps {
        address: SocketAddr,
        /// What the system says.
        error: std::io::Error,
    },
    /// The system gives no thread.
    #[error("cannot start the trapper's thread: {0}")]
    Thread(std::io::Error),
}

/// Listeners as a whole.
#[derive(Debug)]
pub struct Listener;

/// Addresses that are taken, and nobody served yet.
#[derive(Debug)]
pub struct Bound {
    config: ListenConfig,
    listeners: Vec<TcpListener>,
    addresses: Vec<SocketAddr>,
    traps: Option<UdpSocket>,
}

/// Running listeners. Dropping it stops the trapper; [`Handle::stop`] ends everything in order.
#[derive(Debug)]
pub struct Handle {
    addresses: Vec<SocketAddr>,
    trapper: Arc<Trapper>,
    stop: watch::Sender<bool>,
    tasks: Vec<JoinHandle<()>>,
    thread: std::thread::JoinHandle<()>,
}

impl std::fmt::Debug for Trapper {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("Trapper")
    }
}

impl Listener {
    /// Takes the addresses. Call it within a tokio runtime.
    pub async fn bind(config: ListenConfig) -> Result<Bound, StartError> {
        let mut listeners = Vec::new();
        let mut addresses = Vec::new();
        for address in &config.listen {
            let listen = |error| StartError::Listen { address: *address, error };
            let listener = stdx::listening::listen(*address).map_err(listen)?;
            addresses.push(listener.local_addr().map_err(listen)?);
            listeners.push(listener);
        }
        let traps = match config.snmp_traps {
            Some(address) => {
                let listen = |error| StartError::Traps { address, error };
                let socket = UdpSocket::bind(address).await.map_err(listen)?;
                tracing::info!("SNMP traps: {}", socket.local_addr().map_err(listen)?);
                Some(socket)
            }
            None => None,
        };
        Ok(Bound { config, listeners, addresses, traps })
    }
}

impl Bound {
    /// Starts to serve, with the context of `intake`. Call it within a tokio runtime with several threads: the trapper's long
    /// requests run on it, the short ones have a thread of their own.
    pub fn start(self, intake: &Intake, backend: Arc<dyn Backend>) -> Result<Handle, StartError> {
        let Self { config, listeners, addresses, traps } = self;
        let context = Arc::clone(&intake.context);
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        context.counters.trapper.workers(cores);
        context.counters.connections_max.store(config.limits.connections, Ordering::Relaxed);
        let shared = Arc::new(Shared {
            context,
            backend,
            config,
            active: ActiveAgents::default(),
            sessions: Sessions::default(),
            tables: Arc::clone(&intake.tables),
        });
        let (stop, stopped) = watch::channel(false);
        let trapper = Trapper::new(Arc::clone(&shared));
        let accepting = trapper.start(listeners, stopped.clone(), GRACE);
        let thread = accepting.map_err(StartError::Thread)?;
        let mut tasks = Vec::new();
        if let Some(socket) = traps {
            let listen = crate::traps::listen(Arc::clone(&shared), socket, stopped.clone());
            tasks.push(tokio::spawn(listen));
        }
        if let Some(path) = shared.config.snmp_trap_file.clone() {
            let read = crate::traps::read(Arc::clone(&shared), path, stopped.clone());
            tasks.push(tokio::spawn(read));
        }
        tasks.push(tokio::spawn(each_second(Arc::clone(&shared), stopped)));
        Ok(Handle { addresses, trapper, stop, tasks, thread })
    }
}

/// Samples the busy meter and forgets agents of deleted hosts, once a second.
async fn each_second(shared: Arc<Shared>, mut stop: watch::Receiver<bool>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = second.tick() => {
                let context = &shared.context;
                context.counters.trapper.sample(context.clock.monotonic());
                shared.active.follow(context.snapshots.load());
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

    /// Stops accepting, lets requests in hand finish within a second, and ends. Keep the shards
    /// running until it returns.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        self.trapper.drain(GRACE).await;
        for task in &self.tasks {
            task.abort();
        }
        let join = move || {
            if self.thread.join().is_err() {
                tracing::error!("the trapper's thread panicked");
            }
        };
        let _joined = tokio::task::spawn_blocking(join).await;
    }
}
