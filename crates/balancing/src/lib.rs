//! The configuration of the load balancer's engine: typed, in YAML or JSON. Unknown members are errors,
//! because a misspelt limit that is ignored is a limit that does not hold. Users write it as a file; the
//! server makes one for each engine group.
#![forbid(unsafe_code)]

mod acme;
mod announce;
mod authentication;
mod cache;
mod check;
mod compression;
mod controller;
mod datagrams;
mod group;
mod health;
mod keepalived;
mod keys;
mod mirror;
mod monitors;
mod paths;
pub mod placement;
mod pool;
mod purge;
mod rate;
mod render;
mod retries;
mod rules;
mod script;
mod syntax;
mod tls;
mod values;

use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use acme::{Acme, AcmeCertificate, AcmeOrder, Challenge};
pub use announce::{Announce, Bfd, Bird, Neighbour, Speaker};
pub use authentication::{
    Authentication, Basic, HIDDEN, Jwt, JwtAlgorithm, JwtKey, KeySet, NO_AUTHENTICATION,
    PasswordHash, Secret,
};
pub use cache::Cache;
pub use compression::{Coding, Compression};
pub use controller::{
    CertificateNotes, Controller, EngineGroupNotes, MonitorNotes, Named, PoolGroupNotes, PoolNotes,
    ServiceNotes, Tag, VipNotes, named,
};
pub use group::{Member, PoolGroup};
pub use health::{Health, HealthKind, Monitors, ScriptMonitor};
pub use keepalived::{Dispatch, Keepalived, LOWERED_MAX};
pub use keys::{PublicKey, public_keys};
pub use mirror::{Mirror, Percent};
pub use monitors::{DnsMonitor, Octets, Rcode, RecordType, UdpMonitor};
pub use paths::canonical_path;
pub use pool::{
    Algorithm, Eject, Persistence, PersistenceKind, Pool, Protocol, ProxyVersion, Server,
    ServerTls, State,
};
pub use purge::{Order, Purge};
pub use rate::{RateKey, RateLimit};
pub use retries::{Retries, RetryOn};
pub use rules::{Conditions, Pair, Redirect, Respond, Rewrite, Rule, Then};
pub use script::{OF_REQUEST, OF_RESPONSE, OnError, Script};
pub use syntax::{FIXED, has_control, is_host_name, is_path, is_token};
pub use tls::{
    Certificate, ClientAuth, ExpectedCertificate, ExpiredCrl, HTTP3, Ocsp, Tls, TlsVersion,
};
pub use values::{Bytes, Listen, Network, Pem, Time};

/// A whole file.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Number of threads that forward; default: one per CPU.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub threads: Option<NonZeroUsize>,
    /// Name of this engine in records; default: the machine's.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub name: Option<String>,
    /// A record of each request and connection; default: none are kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub transactions: Option<Transactions>,
    /// Announces VIPs to routers or to other machines; default: others see to it that packets arrive.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub announce: Option<Announce>,
    /// Certificates by name.
    #[serde(default)]
    pub certificates: Vec<Certificate>,
    /// Fetches OCSP responses about `certificates` for clients; default: they get none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ocsp: Option<Ocsp>,
    /// Certificates that the server has ordered and that have not arrived.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub expected_certificates: Vec<ExpectedCertificate>,
    /// Certificates that an authority issues; default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub acme: Option<Acme>,
    /// Folder with the programs of monitors of type `script`; default: there are none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub monitor_scripts: Option<PathBuf>,
    /// What clients connect to.
    pub virtual_services: Vec<VirtualService>,
    /// Groups of servers.
    pub pools: Vec<Pool>,
    /// Groups of pools.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pool_groups: Vec<PoolGroup>,
    /// What the server stores of these objects beside; engines have no use for it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub controller: Option<Controller>,
}

impl Config {
    /// Parses a file's text.
    ///
    /// # Errors
    /// The line, the member, and the members that exist there.
    pub fn parse(text: &str) -> Result<Self, String> {
        // JSON is YAML, too, but its own parser is faster: a server sends JSON of up to 20,000 pools. Errors are those of
        // YAML, which name the members that exist.
        if text.starts_with('{')
            && let Ok(config) = serde_json::from_str(text)
        {
            return Ok(config);
        }
        // The limits of the library are for texts of strangers; 5,000 pools are beyond them.
        let options = serde_saphyr::options! { budget: None };
        serde_saphyr::from_str_with_options(text, options).map_err(|error| error.to_string())
    }
}

