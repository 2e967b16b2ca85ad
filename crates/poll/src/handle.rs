//! Start and stop.

use std::sync::Arc;
use std::time::Duration;

use collect::Context;
use model::DiscoveryResult;
use stdx::kerberos::Tickets;
use stdx::queue;
use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::checks::check::Shared;
use crate::discovery::{self, Discoverer};
use crate::engines::Engines;
use crate::poller::{self, Command, Reply, Sockets, Work};
use crate::settings::PollConfig;
use crate::sides::{Internals, Scripts};
use crate::status::{Running, Status};

/// What is in hand may take so long at a stop.
const GRACE: Duration = Duration::from_secs(1);
/// Descriptors that checks leave to everything else.
const FILES_KEPT: usize = 2_000;
/// With fewer open files something will be missing sooner or later.
const FILES_FEW: u64 = 10_000;
/// Checks in flight that are possible wherever a process may open a few thousand files.
const CHECKS_WANTED: usize = 70_000;
const COMMANDS: usize = 64;

/// Why pollers cannot start.
#[derive(Debug, thiserror::Error)]
pub enum StartError {
    /// The system gives no thread.
    #[error("cannot start a poller's thread: {0}")]
    Thread(std::io::Error),
}

/// What pollers need of the rest of the server.
#[derive(Clone)]
pub struct Deps {
    /// Figures of internal items.
    pub internals: Arc<dyn Internals>,
    /// Who runs scripts.
    pub scripts: Arc<dyn Scripts>,
    /// Where network discovery tells what it found; `None` = nobody wants to know.
    pub discovered: Option<queue::Sender<DiscoveryResult>>,
}

impl std::fmt::Debug for Deps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deps").finish_non_exhaustive()
    }
}

/// Pollers as a whole.
#[derive(Debug)]
pub struct Pollers;

/// Running pollers; [`Handle::stop`] ends them.
#[derive(Debug)]
pub struct Handle {
    status: Status,
    stop: watch::Sender<bool>,
    sampling: JoinHandle<()>,
    threads: Vec<std::thread::JoinHandle<()>>,
}

impl Pollers {
    /// Starts the pollers and network discovery. Call it within a tokio runtime: what outlives a
    /// check runs on it.
    pub fn start(
        config: PollConfig,
        context: Arc<Context>,
        deps: Deps,
    ) -> Result<Handle, StartError> {
        let Deps { internals, scripts, discovered } = deps;
        let cores = std::thread::available_parallelism().map_or(1, usize::from);
        let count = config.pollers.unwrap_or(cores).max(1);
        let (pollers, commands): (Vec<_>, Vec<_>) =
            (0..count).map(|_| queue::bounded("poller commands", COMMANDS)).unzip();
        let tickets = Tickets::new(Arc::clone(&context.clock));
        context.counters.pollers(count);
        let shared = Arc::new(Shared { context, config, tickets });
        let engines = Arc::new(Engines::new(&shared, scripts, internals));
        let running = Arc::new(Running {
            shared: Arc::clone(&shared),
            engines: Arc::clone(&engines),
            pollers,
        });
        let mut threads = start_pollers(&running, commands)?;
        let (stop, stopped) = watch::channel(false);
        let discovery = Discoverer { shared, engines, discovered };
        threads.push(start_discovery(discovery, stopped.clone())?);
        let sampling = tokio::spawn(sample(Arc::clone(&running), stopped));
        Ok(Handle { status: Status(running), stop, sampling, threads })
    }
}

fn start_pollers(
    running: &Arc<Running>,
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
    let of = commands.len();
    let start = |(number, commands)| {
        let work = Work {
            shared: Arc::clone(&running.shared),
            engines: Arc::clone(&running.engines),
            number,
            of,
        };
        let body = move || poller::run(work, sockets, commands);
        stdx::thread::permanent(&format!("poller-{number}"), body).map_err(StartError::Thread)
    };
    commands.into_iter().enumerate().map(start).collect()
}

fn start_discovery(
    discovery: Discoverer,
    stop: watch::Receiver<bool>,
) -> Result<std::thread::JoinHandle<()>, StartError> {
    stdx::thread::permanent("discoverer", move || discovery::run(discovery, stop))
        .map_err(StartError::Thread)
}

/// Samples the busy meters once a second.
async fn sample(running: Arc<Running>, mut stop: watch::Receiver<bool>) {
    let mut second = tokio::time::interval(Duration::from_secs(1));
    loop {
        tokio::select! {
            _ = second.tick() => {
                let context = &running.shared.context;
                let now = context.clock.monotonic();
                context.counters.sample(now);
                running.engines.pinger().busy().sample(now);
            }
            _ = stop.changed() => return,
        }
    }
}

impl Handle {
    /// What others read and ask.
    pub fn status(&self) -> Status {
        self.status.clone()
    }

    /// Lets checks in hand finish within a second, and ends. Keep the shards running until it
    /// returns.
    pub async fn stop(self) {
        let _ = self.stop.send(true);
        for poller in &self.status.0.pollers {
            let (reply, answer) = Reply::new();
            if poller.send(Command::Stop { grace: GRACE, reply }).await.is_ok() {
                let _ended = answer.await;
            }
        }
        self.sampling.abort();
        let join = move || {
            for thread in self.threads {
                if thread.join().is_err() {
                    tracing::error!("a poller's thread panicked");
                }
            }
        };
        let _joined = tokio::task::spawn_blocking(join).await;
    }
}
