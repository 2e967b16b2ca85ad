//! `server` blocks: services, by the addresses that they share.

use std::collections::BTreeMap;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use super::blocks::Block;
use super::{Import, location, size, time};
use crate::config::{
    ClientAuth, Conditions, Forwarded, Kind, Limits, Network, Pem, ProxyVersion, Rule, Then,
    Timeouts, Tls, TlsVersion, VirtualService,
};

/// Directives of a server that are read here, or that change nothing here.
const READ: [&str; 40] = [
    "mirror",
    "mirror_request_body",
    "listen",
    "server_name",
    "location",
    "return",
    "proxy_pass",
    "ssl_certificate",
    "ssl_certificate_key",
    "ssl_protocols",
    "ssl_ciphers",
    "ssl_prefer_server_ciphers",
    "ssl_session_cache",
    "ssl_session_timeout",
    "ssl_session_tickets",
    "ssl_client_certificate",
    "ssl_verify_client",
    "http2",
    "access_log",
    "error_log",
    "client_max_body_size",
    "client_header_timeout",
    "client_body_timeout",
    "keepalive_timeout",
    "proxy_set_header",
    "add_header",
    "allow",
    "deny",
    "proxy_connect_timeout",
    "proxy_read_timeout",
    "proxy_timeout",
    "server_tokens",
    "send_timeout",
    "lingering_time",
    "lingering_timeout",
    "lingering_close",
    "keepalive_requests",
    "client_header_buffer_size",
    "large_client_header_buffers",
    "ssl_dhparam",
];

/// One `listen`.
struct Listen {
    address: SocketAddr,
    default: bool,
    tls: bool,
    accept_proxy: bool,
    udp: bool,
    http2: bool,
}

/// The servers of one address.
#[derive(Default)]
struct Shared<'a> {
    servers: Vec<&'a Block>,
    default: Option<usize>,
    tls: bool,
    accept_proxy: bool,
    http2: bool,
}

impl Import {
    /// Converts an `http` block.
    pub(super) fn http(&mut self, http: &Block) {
        http.all("upstream").for_each(|upstream| self.upstream(upstream));
        for block in http.all("mirror").filter(|block| block.at.parameter(0) != "off") {
            self.report.missing(&block.at, "a mirror belongs in a server or a location");
        }
        let mut addresses: BTreeMap<SocketAddr, Shared<'_>> = BTreeMap::new();
        for server in http.all("server") {
            for listen in self.listens(server) {
                let shared = addresses.entry(listen.address).or_default();
                if listen.default {
                    shared.default = Some(shared.servers.len());
                }
                shared.tls |= listen.tls;
                let on = |block: &Block| block.at.parameter(0) == "on";
                shared.http2 |= listen.http2 || server.first("http2").is_some_and(on);
                shared.accept_proxy |= listen.accept_proxy;
                shared.servers.push(server);
            }
            for block in server.inside.iter().filter(|block| !READ.contains(&block.name())) {
                self.report.missing(&block.at, "the directive is not supported in a server");
            }
        }
        for (listen, shared) in addresses {
            self.service(http, listen, &shared);
        }
    }

    fn listens(&mut self, server: &Block) -> Vec<Listen> {
        let mut listens = Vec::new();
        for block in server.all("listen") {
            let Some(address) = listened(block.at.parameter(0)) else {
                self.report.missing(&block.at, "no address and port that the engine can listen on");
                continue;
            };
            let has = |word: &str| block.at.words.iter().any(|own| own == word);
            listens.push(Listen {
                address,
                default: has("default_server") || has("default"),
                tls: has("ssl"),
                accept_proxy: has("proxy_protocol"),
                udp: has("udp"),
                http2: has("http2"),
            });
        }
        if server.first("listen").is_none() {
            let address = SocketAddr::new(Ipv4Addr::UNSPECIFIED.into(), 80);
            listens.push(Listen {
                address,
                default: false,
                tls: false,
                accept_proxy: false,
                udp: false,
                http2: false,
            });
        }
        listens
    }

