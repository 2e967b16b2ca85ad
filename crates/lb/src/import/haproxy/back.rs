//! `backend` and the servers' side of `listen`.

use std::net::SocketAddr;
use std::num::NonZeroU16;
use std::path::PathBuf;
use std::time::Duration;

use super::sections::Section;
use super::{Import, NOT_NEEDED, is_http, option, time, timeout};
use crate::config::{
    Algorithm, Eject, Health, HealthKind, Monitors, Pem, Persistence, PersistenceKind, Pool,
    Protocol, ProxyVersion, Retries, RetryOn, Server, ServerTls, State, Time,
};
use crate::import::Directive;

/// Directives of servers that are read here.
pub(super) const DIRECTIVES: [&str; 11] = [
    "server",
    "default-server",
    "balance",
    "hash-type",
    "cookie",
    "stick-table",
    "stick",
    "retries",
    "retry-on",
    "http-check",
    "http-reuse",
];

/// Options of servers that are read here.
pub(super) const OPTIONS: [&str; 3] = ["httpchk", "tcp-check", "smtpchk"];

/// Directives that a backend shares with frontends.
const SHARED: [&str; 4] = ["mode", "timeout", "maxconn", "option"];

/// HAProxy's defaults of `inter`, `rise` and `fall`.
const INTERVAL: Time = Time(Duration::from_secs(2));
const RISE: u16 = 2;
const FALL: u16 = 3;

/// What `server` lines say about the pool as a whole.
#[derive(Default)]
struct Whole {
    checks: usize,
    interval: Option<Time>,
    rise: Option<u16>,
    fall: Option<u16>,
    slow_start: Option<Time>,
    send_proxy: Option<ProxyVersion>,
    encrypted: bool,
    protocol: Protocol,
    ca: Option<PathBuf>,
    name: Option<String>,
}

/// Parameters of `server` with a value.
const WITH_VALUE: [&str; 34] = [
    "weight",
    "maxconn",
    "cookie",
    "id",
    "check-sni",
    "fastinter",
    "downinter",
    "verify",
    "inter",
    "rise",
    "fall",
    "ca-file",
    "verifyhost",
    "sni",
    "on-error",
    "on-marked-down",
    "observe",
    "error-limit",
    "slowstart",
    "port",
    "addr",
    "agent-port",
    "agent-inter",
    "maxqueue",
    "minconn",
    "resolvers",
    "init-addr",
    "pool-max-conn",
    "pool-purge-delay",
    "ciphers",
    "alpn",
    "proto",
    "crt",
    "source",
];

impl Whole {
    fn parameter(&mut self, word: &str, value: &str) -> Result<(), String> {
        match word {
            "inter" => self.interval = time(value),
            "rise" => self.rise = value.parse().ok(),
            "fall" => self.fall = value.parse().ok(),
            "slowstart" => self.slow_start = self.slow_start.max(time(value)),
            "send-proxy" => self.send_proxy = Some(ProxyVersion::V1),
            "send-proxy-v2" => self.send_proxy = Some(ProxyVersion::V2),
            "ssl" => self.encrypted = true,
            "verify" => {}
            "proto" if value == "h2" => self.protocol = Protocol::Http2,
            "ca-file" => self.ca = Some(PathBuf::from(value)),
            "verifyhost" => self.name = Some(value.to_owned()),
            "sni" => {
                let constant = value.strip_prefix("str(").and_then(|text| text.strip_suffix(')'));
                self.name =
                    Some(constant.ok_or("'sni' that is computed is not supported")?.to_owned());
            }
            word => return Err(format!("the parameter '{word}' is not supported")),
        }
        Ok(())
    }
}

