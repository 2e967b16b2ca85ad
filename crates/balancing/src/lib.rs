//! The configuration of the load balancer's engine: typed, in YAML or JSON. Unknown members are errors,
//! because a misspelt limit that is ignored is a limit that does not hold. Users write it as a file; the
//! server makes one for each engine group.
#![forbid(unsafe_code)]

mod check;
mod pool;
mod render;
mod values;

use std::collections::BTreeMap;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::{Deserialize, Serialize};

pub use check::{is_host_name, is_path};

pub use pool::{
    Algorithm, Eject, Health, HealthKind, Persistence, PersistenceKind, Pool, Protocol,
    ProxyVersion, Retries, RetryOn, Server, ServerTls, State,
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
    const fn size() -> Bytes {
        Bytes(10 << 30)
    }

    const fn age() -> Time {
        Time(Duration::from_secs(7 * 86_400))
    }
}

/// A certificate with its key.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Certificate {
    /// Name in `tls.certificates`.
    pub name: String,
    /// The certificate, then its chain.
    pub cert: Pem,
    /// The private key.
    pub key: Pem,
}

/// What a virtual service understands of its connections.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Kind {
    /// HTTP/1.1 and HTTP/2: each request is balanced.
    Http,
    /// Bytes: each connection is balanced.
    Tcp,
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
    /// `http` or `tcp`.
    #[serde(rename = "type")]
    pub kind: Kind,
    /// Addresses with ports.
    pub listen: Listen,
    /// Name of the default pool.
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
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
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
    /// The authorities of client certificates.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub client_ca: Option<Pem>,
    /// Whether a client certificate is required.
    #[serde(default)]
    pub client_auth: ClientAuth,
}

/// Client certificates.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Deserialize, Serialize)]
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
    /// `X-Forwarded-For`.
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

/// One rule; all of its conditions must hold.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rule {
    /// Conditions; none: always.
    #[serde(rename = "if", default)]
    pub conditions: Conditions,
    /// What is done.
    pub then: Then,
}

/// Name and value of a header, a query parameter or a cookie.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Pair {
    /// Name of the header, query parameter or cookie.
    pub name: String,
    /// Value, compared as a whole.
    pub value: String,
}

/// Conditions on what the client requests.
#[derive(Debug, Clone, Default, PartialEq, Eq, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Conditions {
    /// Host without port.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host: Option<String>,
    /// End of the host, such as `.example.com`.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub host_suffix: Option<String>,
    /// Whole path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path: Option<String>,
    /// Start of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub path_prefix: Option<String>,
    /// Method, compared with case.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub method: Option<String>,
    /// Name and value of a header; of several with the name, the first one counts.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub header: Option<Pair>,
    /// Query parameter.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub query: Option<Pair>,
    /// Name and value of a cookie.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub cookie: Option<Pair>,
}

/// What a rule does. The first rule that chooses a pool, redirects, denies or responds decides; edits
/// of all matching rules apply.
#[derive(Debug, Clone, Default, Deserialize, Serialize)]
#[serde(deny_unknown_fields, default)]
pub struct Then {
    /// Forward to this pool.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub pool: Option<String>,
    /// Respond with the address of another place.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub redirect: Option<Redirect>,
    /// Respond with this status.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub deny: Option<u16>,
    /// Respond with a text.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub respond: Option<Respond>,
    /// Replace the start of the path.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub rewrite: Option<Rewrite>,
    /// Headers of the request.
    pub set_header: BTreeMap<String, String>,
    /// Headers of the request.
    pub del_header: Vec<String>,
    /// Headers of the response.
    pub set_response_header: BTreeMap<String, String>,
    /// Headers of the response.
    pub del_response_header: Vec<String>,
}

/// A response that sends the client to another address.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Redirect {
    /// 301, 302, 303, 307 or 308.
    pub status: u16,
    /// With `{host}`, `{path}`, `{uri}`.
    pub location: String,
}

/// A local response.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Respond {
    /// Between 200 and 599.
    pub status: u16,
    /// Value of `Content-Type`; without it, the header is left out.
    #[serde(rename = "type", default)]
    #[serde(skip_serializing_if = "Option::is_none")]
    pub content_type: Option<String>,
    /// Text.
    #[serde(default)]
    pub body: String,
}

/// Replacement of the start of a path.
#[derive(Debug, Clone, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
pub struct Rewrite {
    /// Start of the path.
    pub prefix: String,
    /// What replaces it.
    pub with: String,
}