    /// One service for all servers of an address: rules by host name, then those of the default server.
    fn service(&mut self, http: &Block, listen: SocketAddr, shared: &Shared<'_>) {
        let default = shared.default.unwrap_or(0);
        let server = shared.servers[default];
        let protocols: &[&str] = if shared.http2 { &["h2", "http/1.1"] } else { &["http/1.1"] };
        let alpn = protocols.iter().map(|name| (*name).to_owned()).collect();
        let tls = Tls { alpn, ..self.certificates(http, shared, default) };
        let rules = self.rules(shared, default);
        let pool = rules.iter().rev().find_map(|rule| rule.then.pool.clone());
        let Some(pool) = pool.or_else(|| self.config.pools.first().map(|pool| pool.name.clone()))
        else {
            self.report.missing(
                &server.at,
                format!("{listen}: no pool to forward to; nothing listens here"),
            );
            return;
        };
        if shared.tls && tls.certificates.is_empty() {
            self.report
                .missing(&server.at, format!("{listen}: no ssl_certificate; nothing listens here"));
            return;
        }
        let (allow, deny) = self.networks(server);
        self.taken.insert(listen);
        let name = server.first("server_name").map_or("", |block| block.at.parameter(0));
        let name = if name.is_empty() || name == "_" { "web" } else { name };
        self.config.virtual_services.push(VirtualService {
            name: self.names.unique(&format!("{name}-{}", listen.port())),
            kind: Kind::Http,
            listen: listen.into(),
            pool,
            accept_proxy: shared.accept_proxy,
            h2c: None,
            tls: shared.tls.then_some(tls),
            timeouts: timeouts(http, server),
            limits: limits(http, server),
            rate_limit: None,
            authentication: None,
            compression: None,
            cache: None,
            mirror: None,
            forwarded: Forwarded::default(),
            rules,
            allow,
            deny,
        });
    }

    /// Certificates of all servers of an address; clients that name no known host get the default's.
    fn certificates(&mut self, http: &Block, shared: &Shared<'_>, default: usize) -> Tls {
        let others = (0..shared.servers.len()).filter(|at| *at != default);
        let mut tls = Tls::default();
        for at in std::iter::once(default).chain(others) {
            self.tls(http, shared.servers[at], &mut tls);
        }
        tls
    }

    /// Rules by host name, then those of the default server.
    fn rules(&mut self, shared: &Shared<'_>, default: usize) -> Vec<Rule> {
        let mut rules = Vec::new();
        let mut last = Vec::new();
        for (at, server) in shared.servers.iter().enumerate() {
            let mut own = location::rules(self, server);
            let hosts = self.hosts(server);
            if !own.iter().any(|rule| rule.conditions == Conditions::default()) {
                let then = Then { deny: Some(404), ..Then::default() };
                own.push(Rule { conditions: Conditions::default(), then });
            }
            if at == default {
                last = own;
            } else {
                let of = |host| own.iter().map(move |rule| within(rule, host));
                rules.extend(hosts.iter().flat_map(of));
            }
        }
        // nginx looks at exact names first, then at the longest name with a `*`.
        rules.sort_by_key(|rule| {
            let suffix = rule.conditions.host_suffix.as_ref().map_or(0, String::len);
            (rule.conditions.host.is_none(), std::cmp::Reverse(suffix))
        });
        rules.extend(last);
        rules
    }

    fn tls(&mut self, http: &Block, server: &Block, tls: &mut Tls) {
        let keys: Vec<&Block> = server.all("ssl_certificate_key").collect();
        for (at, cert) in server.all("ssl_certificate").enumerate() {
            let Some(key) = keys.get(at) else {
                self.report.missing(&cert.at, "it has no ssl_certificate_key");
                continue;
            };
            let name = self.certificate(cert.at.parameter(0), key.at.parameter(0));
            if !tls.certificates.contains(&name) {
                tls.certificates.push(name);
            }
        }
        if let Some(block) = server.first("ssl_protocols").or_else(|| http.first("ssl_protocols")) {
            if block.at.parameters() == ["TLSv1.3"] {
                tls.min_version = TlsVersion::V13;
            } else if block.at.words.iter().any(|word| word == "TLSv1" || word == "TLSv1.1") {
                self.report.differs(&block.at, "TLS 1.2 is the oldest version");
            }
        }
        if let Some(block) = server.first("ssl_client_certificate") {
            tls.client_ca = Some(Pem::File(self.folder.join(block.at.parameter(0))));
        }
        if let Some(block) = server.first("ssl_verify_client") {
            tls.client_auth = match block.at.parameter(0) {
                "on" => ClientAuth::Require,
                "optional" => ClientAuth::Optional,
                _ => ClientAuth::None,
            };
        }
    }

