//! The built-in agent: answers the metric keys of this machine over the agent protocol.
//!
//! `listen` takes connections and reads requests, [`Agent::value`] evaluates one key, `keys` holds
//! a module per family of keys, `commands` the keys that run commands. Reading `/proc` and `/sys` is
//! apart from parsing: every parser is a pure function over the text. [`sampler`] keeps the last 15
//! minutes of counters for keys that average. `active` requests active checks from servers and sends
//! their values through `dial`. [`get`] is the other side of a passive check. [`conf`] reads files
//! such as `zabbix_agentd.conf`, `print` shows values as `zabbix_agentd -p`.

mod active;
mod alias;
mod commands;
pub mod conf;
mod config;
mod deadline;
mod dial;
mod errors;
pub mod get;
mod guard;
mod keys;
mod listen;
pub mod print;
mod rules;
pub mod sampler;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use stdx::clock::SharedClock;
use tokio::sync::Semaphore;

use deadline::{Deadline, timed_out};
use keys::Source;

pub use crate::config::{
    ActiveConfig, AgentConfig, AgentTls, ConfigError, Detail, KeyConfig, PROTOCOL_VERSION,
};
pub use alias::{AliasError, Aliases};
pub use commands::{CommandError, Commands, SystemRun};
pub use guard::FileGuard;
pub use keys::KEY_NAMES;
pub use rules::{KeyRules, RuleError};

/// Checks on threads that are evaluated concurrently. A check that hangs in the kernel (a file server
/// that is down) keeps its thread, and these are the most threads that can be lost so.
const THREADS_MAX: usize = 32;
/// Commands that run concurrently.
const COMMANDS_MAX: usize = 100;

/// The agent: cheap to clone, all clones share counters and configuration.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    config: AgentConfig,
    clock: SharedClock,
    sampler: sampler::Sampler,
    dialer: dial::Dialer,
    /// One permit for each check that is being evaluated on a thread.
    threads: Arc<Semaphore>,
    /// One permit for each command that runs.
    commands: Semaphore,
}

impl std::fmt::Debug for Agent {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Agent").field("config", &self.inner.config).finish_non_exhaustive()
    }
}

impl Agent {
    /// An agent that has taken its first sample of the counters and does nothing else yet.
    pub fn new(config: AgentConfig, clock: SharedClock) -> Result<Self, ConfigError> {
        config.check()?;
        let sampler = sampler::Sampler::default();
        sampler.sample();
        let dialer = dial::Dialer::new(&config)?;
        let threads = Arc::new(Semaphore::new(THREADS_MAX));
        let commands = Semaphore::new(COMMANDS_MAX);
        Ok(Self { inner: Arc::new(Inner { config, clock, sampler, dialer, threads, commands }) })
    }

    /// The value of an item key within the configured time limit, or the reason why it is not supported.
    pub async fn value(&self, key: &str) -> Result<String, String> {
        self.value_within(key, keys::Origin::Server, self.inner.config.timeout).await
    }

    /// The value of `HostnameItem` and similar parameters, to which rules do not apply.
    pub async fn own_value(&self, key: &str) -> Result<String, String> {
        self.value_within(key, keys::Origin::Own, self.inner.config.timeout).await
    }

    pub(crate) async fn value_within(
        &self,
        key: &str,
        origin: keys::Origin,
        timeout: Duration,
    ) -> Result<String, String> {
        let deadline = Deadline::after(timeout, &self.inner.clock);
        match keys::find(self, key, origin)? {
            Source::Command(job) => {
                let permit = tokio::time::timeout(timeout, self.inner.commands.acquire()).await;
                let _permit = permit.map_err(|_| timed_out(timeout))?;
                job.run(deadline.left()).await
            }
            Source::Key(key, parsed) if key.is_instant() => key.value(self, &parsed, deadline),
            Source::Key(key, parsed) => {
                let agent = self.clone();
                let work = move |deadline| key.value(&agent, &parsed, deadline);
                self.on_thread(work, deadline, timeout).await
            }
        }
    }

    /// Works on a thread. It ends soon after the time is over, unless the kernel holds it: then it keeps
    /// its permit.
    async fn on_thread(
        &self,
        work: impl FnOnce(Deadline) -> Result<String, String> + Send + 'static,
        deadline: Deadline,
        timeout: Duration,
    ) -> Result<String, String> {
        let threads = Arc::clone(&self.inner.threads);
        let evaluated = async move {
            let permit = threads.acquire_owned().await;
            tokio::task::spawn_blocking(move || {
                let value = work(deadline);
                drop(permit);
                value
            })
            .await
        };
        match tokio::time::timeout(timeout, evaluated).await {
            Ok(Ok(value)) => value,
            Ok(Err(_)) => Err(String::from("The check failed unexpectedly; see the agent's log.")),
            Err(_) => Err(timed_out(timeout)),
        }
    }

    /// Its configuration.
    pub fn config(&self) -> &AgentConfig {
        &self.inner.config
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    pub(crate) fn sampler(&self) -> &sampler::Sampler {
        &self.inner.sampler
    }

    pub(crate) fn dialer(&self) -> &dial::Dialer {
        &self.inner.dialer
    }

    /// Listens on the configured addresses.
    pub fn bind(&self) -> std::io::Result<Vec<tokio::net::TcpListener>> {
        let listen = |address: &SocketAddr| {
            let listener = stdx::listening::listen(*address).map_err(|error| {
                std::io::Error::new(error.kind(), format!("{address}: {error}"))
            })?;
            tokio::net::TcpListener::from_std(listener)
        };
        self.inner.config.listen.iter().map(listen).collect()
    }

    /// Serves passive checks on `listeners`, samples counters, and sends values of active checks where
    /// a server is configured. Ends when dropped: all connections are then closed.
    pub async fn run(&self, listeners: Vec<tokio::net::TcpListener>) {
        let local = listeners.first().and_then(|listener| listener.local_addr().ok());
        let mut tasks = tokio::task::JoinSet::new();
        let agent = self.clone();
        tasks.spawn(async move { sampler::run(&agent).await });
        for cluster in &self.inner.config.active.servers {
            for host in &self.inner.config.hostnames {
                let (agent, cluster, host) = (self.clone(), cluster.clone(), host.clone());
                tasks.spawn(async move { active::run(&agent, &cluster, &host, local).await });
            }
        }
        listen::serve(self, listeners).await;
    }
}
