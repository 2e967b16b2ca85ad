//! The configuration file: YAML, typed. Unknown members are errors, because a misspelt limit that is
//! ignored is a limit that does not hold.

mod pool;
mod values;

use std::net::SocketAddr;
use std::num::NonZeroUsize;
use std::path::PathBuf;
use std::time::Duration;

use serde::Deserialize;

pub use pool::{
    Algorithm, Eject, Health, HealthKind, Persistence, PersistenceKind, Pool, Protocol,
    ProxyVersion, Retries, RetryOn, Server, ServerTls, State,
};
pub use values::{Bytes, Network, Time};

/// A whole file.
#[derive(Debug, Clone, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Config {
    /// Number of threads that forward; default: one per CPU.
    #[serde(default)]
    pub threads: Option<NonZeroUsize>,
    /// Name of this engine in records; default: the machine's.
    #[serde(default)]
    pub name: Option<String>,
    /// A record of each request and connection; default: none are kept.
    #[serde(default)]
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
        serde_saphyr::from_str(text).map_err(|error| error.to_string())
    }
}

/// Records of requests and connections: the newest within both limits are kept.
#[derive(Debug, Clone, PartialEq, Eq, Deserialize)]
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
    /// HTTP/1.1 and HTTP/2: each request is balanced.
    Http,
    /// Bytes: each connection is balanced.
    Tcp,
}

/// HTTP/2 without TLS, by clients that know of it before (RFC 9113, 3.3).
#[derive(Debug, Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum H2c {
    /// Every connection is one of HTTP/2.
    Only,
    /// The first bytes of a connection tell.
    Both,
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
    /// HTTP/2 without TLS; default: none. With TLS, it is `h2` in `tls.alpn`.
    #[serde(default)]
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
    /// Name of the header, query parameter or cookie.
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
    /// Method, compared with case.
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

#[cfg(test)]
mod tests {
    use super::*;

    const FILE: &str = "
virtual_services:
  - name: web
    type: http
    listen: 127.0.0.1:8080
    pool: app
    timeouts: {server: 5s}
pools:
  - name: app
    servers:
      - {name: s1, address: '127.0.0.1:8081'}
";

    fn problem(old: &str, new: &str) -> String {
        assert!(FILE.contains(old));
        let text = FILE.replace(old, new);
        match Config::parse(&text) {
            Ok(config) => crate::check(&config).unwrap_err().to_string(),
            Err(problem) => problem,
        }
    }

    #[test]
    fn the_shortest_file_is_valid() {
        let config = Config::parse(FILE).unwrap();
        crate::check(&config).unwrap();
        assert_eq!(config.virtual_services[0].timeouts.server, Time(Duration::from_secs(5)));
        assert_eq!(config.virtual_services[0].timeouts.connect, Timeouts::default().connect);
    }

    #[test]
    fn unknown_members_are_errors_with_line_and_advice() {
        let text = problem("timeouts: {server: 5s}", "timeouts: {sever: 5s}");
        assert!(text.contains("sever") && text.contains("server") && text.contains('7'), "{text}");
        let text = problem("    pool: app", "    pool: app\n    http2: true");
        assert!(text.contains("http2") && text.contains("accept_proxy"), "{text}");
    }

    #[test]
    fn values_that_mean_nothing_are_errors() {
        for (old, new, part) in [
            ("5s", "5", "a number with ms, s, m, h or d"),
            ("5s", "0s", "a number with ms, s, m, h or d"),
            ("type: http", "type: udp", "udp"),
            (
                "\npools:",
                "\ntransactions: {folder: x, size: 10}\npools:",
                "a number with K, M, G or T",
            ),
            ("\npools:", "\ntransactions: {folder: x, size: 10K}\npools:", "at least 1M"),
            ("pool: app\n", "pool: ap\n", "pool 'ap' does not exist"),
            ("    pool: app", "    pool: app\n    deny: [10.0.0.0/33]", "no network"),
            ("servers:", "persistence: {type: cookie}\n    servers:", "needs 'name'"),
            ("servers:", "algorithm: header_hash\n    servers:", "needs 'hash_key'"),
            (
                "    pool: app",
                "    pool: app\n    tls: {certificates: [a]}",
                "certificate 'a' does not exist",
            ),
            (
                "    pool: app",
                "    pool: app\n    rules: [{then: {set_header: {Host: x}}}]",
                "cannot be edited",
            ),
        ] {
            let text = problem(old, new);
            assert!(text.contains(part), "{new}: {text}");
        }
    }

    #[test]
    fn networks_contain_addresses_of_their_family() {
        let network = |text: &str| serde_saphyr::from_str::<Network>(text).unwrap();
        let contains = |net: &str, ip: &str| network(net).contains(ip.parse().unwrap());
        assert!(contains("10.0.0.0/8", "10.255.0.1") && !contains("10.0.0.0/8", "11.0.0.1"));
        assert!(contains("0.0.0.0/0", "1.2.3.4") && !contains("0.0.0.0/0", "::1"));
        assert!(contains("'::1'", "::1") && !contains("'::1'", "::2"));
        assert!(contains("'2001:db8::/32'", "2001:db8:1::1"));
        assert!(contains("10.0.0.0/8", "::ffff:10.0.0.1"), "a mapped address is that of IPv4");
    }
}
