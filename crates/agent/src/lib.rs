//! The built-in agent: answers the metric keys of this machine over the agent protocol.
//!
//! `listen` takes connections and reads requests, [`Agent::value`] evaluates one key, `keys` holds
//! a module per family of keys. Reading `/proc` and `/sys` is apart from parsing: every parser is
//! a pure function over the text. [`sampler`] keeps the last 15 minutes of counters for keys that
//! average. `active` asks a server what to measure and sends values by itself. [`get`] is the
//! other side of a passive check.

mod active;
mod config;
mod deadline;
pub mod get;
mod guard;
mod keys;
mod listen;
mod rules;
pub mod sampler;

use std::sync::Arc;
use std::time::Duration;

use stdx::clock::SharedClock;
use tokio::sync::Semaphore;

use deadline::{Deadline, timed_out};

pub use config::{AgentConfig, ConfigError, PROTOCOL_VERSION};
pub use guard::FileGuard;
pub use keys::KEY_NAMES;
pub use rules::{KeyRules, RuleError};

/// Checks that are evaluated concurrently. A check that hangs in the kernel (a file server that is
/// down) keeps its thread, and these are the most threads that can be lost so.
const CHECKS_MAX: usize = 32;

/// The agent: cheap to clone, all clones share counters and configuration.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    config: AgentConfig,
    clock: SharedClock,
    sampler: sampler::Sampler,
    /// One permit for each check that is being evaluated.
    checks: Arc<Semaphore>,
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
        let checks = Arc::new(Semaphore::new(CHECKS_MAX));
        Ok(Self { inner: Arc::new(Inner { config, clock, sampler, checks }) })
    }

    /// The value of an item key, or the reason why it is not supported. Blocks: keys read files
    /// and ask file systems.
    pub fn value(&self, key: &str) -> Result<String, String> {
        self.value_until(key, Deadline::after(self.inner.config.timeout, &self.inner.clock))
    }

    fn value_until(&self, key: &str, deadline: Deadline) -> Result<String, String> {
        keys::evaluate(self, key, deadline)
    }

    /// Evaluates on a thread of its own. The thread ends soon after the time is over, unless the
    /// kernel holds it: then it keeps its permit.
    pub(crate) async fn value_within(
        &self,
        key: String,
        timeout: Duration,
    ) -> Result<String, String> {
        let deadline = Deadline::after(timeout, &self.inner.clock);
        if keys::is_instant(&key) {
            return self.value_until(&key, deadline);
        }
        let agent = self.clone();
        let evaluated = async move {
            let permit = Arc::clone(&agent.inner.checks).acquire_owned().await;
            tokio::task::spawn_blocking(move || {
                let value = agent.value_until(&key, deadline);
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

    /// Listens on the configured address.
    pub async fn bind(&self) -> std::io::Result<tokio::net::TcpListener> {
        tokio::net::TcpListener::bind(self.inner.config.listen).await
    }

    /// Serves passive checks on `listener`, samples counters, and sends active checks where a
    /// server is configured. Ends when dropped: all connections are then closed.
    pub async fn run(&self, listener: tokio::net::TcpListener) {
        let local = listener.local_addr().ok();
        let mut tasks = tokio::task::JoinSet::new();
        let agent = self.clone();
        tasks.spawn(async move { sampler::run(&agent).await });
        for server in &self.inner.config.server_active {
            let (agent, server) = (self.clone(), server.clone());
            tasks.spawn(async move { active::run(&agent, &server, local).await });
        }
        listen::serve(self, listener).await;
    }
}