    /// Conditions of the names of a server.
    fn hosts(&mut self, server: &Block) -> Vec<Conditions> {
        let mut hosts = Vec::new();
        for block in server.all("server_name") {
            for name in block.at.parameters() {
                let exact = Conditions { host: Some(name.clone()), ..Conditions::default() };
                let below = |suffix: &str| Conditions {
                    host_suffix: Some(suffix.to_owned()),
                    ..Conditions::default()
                };
                if let Some(suffix) = name.strip_prefix('*') {
                    hosts.push(below(suffix));
                } else if let Some(bare) = name.strip_prefix('.') {
                    hosts.push(Conditions { host: Some(bare.to_owned()), ..Conditions::default() });
                    hosts.push(below(name));
                } else if name.starts_with('~') || name.ends_with('*') {
                    self.report.missing(&block.at, format!("the name '{name}' is not supported"));
                } else if name != "_" && !name.is_empty() {
                    hosts.push(exact);
                }
            }
        }
        hosts
    }

    pub(super) fn networks(&mut self, server: &Block) -> (Vec<Network>, Vec<Network>) {
        let (mut allow, mut deny) = (Vec::new(), Vec::new());
        for block in server.inside.iter().filter(|block| ["allow", "deny"].contains(&block.name()))
        {
            match (block.name(), block.at.parameter(0)) {
                // Those that are allowed are the only ones then.
                ("deny", "all") => {}
                ("allow", "all") => allow.clear(),
                (name, text) => match text.parse() {
                    Ok(network) if name == "allow" => allow.push(network),
                    Ok(network) => deny.push(network),
                    Err(problem) => self.report.missing(&block.at, problem),
                },
            }
        }
        (allow, deny)
    }

    /// Converts a `stream` block: TCP and UDP.
    pub(super) fn stream(&mut self, stream: &Block) {
        stream.all("upstream").for_each(|upstream| self.upstream(upstream));
        for server in stream.all("server") {
            for block in server.inside.iter().filter(|block| !READ_STREAM.contains(&block.name())) {
                self.report
                    .missing(&block.at, "the directive is not supported in a server of stream");
            }
            for listen in self.listens(server) {
                if let Err(reason) = self.tcp(stream, server, listen) {
                    self.report.missing(&server.at, format!("{reason}; nothing listens here"));
                }
            }
        }
    }

    fn tcp(&mut self, stream: &Block, server: &Block, listen: Listen) -> Result<(), String> {
        let address = listen.address;
        if listen.udp {
            return self.datagrams(server, tcp_timeouts(stream, server), address);
        }
        let pass = server.first("proxy_pass").ok_or("it has no proxy_pass")?;
        let pool = self.pool_of(pass.at.parameter(0), 0);
        let pool = pool.ok_or("proxy_pass names no upstream, and no address")?;
        if !self.taken.insert(address) {
            return Err(format!("{address} is in use"));
        }
        let mut tls = Tls::default();
        self.tls(stream, server, &mut tls);
        if listen.tls && tls.certificates.is_empty() {
            return Err("it has no ssl_certificate".to_owned());
        }
        if let Some(block) = server.first("proxy_protocol").filter(|at| at.at.parameter(0) == "on")
        {
            let own = self.config.pools.iter_mut().find(|own| own.name == pool);
            own.into_iter().for_each(|own| own.send_proxy = Some(ProxyVersion::V1));
            self.report.differs(&block.at, "all services of the pool send the PROXY header");
        }
        let (allow, deny) = self.networks(server);
        self.config.virtual_services.push(VirtualService {
            name: self.names.unique(&format!("{pool}-{}", address.port())),
            kind: Kind::Tcp,
            listen: address.into(),
            pool,
            accept_proxy: listen.accept_proxy,
            h2c: None,
            tls: listen.tls.then_some(tls),
            timeouts: tcp_timeouts(stream, server),
            limits: Limits::default(),
            rate_limit: None,
            authentication: None,
            compression: None,
            cache: None,
            mirror: None,
            forwarded: Forwarded::default(),
            rules: Vec::new(),
            allow,
            deny,
        });
        Ok(())
    }
}

