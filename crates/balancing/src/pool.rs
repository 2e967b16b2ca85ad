//! Pools of servers.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::time::Duration;

use serde::{Deserialize, Serialize};

use super::{Pem, Time};

/// How a pool chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Algorithm {
    /// In turn, by weight.
    #[default]
    RoundRobin,
    /// The fewest requests in flight per weight.
    LeastConnections,
    /// The better of two random servers, by requests in flight.
    Random,
    /// Consistent hash of the client's address.
    SourceHash,
    /// Consistent hash of path and query.
    UriHash,
    /// Consistent hash of a header.
    HeaderHash,
}

/// What servers speak.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
pub enum Protocol {
    /// HTTP/1.1, or bytes for services of type `tcp`.
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
    /// Health monitor.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub health: Option<Health>,
    /// Repetition on another server.
    #[serde(default)]
    pub retries: Retries,
    /// Ejection of servers that fail.
    #[serde(default)]
    pub eject: Eject,
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
    /// Name that the certificates must have, also sent as SNI.
    pub sni: String,
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
    /// Requests (HTTP) or connections (TCP) in flight; default: unlimited.
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

/// What a monitor checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthKind {
    /// A connection is established.
    Tcp,
    /// A request is served as expected.
    Http,
}

/// A health monitor.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Health {
    /// What is checked.
    #[serde(rename = "type")]
    pub kind: HealthKind,
    /// Target of the request.
    #[serde(default = "root")]
    pub path: String,
    /// Expected status.
    #[serde(default = "ok")]
    pub status: u16,
    /// Text that the first 16 KiB of the response contain.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub body: Option<String>,
    /// Time between two checks.
    #[serde(default = "five_seconds")]
    pub interval: Time,
    /// Time of one check.
    #[serde(default = "two_seconds")]
    pub timeout: Time,
    /// Successes until the server is used.
    #[serde(default = "two")]
    pub up: u16,
    /// Failures until the server is no longer used.
    #[serde(default = "three")]
    pub down: u16,
}

fn root() -> String {
    "/".to_owned()
}
fn ok() -> u16 {
    200
}
fn two() -> u16 {
    2
}
fn three() -> u16 {
    3
}
fn five_seconds() -> Time {
    Time(Duration::from_secs(5))
}
fn two_seconds() -> Time {
    Time(Duration::from_secs(2))
}

/// What a request is repeated for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum RetryOn {
    /// No connection: the server has seen nothing.
    Connect,
    /// The connection ended before a response; only idempotent methods.
    Closed,
    /// No response in time; only idempotent methods.
    Timeout,
}

/// Repetition on another server.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Retries {
    /// Repetitions of one request.
    pub count: u8,
    /// Reasons.
    pub on: Vec<RetryOn>,
    /// Repetitions per 100 requests of the pool, beyond the first ten in ten seconds.
    pub budget_percent: u8,
}

impl Default for Retries {
    fn default() -> Self {
        Self { count: 1, on: vec![RetryOn::Connect], budget_percent: 20 }
    }
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
