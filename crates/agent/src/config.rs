//! What the agent needs to know.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use wire::peers::PeerList;

use crate::guard::FileGuard;
use crate::rules::KeyRules;

/// The version of the agent protocol that this agent speaks; told in every answer.
pub const PROTOCOL_VERSION: &str = "7.0.0";

/// Parameters of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// Technical host name, as the server knows this machine.
    pub hostname: String,
    /// Text for autoregistration, and the value of `agent.hostmetadata`.
    pub host_metadata: String,
    /// Where passive checks are answered.
    pub listen: SocketAddr,
    /// Who may ask.
    pub allowed: PeerList,
    /// Which keys are answered.
    pub rules: KeyRules,
    /// Which files are read.
    pub files: FileGuard,
    /// How long a check may take if the request does not say, and a connection may wait.
    pub timeout: Duration,
    /// Connections served at the same time; more wait in the kernel's queue.
    pub connections_max: usize,
    /// Servers (`host:port`) asked for active checks; none by default.
    pub server_active: Vec<String>,
    /// How often active checks are asked for again.
    pub refresh_active: Duration,
    /// How often the agent sends a heartbeat to a server; zero = never.
    pub heartbeat: Duration,
    /// How long a value may wait for others before it is sent.
    pub buffer_send: Duration,
    /// Values kept while a server is unavailable. Beyond this the oldest are dropped and counted in the log.
    pub buffer_values_max: usize,
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            hostname: String::from("localhost"),
            host_metadata: String::new(),
            listen: SocketAddr::from((Ipv4Addr::LOCALHOST, wire::agent::PORT)),
            allowed: PeerList::parse("127.0.0.1,::1").unwrap_or_default(),
            rules: KeyRules::default(),
            files: FileGuard::default(),
            timeout: Duration::from_secs(3),
            connections_max: 100,
            server_active: Vec::new(),
            refresh_active: Duration::from_secs(5),
            heartbeat: Duration::from_secs(60),
            buffer_send: Duration::from_secs(5),
            buffer_values_max: 1000,
        }
    }
}

/// A parameter that cannot be.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ConfigError {
    /// No host name.
    #[error("the agent's host name is empty: set it to the host's technical name on the server")]
    Hostname,
    /// A number or time that must not be zero.
    #[error("the agent's {0} must be above zero")]
    Zero(&'static str),
    /// Everybody may reach the port, nobody may ask.
    #[error("the agent listens on {0} but its list of allowed peers is empty")]
    NoPeers(IpAddr),
}

impl AgentConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.hostname.is_empty() {
            return Err(ConfigError::Hostname);
        }
        for (name, zero) in [
            ("timeout", self.timeout.is_zero()),
            ("connections_max", self.connections_max == 0),
            ("refresh_active", self.refresh_active.is_zero()),
            ("buffer_send", self.buffer_send.is_zero()),
            ("buffer_values_max", self.buffer_values_max == 0),
        ] {
            if zero {
                return Err(ConfigError::Zero(name));
            }
        }
        if self.allowed.is_empty() {
            return Err(ConfigError::NoPeers(self.listen.ip()));
        }
        Ok(())
    }
}