/// Directives of a server in `stream` that are read, or that change nothing here.
const READ_STREAM: [&str; 21] = [
    "listen",
    "proxy_pass",
    "proxy_timeout",
    "proxy_connect_timeout",
    "proxy_protocol",
    "proxy_requests",
    "proxy_responses",
    "allow",
    "deny",
    "ssl_certificate",
    "ssl_certificate_key",
    "ssl_protocols",
    "ssl_ciphers",
    "ssl_prefer_server_ciphers",
    "ssl_session_cache",
    "ssl_session_timeout",
    "ssl_client_certificate",
    "ssl_verify_client",
    "access_log",
    "error_log",
    "proxy_buffer_size",
];

/// nginx ends TCP connections that are idle for ten minutes unless told otherwise.
fn tcp_timeouts(stream: &Block, server: &Block) -> Timeouts {
    const IDLE: crate::config::Time = crate::config::Time(std::time::Duration::from_secs(600));
    let of = |name: &str| setting(stream, server, name);
    let default = Timeouts::default();
    Timeouts {
        tunnel: of("proxy_timeout").unwrap_or(IDLE),
        connect: of("proxy_connect_timeout").unwrap_or(default.connect),
        ..default
    }
}

/// A rule of a location for the names of its server.
fn within(rule: &Rule, host: &Conditions) -> Rule {
    let conditions = Conditions {
        host: host.host.clone(),
        host_suffix: host.host_suffix.clone(),
        ..rule.conditions.clone()
    };
    Rule { conditions, then: rule.then.clone() }
}

/// `80`, `10.0.0.1:80`, `[::]:80`, `*:80`, `10.0.0.1`.
fn listened(text: &str) -> Option<SocketAddr> {
    let any: IpAddr = Ipv4Addr::UNSPECIFIED.into();
    if let Ok(port) = text.parse() {
        return Some(SocketAddr::new(any, port));
    }
    if let Some(port) = text.strip_prefix("*:") {
        return Some(SocketAddr::new(any, port.parse().ok()?));
    }
    if let Some(port) = text.strip_prefix("[::]:") {
        return Some(SocketAddr::new(Ipv6Addr::UNSPECIFIED.into(), port.parse().ok()?));
    }
    text.parse().ok().or_else(|| Some(SocketAddr::new(text.parse().ok()?, 80)))
}

fn setting(http: &Block, server: &Block, name: &str) -> Option<crate::config::Time> {
    let locations = server.all("location").filter_map(|location| location.first(name));
    let block =
        server.first(name).or_else(|| locations.into_iter().next()).or_else(|| http.first(name));
    time(block?.at.parameter(0))
}

fn timeouts(http: &Block, server: &Block) -> Timeouts {
    let of = |name: &str| setting(http, server, name);
    let default = Timeouts::default();
    Timeouts {
        client_header: of("client_header_timeout").unwrap_or(default.client_header),
        client_body: of("client_body_timeout").unwrap_or(default.client_body),
        keepalive: of("keepalive_timeout").unwrap_or(default.keepalive),
        server: of("proxy_read_timeout").unwrap_or(default.server),
        tunnel: of("proxy_read_timeout").unwrap_or(default.server),
        connect: of("proxy_connect_timeout").unwrap_or(default.connect),
        ..default
    }
}

/// nginx allows bodies of 1 MiB unless told otherwise.
fn limits(http: &Block, server: &Block) -> Limits {
    let block = server.first("client_max_body_size").or_else(|| http.first("client_max_body_size"));
    let body = block.and_then(|block| size(block.at.parameter(0))).unwrap_or(1 << 20);
    let buffers = server
        .first("large_client_header_buffers")
        .or_else(|| http.first("large_client_header_buffers"));
    let default = Limits::default();
    let uri = buffers.and_then(|block| size(block.at.parameter(1))?.try_into().ok());
    Limits { body, uri: uri.unwrap_or(default.uri).min(default.header_bytes), ..default }
}
