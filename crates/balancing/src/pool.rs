//! Pools of servers.

use std::collections::HashSet;
use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::health::MONITORS_MAX;
use super::{ExpiredCrl, Health, Monitors, Pem, Retries, Time};

/// How a pool chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// In turn, by weight.
    #[default]
    RoundRobin,
    /// The fewest requests in flight per weight.
    LeastConnections,
    /// The shortest response time times requests in flight, per weight.
    LeastLoad,
    /// The better of two random servers, by requests in flight.
    Random,
    /// Consistent hash of the client's address.
    SourceHash,
    /// Consistent hash of path and query.
    UriHash,
    /// Consistent hash of a header.
    HeaderHash,
}

impl Algorithm {
    /// Whether a hash of something of the request chooses the server.
    pub fn hashes(self) -> bool {
        match self {
            Self::SourceHash | Self::UriHash | Self::HeaderHash => true,
            Self::RoundRobin | Self::LeastConnections | Self::LeastLoad | Self::Random => false,
        }
    }
}

/// What servers speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Protocol {
    /// HTTP/1.1, or bytes and datagrams for services of type `tcp` and `udp`.
    #[default]
    #[serde(rename = "http")]
    Http1,
    /// HTTP/2 with prior knowledge, or with ALPN if the pool has TLS. gRPC needs it.
    #[serde(rename = "h2", alias = "grpc")]
    Http2,
}

/// A group of servers.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Unique name.
    pub name: String,
    /// What the servers speak.
    #[serde(default)]
    pub protocol: Protocol,
    /// How it chooses.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Header of `header_hash`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hash_key: Option<String>,
    /// At least one.
    pub servers: Vec<Server>,
    /// Keeps a client on one server.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub persistence: Option<Persistence>,
    /// Health monitors: one, or a list.
    #[serde(default, skip_serializing_if = "Monitors::is_empty")]
    pub health: Monitors,
    /// Monitors that a server must pass; default: all.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub min_monitors: Option<NonZeroU16>,
    /// Repetition on another server.
    #[serde(default)]
    pub retries: Retries,
    /// Ejection of servers that fail.
    #[serde(default)]
    pub eject: Eject,
    /// How long the share of a server that comes back grows until it is whole; default: it is at once. Not
    /// for consistent hashes and clients that persist.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub slow_start: Option<Time>,
    /// Version of the PROXY header that servers get.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub send_proxy: Option<ProxyVersion>,
    /// TLS towards the servers.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<ServerTls>,
}

/// TLS towards servers.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct ServerTls {
    /// The authorities of the servers' certificates.
    pub ca: Pem,
    /// Certificate revocation lists of these authorities, in PEM format; default: none are checked.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crl: Option<Pem>,
    /// How servers are treated whose list has expired.
    #[serde(default, skip_serializing_if = "ExpiredCrl::is_default")]
    pub expired_crl: ExpiredCrl,
    /// Name that the certificates must have, also sent as SNI.
    pub sni: String,
}

impl ServerTls {
    /// Servers with this name and a certificate of these authorities.
    #[must_use]
    pub const fn new(ca: Pem, sni: String) -> Self {
        Self { ca, crl: None, expired_crl: ExpiredCrl::Refuse, sni }
    }
}

/// A version of the PROXY protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
pub enum ProxyVersion {
    /// Text.
    #[serde(rename = "v1")]
    V1,
    /// Binary.
    #[serde(rename = "v2")]
    V2,
}

/// One server.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Server {
    /// Unique name in the pool.
    pub name: String,
    /// Address and port.
    pub address: SocketAddr,
    /// Share of requests; 0: only clients that persist.
    #[serde(default = "one")]
    pub weight: u16,
    /// Requests (HTTP), connections (TCP) or sessions (UDP) in flight; default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub max_connections: Option<NonZeroU16>,
    /// Used if no other server is available.
    #[serde(default)]
    pub backup: bool,
    /// Set by an administrator.
    #[serde(default)]
    pub state: State,
}

fn one() -> u16 {
    1
}

/// State set by an administrator.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// In use.
    #[default]
    Up,
    /// Only clients that persist; requests in flight end.
    Drain,
    /// Not used.
    Down,
}

/// What a client is recognised by.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum PersistenceKind {
    /// A cookie that the balancer sets.
    Cookie,
    /// The client's address.
    SourceIp,
    /// The value of a header that clients send.
    Header,
}

impl PersistenceKind {
    /// Whether a hash of something of the request chooses the server.
    pub fn hashes(self) -> bool {
        match self {
            Self::SourceIp | Self::Header => true,
            Self::Cookie => false,
        }
    }
}

/// Keeps a client on one server.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Persistence {
    /// What a client is recognised by.
    #[serde(rename = "type")]
    pub kind: PersistenceKind,
    /// Name of the cookie or the header.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
}

/// Ejection of servers that fail.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Eject {
    /// Failures in a row; 0: never.
    pub failures: u16,
    /// For how long.
    #[serde(rename = "for")]
    pub time: Time,
}

impl Default for Eject {
    fn default() -> Self {
        Self { failures: 3, time: Time(Duration::from_secs(10)) }
    }
}

impl Pool {
    pub(crate) fn check_monitors(&self) -> Result<(), String> {
        let monitors = &self.health.0;
        if monitors.len() > MONITORS_MAX {
            return Err(format!("'health' has more than {MONITORS_MAX} monitors"));
        }
        let mut names = HashSet::new();
        for health in monitors {
            let named = |problem: String| match health.name.as_str() {
                "" => problem,
                name => format!("monitor '{name}': {problem}"),
            };
            health.check().map_err(named)?;
            if !health.name.is_empty() && !names.insert(&health.name) {
                return Err(format!("two monitors have the name '{}'", health.name));
            }
        }
        match self.min_monitors {
            Some(min) if usize::from(min.get()) > monitors.len() => Err(format!(
                "'min_monitors' is {min}, but the pool has {} monitors",
                monitors.len()
            )),
            _ => Ok(()),
        }
    }

    /// The monitors with their names.
    #[must_use]
    pub fn monitors(&self) -> Vec<Health> {
        self.health.named()
    }

    /// Number of monitors that a server must pass.
    #[must_use]
    pub fn monitors_needed(&self) -> usize {
        self.min_monitors.map_or(self.health.0.len(), |min| usize::from(min.get()))
    }
}
