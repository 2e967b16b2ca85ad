//! The configuration file: YAML, typed. Unknown members are errors, because a misspelt limit that is
//! ignored is a limit that does not hold.

use std::net::{IpAddr, SocketAddr};
use std::num::{NonZeroU16, NonZeroUsize};
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Deserializer, de};

/// A whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Number of threads that forward; default: one per CPU.
    #[serde(default)]
    pub threads: Option<NonZeroUsize>,
    /// Certificates by name.
    #[serde(default)]
    pub certificates: Vec<Certificate>,
    /// What clients connect to.
    pub virtual_services: Vec<VirtualService>,
    /// Groups of servers.
    pub pools: Vec<Pool>,
}

impl Config {
    /// Parses a file's text.
    ///
    /// # Errors
    /// The line, the member, and the members that exist there.
    pub fn parse(text: &str) -> Result<Self, String> {
        serde_saphyr::from_str(text).map_err(|error| error.to_string())
    }
}

/// A certificate with its key.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Name in `tls.certificates`.
    pub name: String,
    /// PEM file: the certificate, then its chain.
    pub cert: PathBuf,
    /// PEM file of the private key.
    pub key: PathBuf,
}

/// What a virtual service understands of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// HTTP/1.1: each request is balanced.
    Http,
    /// Bytes: each connection is balanced.
    Tcp,
}

/// An address that clients connect to.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualService {
    /// Unique name.
    pub name: String,
    /// `http` or `tcp`.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Address and port.
    pub listen: SocketAddr,
    /// Name of the default pool.
    pub pool: String,
    /// Every connection begins with a PROXY header.
    #[serde(default)]
    pub accept_proxy: bool,
    /// Ends TLS.
    #[serde(default)]
    pub tls: Option<Tls>,
    /// How long each stage may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Largest requests.
    #[serde(default)]
    pub limits: Limits,
    /// What servers learn about the client.
    #[serde(default)]
    pub forwarded: Forwarded,
    /// Choice of the pool, redirects, header edits.
    #[serde(default)]
    pub rules: Vec<Rule>,
    /// Networks that may connect; empty: all.
    #[serde(default)]
    pub allow: Vec<Network>,
    /// Networks that may not connect.
    #[serde(default)]
    pub deny: Vec<Network>,
}

/// TLS towards clients.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Tls {
    /// Names of certificates. The first is used for clients that name no known host.
    pub certificates: Vec<String>,
    /// Application protocols, in order of preference.
    #[serde(default)]
    pub alpn: Vec<String>,
    /// Oldest version.
    #[serde(default)]
    pub min_version: TlsVersion,
    /// Clients that name no host of a certificate are refused.
    #[serde(default)]
    pub strict_sni: bool,
    /// PEM file with the authorities of client certificates.
    #[serde(default)]
    pub client_ca: Option<PathBuf>,
    /// Whether a client certificate is required.
    #[serde(default)]
    pub client_auth: ClientAuth,
}

/// Client certificates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ClientAuth {
    /// Never asked for.
    #[default]
    None,
    /// Checked if the client has one.
    Optional,
    /// Clients without one are refused.
    Require,
}

/// A version of TLS.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
pub enum TlsVersion {
    /// TLS 1.2.
    #[default]
    #[serde(rename = "1.2")]
    V12,
    /// TLS 1.3.
    #[serde(rename = "1.3")]
    V13,
}

/// How long each stage may take.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Timeouts {
    /// From the first byte of a request to the end of its head, also for a TLS handshake.
    pub client_header: Time,
    /// Between two reads of a request's body, or two writes of a response.
    pub client_body: Time,
    /// Between a response and the next request.
    pub keepalive: Time,
    /// Between two reads of a response.
    pub server: Time,
    /// Until a connection to a server is established.
    pub connect: Time,
    /// How long a request waits for a server below its limit.
    pub queue: Time,
    /// Between two reads of a WebSocket or TCP connection.
    pub tunnel: Time,
}

impl Default for Timeouts {
    fn default() -> Self {
        let ms = |ms| Time(Duration::from_millis(ms));
        Self {
            client_header: ms(10_000),
            client_body: ms(30_000),
            keepalive: ms(60_000),
            server: ms(60_000),
            connect: ms(5_000),
            queue: ms(5_000),
            tunnel: ms(3_600_000),
        }
    }
}