impl Import {
    /// Adds a pool.
    pub(super) fn back(&mut self, section: &Section) {
        let mut whole = Whole::default();
        let mut servers = Vec::new();
        let defaults: Vec<&Directive> =
            section.directives().filter(|at| at.name() == "default-server").collect();
        for at in section.own.iter().filter(|at| at.name() == "server") {
            servers.extend(self.server(at, &defaults, &mut whole));
        }
        let tls = self.server_tls(section, &whole);
        let health = match whole.checks {
            0 => Monitors::default(),
            _ => self.health(section, &whole).into(),
        };
        if whole.checks > 0 && whole.checks < servers.len() {
            self.report.differs(&at_name(section), "all servers of a pool are checked");
        }
        let pool = Pool {
            name: section.name.clone(),
            protocol: whole.protocol,
            algorithm: Algorithm::default(),
            hash_key: None,
            servers,
            persistence: self.persistence(section),
            health,
            min_monitors: None,
            retries: retries(section),
            eject: Eject::default(),
            slow_start: whole.slow_start,
            send_proxy: whole.send_proxy,
            tls,
        };
        let pool = self.balance(section, pool);
        self.config.pools.push(pool);
        for at in section.own.iter().filter(|_| section.kind == super::Kind::Backend) {
            let name = at.name();
            let read =
                DIRECTIVES.contains(&name) || SHARED.contains(&name) || NOT_NEEDED.contains(&name);
            // Only idempotent requests are tried again anyway.
            let idempotent = at.parameter(0) == "disable-l7-retry";
            if !read && !idempotent && name != "no" {
                self.report.missing(at, "the directive is not supported in a backend");
            }
        }
    }

    /// One server with the parameters of `default-server` before its own.
    fn server(
        &mut self,
        at: &Directive,
        defaults: &[&Directive],
        whole: &mut Whole,
    ) -> Option<Server> {
        let address: SocketAddr = match at.parameter(1).parse() {
            Ok(address) => address,
            Err(_) => {
                self.report.missing(at, "the engine needs an address and a port, not a name");
                return None;
            }
        };
        let mut server = Server {
            name: at.parameter(0).to_owned(),
            address,
            weight: 1,
            max_connections: None,
            backup: false,
            state: State::Up,
        };
        let own = at.parameters().get(2..).unwrap_or_default();
        let defaults = defaults.iter().flat_map(|at| at.parameters());
        let mut words = defaults.chain(own).map(String::as_str);
        let mut checked = false;
        while let Some(word) = words.next() {
            let value =
                if WITH_VALUE.contains(&word) { words.next().unwrap_or_default() } else { "" };
            match word {
                "check" => checked = true,
                "no-check" => checked = false,
                "weight" => server.weight = value.parse().unwrap_or(1),
                "maxconn" => server.max_connections = value.parse().ok().and_then(NonZeroU16::new),
                "backup" => server.backup = true,
                "disabled" => server.state = State::Down,
                // The cookie's value is the server's name here.
                "cookie" | "id" | "check-sni" => {}
                "fastinter" | "downinter" => {
                    self.report.differs(at, "servers are checked at one interval in every state");
                }
                "verify" if value == "none" => {
                    self.report.differs(at, "'verify none': the engine always verifies servers");
                }
                _ => {
                    if let Err(problem) = whole.parameter(word, value) {
                        self.report.missing(at, problem);
                    }
                }
            }
        }
        whole.checks += usize::from(checked);
        Some(server)
    }

    fn server_tls(&mut self, section: &Section, whole: &Whole) -> Option<ServerTls> {
        if !whole.encrypted {
            return None;
        }
        match (&whole.ca, &whole.name) {
            (Some(ca), Some(name)) => Some(ServerTls::new(Pem::File(ca.clone()), name.clone())),
            _ => {
                let reason = "TLS to servers needs 'ca-file FILE' and 'verifyhost NAME' or 'sni str(NAME)'; \
                              they are reached without TLS";
                self.report.missing(&at_name(section), reason);
                None
            }
        }
    }