/// Records of requests and connections: the newest within both limits are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Transactions {
    /// Folder that no other engine writes to.
    pub folder: PathBuf,
    /// Bytes on the disk; at least 1M.
    #[serde(default = "Transactions::size")]
    pub size: Bytes,
    /// How long a file is kept after its newest record; a file covers an hour at most.
    #[serde(default = "Transactions::age")]
    pub age: Time,
}

impl Transactions {
    /// Records in this folder, within the default limits.
    #[must_use]
    pub const fn of(folder: PathBuf) -> Self {
        Self { folder, size: Self::size(), age: Self::age() }
    }

    const fn size() -> Bytes {
        Bytes(10 << 30)
    }

    const fn age() -> Time {
        Time(Duration::from_secs(7 * 86_400))
    }
}

/// What a virtual service understands of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// HTTP/1.1 and HTTP/2: each request is balanced.
    Http,
    /// Bytes: each connection is balanced.
    Tcp,
    /// Datagrams: each session is balanced, which is what one port of a client sends.
    Udp,
}

/// HTTP/2 without TLS, by clients that know of it before (RFC 9113, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum H2c {
    /// Every connection is one of HTTP/2.
    Only,
    /// The first bytes of a connection tell.
    Both,
}

/// An address that clients connect to.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct VirtualService {
    /// Unique name.
    pub name: String,
    /// `http`, `tcp` or `udp`.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Addresses with ports.
    pub listen: Listen,
    /// Name of the default pool or pool group.
    pub pool: String,
    /// Every connection begins with a PROXY header.
    #[serde(default)]
    pub accept_proxy: bool,
    /// Ends TLS.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tls: Option<Tls>,
    /// HTTP/2 without TLS; default: none. With TLS, it is `h2` in `tls.alpn`.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub h2c: Option<H2c>,
    /// How long each stage may take.
    #[serde(default)]
    pub timeouts: Timeouts,
    /// Largest requests.
    #[serde(default)]
    pub limits: Limits,
    /// Requests of one client, or of one value of a header; default: unlimited.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate_limit: Option<RateLimit>,
    /// Who may send requests; default: every client.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub authentication: Option<Authentication>,
    /// Compression of responses; default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub compression: Option<Compression>,
    /// Responses that are kept for the next requests; default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cache: Option<Cache>,
    /// Copies of requests for another pool; default: none.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub mirror: Option<Mirror>,
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

/// How long each stage may take.
#[derive(Debug, Clone, Deserialize, Serialize)]
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
    /// Between two datagrams of a UDP session.
    pub session: Time,
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
            session: ms(30_000),
        }
    }
}

/// Largest requests.
#[derive(Debug, Clone, Deserialize, Serialize)]
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
    /// Requests at once of an HTTP/2 connection.
    pub h2_streams: u32,
    /// UDP sessions of each address, of all threads together.
    pub sessions: u32,
    /// Those of a client: of an IPv4 address, or of an IPv6 network of 64 bits.
    pub client_sessions: u32,
    /// Responses to each datagram of a client, after which a UDP session ends; 0: it ends by time alone.
    pub responses: u32,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            uri: 8192,
            header_bytes: 16_384,
            headers: 128,
            body: 0,
            connections: 100_000,
            h2_streams: 100,
            sessions: 20_000,
            client_sessions: 1_000,
            responses: 0,
        }
    }
}

/// What happens to a header that names the client.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum ForwardedField {
    /// Written by the balancer alone.
    Replace,
}

/// What servers learn about the client.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Forwarded {
    /// How `X-Forwarded-For` is changed, which names the client's address.
    pub x_forwarded_for: ForwardedFor,
    /// `X-Forwarded-Proto` is overwritten; `false`: removed.
    pub x_forwarded_proto: bool,
    /// `X-Forwarded-Port`: the port of the virtual service.
    pub x_forwarded_port: bool,
    /// `Forwarded`; without it, the client's passes.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub forwarded: Option<ForwardedField>,
    /// Name in `Via`, in both directions; default: none.
    #[serde(skip_serializing_if = "Option::is_none")]
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