/// Largest requests.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Limits {
    /// Bytes of the request target.
    pub uri: usize,
    /// Bytes of the head; at most 24,576.
    pub header_bytes: usize,
    /// Header fields.
    pub headers: usize,
    /// Bytes of the body; 0: unlimited.
    pub body: u64,
    /// Open client connections of all threads together.
    pub connections: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self { uri: 8192, header_bytes: 16_384, headers: 128, body: 0, connections: 100_000 }
    }
}

/// What happens to a header that names the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForwardedFor {
    /// The client's address is added to those that it sent.
    #[default]
    Append,
    /// The client's address alone.
    Replace,
    /// The header is removed.
    Remove,
}

/// RFC 7239.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum ForwardedField {
    /// Written by the balancer alone.
    Replace,
}

/// What servers learn about the client.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Forwarded {
    /// `X-Forwarded-For`.
    pub x_forwarded_for: ForwardedFor,
    /// `X-Forwarded-Proto` is overwritten; `false`: removed.
    pub x_forwarded_proto: bool,
    /// `X-Forwarded-Port`: the port of the virtual service.
    pub x_forwarded_port: bool,
    /// `Forwarded`; without it, the client's passes.
    pub forwarded: Option<ForwardedField>,
    /// Name in `Via`, in both directions; default: none.
    pub via: Option<String>,
    /// `X-Client-CN`: the common name of the client certificate.
    pub client_cert: bool,
}

impl Default for Forwarded {
    fn default() -> Self {
        Self {
            x_forwarded_for: ForwardedFor::Append,
            x_forwarded_proto: true,
            x_forwarded_port: false,
            forwarded: None,
            via: None,
            client_cert: false,
        }
    }
}

/// One rule; all of its conditions must hold.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Conditions; none: always.
    #[serde(rename = "if", default)]
    pub conditions: Conditions,
    /// What is done.
    pub then: Then,
}

/// Name and value of a header, a query parameter or a cookie.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Name.
    pub name: String,
    /// Value, compared as a whole.
    pub value: String,
}

/// Conditions on what the client requests.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// Host without port.
    pub host: Option<String>,
    /// End of the host, such as `.example.com`.
    pub host_suffix: Option<String>,
    /// Whole path.
    pub path: Option<String>,
    /// Start of the path.
    pub path_prefix: Option<String>,
    /// Method.
    pub method: Option<String>,
    /// Header.
    pub header: Option<Pair>,
    /// Query parameter.
    pub query: Option<Pair>,
    /// Cookie.
    pub cookie: Option<Pair>,
}

/// What a rule does. The first rule that chooses a pool, redirects, denies or responds decides; edits
/// of all matching rules apply.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields, default)]
pub struct Then {
    /// Forward to this pool.
    pub pool: Option<String>,
    /// Redirect.
    pub redirect: Option<Redirect>,
    /// Respond with this status.
    pub deny: Option<u16>,
    /// Respond with a text.
    pub respond: Option<Respond>,
    /// Replace the start of the path.
    pub rewrite: Option<Rewrite>,
    /// Headers of the request.
    pub set_header: std::collections::BTreeMap<String, String>,
    /// Headers of the request.
    pub del_header: Vec<String>,
    /// Headers of the response.
    pub set_response_header: std::collections::BTreeMap<String, String>,
    /// Headers of the response.
    pub del_response_header: Vec<String>,
}

/// A redirect.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    /// With `{host}`, `{path}`, `{uri}`.
    pub location: String,
}

/// A local response.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// Status.
    pub status: u16,
    /// Content-Type.
    #[serde(rename = "type", default)]
    pub content_type: Option<String>,
    /// Text.
    #[serde(default)]
    pub body: String,
}

/// Replacement of the start of a path.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// Start of the path.
    pub prefix: String,
    /// What replaces it.
    pub with: String,
}

/// How a pool chooses.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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