    fn health(&mut self, section: &Section, whole: &Whole) -> Health {
        let interval = whole.interval.unwrap_or(INTERVAL);
        let mut health = Health {
            interval,
            timeout: timeout(section, "check").unwrap_or(interval),
            up: whole.rise.unwrap_or(RISE),
            down: whole.fall.unwrap_or(FALL),
            ..Health::new(HealthKind::Tcp)
        };
        if option(section, "smtpchk").is_some() {
            health.kind = HealthKind::Smtp;
        }
        let Some(check) = option(section, "httpchk").filter(|_| is_http(section)) else {
            return health;
        };
        health.kind = HealthKind::Http;
        if let Some(path) = check.parameters().iter().find(|word| word.starts_with('/')) {
            health.path = path.clone();
        }
        let mut expected = false;
        for at in section.directives().filter(|at| at.name() == "http-check") {
            let words: Vec<&str> = at.parameters().iter().map(String::as_str).collect();
            match words.as_slice() {
                ["send", rest @ ..] => {
                    let uri = rest.iter().position(|word| *word == "uri");
                    health.path = uri
                        .and_then(|at| rest.get(at + 1))
                        .map_or(health.path, |p| (*p).to_owned());
                }
                ["expect", "status", status] if status.parse::<u16>().is_ok() => {
                    health.status = status.parse().unwrap_or(200);
                    expected = true;
                }
                ["expect", "string", text] => {
                    health.body = Some((*text).to_owned());
                    expected = true;
                }
                _ => self.report.missing(at, "this check has no equal"),
            }
        }
        if !expected {
            self.report.differs(check, "only status 200 passes; HAProxy accepts 2xx and 3xx");
        }
        health
    }

    fn persistence(&mut self, section: &Section) -> Option<Persistence> {
        if let Some(cookie) = section.last("cookie") {
            let name = Some(cookie.parameter(0).to_owned());
            if !cookie.words.iter().any(|word| word == "insert") {
                self.report.differs(cookie, "the engine inserts its own cookie");
            }
            return Some(Persistence { kind: PersistenceKind::Cookie, name });
        }
        let stick = section.directives().find(|at| at.name() == "stick")?;
        if stick.words.iter().any(|word| word == "src") {
            return Some(Persistence { kind: PersistenceKind::SourceIp, name: None });
        }
        let header = stick.words.iter().find_map(|word| {
            word.trim_start_matches("req.").strip_prefix("hdr(")?.strip_suffix(')')
        });
        if let Some(name) = header {
            return Some(Persistence {
                kind: PersistenceKind::Header,
                name: Some(name.to_owned()),
            });
        }
        self.report
            .missing(stick, "only 'stick on src' and 'stick on req.hdr(NAME)' are supported");
        None
    }

    fn balance(&mut self, section: &Section, mut pool: Pool) -> Pool {
        let Some(at) = section.last("balance") else { return pool };
        let text = at.parameter(0);
        pool.algorithm = match text.split(['(', ' ']).next().unwrap_or_default() {
            "roundrobin" | "static-rr" => Algorithm::RoundRobin,
            "leastconn" => Algorithm::LeastConnections,
            "random" => Algorithm::Random,
            "source" => Algorithm::SourceHash,
            "uri" => Algorithm::UriHash,
            "hdr" => {
                let name = text.trim_start_matches("hdr(").trim_end_matches(')');
                pool.hash_key = Some(name.to_owned());
                Algorithm::HeaderHash
            }
            other => {
                self.report.differs(at, format!("'{other}' is not supported; round robin is used"));
                Algorithm::RoundRobin
            }
        };
        pool
    }
}

fn at_name(section: &Section) -> Directive {
    Directive { words: vec![section.name.clone()], ..super::first(section) }
}

/// HAProxy tries three times again, on failed connections unless `retry-on` says more.
fn retries(section: &Section) -> Retries {
    let count = section.last("retries").and_then(|at| at.parameter(0).parse().ok()).unwrap_or(3);
    let mut on = vec![RetryOn::Connect];
    for word in section.last("retry-on").map(Directive::parameters).unwrap_or_default() {
        match word.as_str() {
            "empty-response" | "junk-response" => on.push(RetryOn::Closed),
            "response-timeout" => on.push(RetryOn::Timeout),
            "all-retryable-errors" => on.extend([RetryOn::Closed, RetryOn::Timeout]),
            status => on.extend(status.parse().ok().map(RetryOn::Status)),
        }
    }
    on.dedup();
    Retries { count, on, ..Retries::default() }
}
