//! What the agent needs to know.

use std::net::{IpAddr, Ipv4Addr, SocketAddr};
use std::time::Duration;

use collect::tls::{self, TlsConfig};
use config::snapshot::Tls;
use wire::peers::PeerList;

use crate::alias::Aliases;
use crate::commands::Commands;
use crate::guard::FileGuard;
use crate::rules::KeyRules;

/// The version of the agent protocol that this agent speaks, part of every response.
pub const PROTOCOL_VERSION: &str = "7.0.0";

/// Parameters of the agent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct AgentConfig {
    /// Technical host names, as servers know this machine. The first is the value of `agent.hostname`;
    /// active checks are requested for each.
    pub hostnames: Vec<String>,
    /// Addresses for passive checks; none = the agent does not listen.
    pub listen: Vec<SocketAddr>,
    /// Peers that may request values.
    pub allowed: PeerList,
    /// Time limit of a check without its own, of an exchange with a server, and of a slow connection.
    pub timeout: Duration,
    /// Connections served at the same time; more wait in the kernel's queue.
    pub connections_max: usize,
    /// Which keys have values, and how.
    pub keys: KeyConfig,
    /// Active checks.
    pub active: ActiveConfig,
    /// Encryption in both directions.
    pub tls: AgentTls,
}

/// Which keys have values, and how.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct KeyConfig {
    /// Which keys are allowed.
    pub rules: KeyRules,
    /// Which files are read.
    pub files: FileGuard,
    /// Other names of keys.
    pub aliases: Aliases,
    /// Keys that run commands.
    pub commands: Commands,
}

/// Active checks.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ActiveConfig {
    /// Servers and proxies; each is a cluster of one or more nodes (`host:port`), of which one is used at a time.
    pub servers: Vec<Vec<String>>,
    /// Local address of connections to servers; `None` = the system's choice.
    pub source: Option<IpAddr>,
    /// How often the list of active checks is requested.
    pub refresh: Duration,
    /// How often the agent sends a heartbeat to a server; zero = never.
    pub heartbeat: Duration,
    /// How long a value may wait for others before it is sent.
    pub buffer_send: Duration,
    /// Values kept while a server is unavailable. Beyond this the oldest are dropped and counted in the log.
    pub buffer_values_max: usize,
    /// Host metadata for autoregistration, and the value of `agent.hostmetadata`.
    pub metadata: Detail,
    /// Address or name at which an autoregistered host is polled; empty = where its connection comes from.
    pub interface: Detail,
}

/// A text about this host.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Detail {
    /// As the configuration has it; empty = none.
    Text(String),
    /// Key of an item whose value is the text, read for each request.
    Item(String),
}

impl Default for Detail {
    fn default() -> Self {
        Self::Text(String::new())
    }
}

/// Encryption: how the agent connects to servers (`rule.connect`), what it accepts (`rule.accept`), and with
/// which PSK, files and names in certificates.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct AgentTls {
    /// Files with certificates.
    pub files: TlsConfig,
    /// Kinds of connections, PSK, and required names of peers.
    pub rule: Tls,
}

impl AgentTls {
    /// Whether a direction uses one of these kinds.
    pub(crate) const fn uses(&self, kinds: u8) -> bool {
        (self.rule.connect | self.rule.accept) & kinds != 0
    }
}

impl Default for AgentConfig {
    fn default() -> Self {
        Self {
            hostnames: vec![String::from("localhost")],
            listen: vec![SocketAddr::from((Ipv4Addr::LOCALHOST, wire::agent::PORT))],
            allowed: PeerList::parse("127.0.0.1,::1").unwrap_or_default(),
            timeout: Duration::from_secs(3),
            connections_max: 100,
            keys: KeyConfig::default(),
            active: ActiveConfig::default(),
            tls: AgentTls::default(),
        }
    }
}

impl Default for ActiveConfig {
    fn default() -> Self {
        Self {
            servers: Vec::new(),
            source: None,
            refresh: Duration::from_secs(5),
            heartbeat: Duration::from_secs(60),
            buffer_send: Duration::from_secs(5),
            buffer_values_max: 1000,
            metadata: Detail::default(),
            interface: Detail::default(),
        }
    }
}

/// Parameters that cannot be used.
#[derive(Debug, thiserror::Error)]
pub enum ConfigError {
    /// No host name.
    #[error("the agent's host name is empty: set it to the host's technical name on the server")]
    Hostname,
    /// A number or time that must not be zero.
    #[error("the agent's {0} must be above zero")]
    Zero(&'static str),
    /// The agent listens, and no peer may connect.
    #[error("the agent listens on {0} but its list of allowed peers is empty")]
    NoPeers(IpAddr),
    /// A kind of encryption without what it needs.
    #[error("TLS with {kind} requires {parameters}")]
    NoSecret {
        /// PSK or certificate.
        kind: &'static str,
        /// The missing parameters.
        parameters: &'static str,
    },
    /// A PSK or a file that cannot be used.
    #[error(transparent)]
    Tls(#[from] tls::TlsError),
}

impl AgentConfig {
    pub(crate) fn check(&self) -> Result<(), ConfigError> {
        if self.hostnames.is_empty() || self.hostnames.iter().any(String::is_empty) {
            return Err(ConfigError::Hostname);
        }
        for (name, zero) in [
            ("timeout", self.timeout.is_zero()),
            ("connections_max", self.connections_max == 0),
            ("refresh", self.active.refresh.is_zero()),
            ("buffer_send", self.active.buffer_send.is_zero()),
            ("buffer_values_max", self.active.buffer_values_max == 0),
        ] {
            if zero {
                return Err(ConfigError::Zero(name));
            }
        }
        if let Some(address) = self.listen.first()
            && self.allowed.is_empty()
        {
            return Err(ConfigError::NoPeers(address.ip()));
        }
        let (rule, files) = (&self.tls.rule, &self.tls.files);
        if self.tls.uses(tls::PSK) && (rule.psk.is_empty() || rule.psk_identity.is_empty()) {
            let parameters = "TLSPSKIdentity and TLSPSKFile";
            return Err(ConfigError::NoSecret { kind: "psk", parameters });
        }
        if self.tls.uses(tls::CERT) && files.cert_file.is_none() {
            let parameters = "TLSCAFile, TLSCertFile and TLSKeyFile";
            return Err(ConfigError::NoSecret { kind: "cert", parameters });
        }
        Ok(())
    }
}