/// A group of servers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Pool {
    /// Unique name.
    pub name: String,
    /// How it chooses.
    #[serde(default)]
    pub algorithm: Algorithm,
    /// Header of `header_hash`.
    #[serde(default)]
    pub hash_key: Option<String>,
    /// Servers.
    pub servers: Vec<Server>,
    /// Keeps a client on one server.
    #[serde(default)]
    pub persistence: Option<Persistence>,
    /// Health monitor.
    #[serde(default)]
    pub health: Option<Health>,
    /// Repetition on another server.
    #[serde(default)]
    pub retries: Retries,
    /// Ejection of servers that fail.
    #[serde(default)]
    pub eject: Eject,
    /// Version of the PROXY header that servers get.
    #[serde(default)]
    pub send_proxy: Option<ProxyVersion>,
    /// TLS towards the servers.
    #[serde(default)]
    pub tls: Option<ServerTls>,
}

/// TLS towards servers.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ServerTls {
    /// PEM file with the authorities of the servers' certificates.
    pub ca: PathBuf,
    /// Name that the certificates must have, also sent as SNI.
    pub sni: String,
}

/// A version of the PROXY protocol.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
pub enum ProxyVersion {
    /// Text.
    #[serde(rename = "v1")]
    V1,
    /// Binary.
    #[serde(rename = "v2")]
    V2,
}

/// One server.
#[derive(Debug, Clone, Deserialize)]
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
    #[serde(default)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum PersistenceKind {
    /// A cookie that the balancer sets.
    Cookie,
    /// The client's address.
    SourceIp,
    /// A header.
    Header,
}

/// Keeps a client on one server.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Persistence {
    /// What a client is recognised by.
    #[serde(rename = "type")]
    pub kind: PersistenceKind,
    /// Name of the cookie or the header.
    #[serde(default)]
    pub name: Option<String>,
}

/// What a monitor checks.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum HealthKind {
    /// A connection is established.
    Tcp,
    /// A request is served as expected.
    Http,
}

/// A health monitor.
#[derive(Debug, Clone, Deserialize)]
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
    #[serde(default)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
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
#[derive(Debug, Clone, Deserialize)]
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

/// A duration: `250ms`, `5s`, `10m`, `1h`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Time(pub Duration);

impl<'de> Deserialize<'de> for Time {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let end = text.find(|c: char| !c.is_ascii_digit()).unwrap_or(text.len());
        let (digits, unit) = text.split_at(end);
        let ms = match unit {
            "ms" => 1,
            "s" => 1_000,
            "m" => 60_000,
            "h" => 3_600_000,
            _ => 0,
        };
        match digits.parse::<u32>() {
            Ok(number) if ms > 0 && number > 0 => {
                Ok(Self(Duration::from_millis(u64::from(number) * ms)))
            }
            _ => Err(de::Error::custom(format!(
                "'{text}' is no duration; write a number with ms, s, m or h, such as 5s"
            ))),
        }
    }
}

/// An address or a network: `10.0.0.0/8`, `::1`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Network {
    address: IpAddr,
    prefix: u8,
}

impl Network {
    /// Whether it contains an address.
    pub fn contains(&self, address: IpAddr) -> bool {
        let shift = |bits: u8| u32::from(bits - self.prefix);
        match (self.address, address.to_canonical()) {
            (IpAddr::V4(own), IpAddr::V4(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.checked_shr(shift(32)).unwrap_or(0) == 0
            }
            (IpAddr::V6(own), IpAddr::V6(other)) => {
                let differ = own.to_bits() ^ other.to_bits();
                differ.checked_shr(shift(128)).unwrap_or(0) == 0
            }
            _ => false,
        }
    }
}

impl<'de> Deserialize<'de> for Network {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let text = String::deserialize(deserializer)?;
        let (address, prefix) = text.split_once('/').map_or((&*text, None), |(a, p)| (a, Some(p)));
        let parsed = address.parse::<IpAddr>().ok().and_then(|address| {
            let bits = if address.is_ipv4() { 32 } else { 128 };
            let prefix = prefix.map_or(Some(bits), |prefix| prefix.parse().ok())?;
            (prefix <= bits).then_some(Self { address, prefix })
        });
        parsed.ok_or_else(|| {
            de::Error::custom(format!(
                "'{text}' is no network; write an address or one with a prefix, such as 10.0.0.0/8"
            ))
        })
    }
}
