//! The built-in agent: answers the metric keys of this machine over the agent protocol.
//!
//! `listen` takes connections and reads requests, [`Agent::value`] evaluates one key, `keys` holds
//! a module per family of keys. Reading `/proc` and `/sys` is apart from parsing: every parser is
//! a pure function over the text. [`sampler`] keeps the last 15 minutes of counters for keys that
//! average. `active` asks a server what to measure and sends values by itself. [`get`] is the
//! other side of a passive check.

mod active;
mod config;
pub mod get;
mod keys;
mod listen;
pub mod sampler;

use std::sync::Arc;
use std::time::Duration;

use stdx::clock::SharedClock;
use tokio::sync::OwnedSemaphorePermit;

pub use config::{AgentConfig, ConfigError, PROTOCOL_VERSION};
pub use keys::KEY_NAMES;

/// The agent: cheap to clone, all clones share counters and configuration.
#[derive(Clone)]
pub struct Agent {
    inner: Arc<Inner>,
}

struct Inner {
    config: AgentConfig,
    clock: SharedClock,
    sampler: sampler::Sampler,
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
        Ok(Self { inner: Arc::new(Inner { config, clock, sampler }) })
    }

    /// The value of an item key, or the reason why it is not supported. Blocks: keys read files
    /// and ask file systems.
    pub fn value(&self, key: &str) -> Result<String, String> {
        keys::evaluate(self, key)
    }

    /// Evaluates on a thread of its own. A check that hangs in the kernel keeps its `slot`, so
    /// that hanging checks are never more than slots.
    pub(crate) async fn value_within(
        &self,
        key: String,
        timeout: Duration,
        slot: OwnedSemaphorePermit,
    ) -> Result<String, String> {
        let agent = self.clone();
        let task = tokio::task::spawn_blocking(move || {
            let value = agent.value(&key);
            drop(slot);
            value
        });
        match tokio::time::timeout(timeout, task).await {
            Ok(Ok(value)) => value,
            Ok(Err(_)) => Err(String::from("The check failed unexpectedly; see the agent's log.")),
            Err(_) => Err(format!("Timeout while evaluating the item: {} s.", timeout.as_secs())),
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
