//! `upstream` blocks, and the servers that `proxy_pass` names directly.

use std::net::SocketAddr;
use std::num::NonZeroU16;

use super::blocks::Block;
use super::{Import, time};
use crate::config::{
    Algorithm, Eject, Monitors, Pem, Persistence, PersistenceKind, Pool, Protocol, Retries,
    RetryOn, Server, ServerTls, State,
};
use crate::import::Directive;

/// nginx's defaults of `max_fails` and `fail_timeout`.
const FAILURES: u16 = 1;

impl Import {
    /// Adds the pool of an `upstream`.
    pub(super) fn upstream(&mut self, upstream: &Block) {
        let name = upstream.at.parameter(0).to_owned();
        let mut pool = pool(self.names.unique(&name));
        pool.eject.failures = FAILURES;
        for block in &upstream.inside {
            let at = &block.at;
            let words: Vec<&str> = at.words.iter().map(String::as_str).collect();
            match words.as_slice() {
                ["server", address, parameters @ ..] => {
                    let server = self.server_of(at, address, parameters, &mut pool);
                    pool.servers.extend(server);
                }
                ["least_conn"] => pool.algorithm = Algorithm::LeastConnections,
                ["ip_hash"] => pool.algorithm = Algorithm::SourceHash,
                ["random", ..] => pool.algorithm = Algorithm::Random,
                ["hash", "$request_uri" | "$uri", ..] => pool.algorithm = Algorithm::UriHash,
                ["hash", "$remote_addr" | "$binary_remote_addr", ..] => {
                    pool.algorithm = Algorithm::SourceHash;
                }
                ["hash", key, ..] if key.starts_with("$http_") => {
                    pool.algorithm = Algorithm::HeaderHash;
                    pool.hash_key = Some(key["$http_".len()..].replace('_', "-"));
                }
                ["sticky", "cookie", name, ..] | ["sticky", name, ..] if !name.contains('=') => {
                    let kind = PersistenceKind::Cookie;
                    pool.persistence = Some(Persistence { kind, name: Some((*name).to_owned()) });
                }
                [
                    "zone" | "keepalive" | "keepalive_timeout" | "keepalive_requests"
                    | "keepalive_time",
                    ..,
                ] => {}
                _ => self.report.missing(at, "the directive is not supported in an upstream"),
            }
        }
        if pool.servers.is_empty() {
            self.report.missing(&upstream.at, "it has no server that could be converted");
            return;
        }
        self.pools.insert(name, pool.name.clone());
        self.config.pools.push(pool);
    }

    fn server_of(
        &mut self,
        at: &Directive,
        address: &str,
        parameters: &[&str],
        pool: &mut Pool,
    ) -> Option<Server> {
        let Some(parsed) = socket(address, 80) else {
            self.report.missing(at, "the engine needs an address and a port, not a name");
            return None;
        };
        let mut server = server(parsed, address);
        for parameter in parameters {
            match parameter.split_once('=').unwrap_or((parameter, "")) {
                ("weight", value) => server.weight = value.parse().unwrap_or(1),
                ("max_conns", value) => {
                    server.max_connections = value.parse().ok().and_then(NonZeroU16::new)
                }
                ("backup", _) => server.backup = true,
                ("down", _) => server.state = State::Down,
                ("max_fails", value) => pool.eject.failures = value.parse().unwrap_or(FAILURES),
                ("fail_timeout", value) => {
                    pool.eject.time = time(value).unwrap_or(pool.eject.time);
                }
                ("slow_start", value) => pool.slow_start = pool.slow_start.max(time(value)),
                (name, _) => {
                    self.report.missing(at, format!("the parameter '{name}' is not supported"))
                }
            }
        }
        Some(server)
    }

    /// The pool that `proxy_pass` names: an upstream, or a pool of one server that is made here.
    pub(super) fn pool_of(&mut self, target: &str, port: u16) -> Option<String> {
        if let Some(name) = self.pools.get(target) {
            return Some(name.clone());
        }
        let address = socket(target, port)?;
        let name = self.names.unique(target);
        let mut pool = pool(name.clone());
        pool.servers.push(server(address, target));
        self.pools.insert(target.to_owned(), name.clone());
        self.config.pools.push(pool);
        Some(name)
    }

    /// TLS to the servers of a pool that an `https://` target names.
    pub(super) fn encrypt(&mut self, blocks: [&Block; 2], at: &Directive, pool: Option<&String>) {
        let Some(rest) = at.parameter(0).strip_prefix("https://") else { return };
        let find = |name| {
            blocks.iter().find_map(|block| block.first(name)).map(|found| found.at.parameter(0))
        };
        let Some(ca) = find("proxy_ssl_trusted_certificate") else {
            self.report.missing(
                at,
                "TLS to servers needs proxy_ssl_trusted_certificate; they are reached without",
            );
            return;
        };
        let target = rest.split(['/', ':', '$']).next().unwrap_or_default();
        let sni = find("proxy_ssl_name").unwrap_or(target).to_owned();
        let tls = ServerTls::new(Pem::File(self.folder.join(ca)), sni);
        let pool = self.config.pools.iter_mut().find(|own| Some(&own.name) == pool);
        pool.into_iter().for_each(|pool| pool.tls = Some(tls.clone()));
    }
}

fn server(address: SocketAddr, name: &str) -> Server {
    let name = name.to_owned();
    Server { name, address, weight: 1, max_connections: None, backup: false, state: State::Up }
}

fn pool(name: String) -> Pool {
    // `proxy_next_upstream error timeout`, with idempotent methods alone after a request was sent.
    let on = vec![RetryOn::Connect, RetryOn::Closed, RetryOn::Timeout];
    Pool {
        name,
        protocol: Protocol::default(),
        algorithm: Algorithm::default(),
        hash_key: None,
        servers: Vec::new(),
        persistence: None,
        health: Monitors::default(),
        min_monitors: None,
        retries: Retries { on, ..Retries::default() },
        eject: Eject::default(),
        slow_start: None,
        send_proxy: None,
        tls: None,
    }
}

/// An address with the port that holds if none is written; `localhost` is 127.0.0.1.
fn socket(text: &str, port: u16) -> Option<SocketAddr> {
    let text = text.replace("localhost", "127.0.0.1");
    let address = text.parse().ok();
    address.or_else(|| Some(SocketAddr::new(text.trim_matches(['[', ']']).parse().ok()?, port)))
}
