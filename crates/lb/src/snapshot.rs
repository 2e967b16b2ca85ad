//! The configuration as the threads see it: checked, compiled, immutable, replaced as a whole.

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use proxying::http1;

use crate::config::{self, Config, Forwarded, Kind, Network};
use crate::policy::Rule;
use crate::pool::{Pool, Server, ServerState, hash};
use crate::tls;

/// Times of the stages in milliseconds.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Timeouts {
    pub(crate) client_header: u64,
    pub(crate) client_body: u64,
    pub(crate) keepalive: u64,
    pub(crate) server: u64,
    pub(crate) connect: u64,
    pub(crate) queue: u64,
    pub(crate) tunnel: u64,
}

/// A virtual service.
#[derive(Debug)]
pub(crate) struct Service {
    pub(crate) name: String,
    pub(crate) kind: Kind,
    pub(crate) listen: SocketAddr,
    pub(crate) pool: Arc<Pool>,
    pub(crate) accept_proxy: bool,
    pub(crate) tls: Option<Arc<rustls::ServerConfig>>,
    pub(crate) h2c: Option<config::H2c>,
    /// Requests at once of an HTTP/2 connection.
    pub(crate) h2_streams: u32,
    pub(crate) timeouts: Timeouts,
    pub(crate) limits: http1::Limits,
    pub(crate) body_max: u64,
    pub(crate) connections_max: u32,
    /// Open client connections of all threads.
    pub(crate) connections: Arc<AtomicU32>,
    pub(crate) forwarded: Forwarded,
    pub(crate) rules: Vec<Rule>,
    allow: Vec<Network>,
    deny: Vec<Network>,
}

impl Service {
    /// Whether a client may connect.
    pub(crate) fn admits(&self, client: IpAddr) -> bool {
        !self.deny.iter().any(|network| network.contains(client))
            && (self.allow.is_empty() || self.allow.iter().any(|network| network.contains(client)))
    }
}

/// Everything that the threads need.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) services: Vec<Arc<Service>>,
    pub(crate) pools: Vec<Arc<Pool>>,
}

impl Snapshot {
    /// Checks and compiles a configuration. The states of servers that `before` has, too, are kept.
    ///
    /// # Errors
    /// All problems, one per line.
    pub(crate) fn compile(config: &Config, before: Option<&Self>) -> Result<Self, String> {
        let mut problems = Vec::new();
        let size = config.transactions.as_ref().map(|transactions| transactions.size.0);
        if size.is_some_and(|size| size < 1 << 20) {
            problems.push("'transactions.size' is at least 1M".to_owned());
        }
        let mut pools = BTreeMap::new();
        for pool in &config.pools {
            let old = before.and_then(|before| before.pools.iter().find(|p| p.name == pool.name));
            match compile_pool(pool, old.map(|pool| &**pool)) {
                Ok(compiled) => {
                    if pools.insert(pool.name.clone(), Arc::new(compiled)).is_some() {
                        problems.push(format!("pool '{}' exists twice", pool.name));
                    }
                }
                Err(problem) => problems.push(format!("pool '{}': {problem}", pool.name)),
            }
        }
        let mut certificates = HashMap::new();
        for certificate in &config.certificates {
            match tls::load(certificate) {
                Ok(named) => drop(certificates.insert(certificate.name.clone(), named)),
                Err(problem) => {
                    problems.push(format!("certificate '{}': {problem}", certificate.name));
                }
            }
        }
        let mut services = Vec::new();
        let mut names = HashSet::new();
        for service in &config.virtual_services {
            if !names.insert(&service.name) {
                problems.push(format!("virtual service '{}' exists twice", service.name));
            }
            let old = before
                .and_then(|before| before.services.iter().find(|old| old.name == service.name));
            let open = old.map(|old| Arc::clone(&old.connections)).unwrap_or_default();
            match compile_service(service, &pools, &certificates, &open) {
                Ok(compiled) => services.extend(compiled),
                Err(problem) => {
                    problems.push(format!("virtual service '{}': {problem}", service.name));
                }
            }
        }
        if let Some(twice) = duplicate(services.iter().map(|service| service.listen)) {
            problems.push(format!("two virtual services listen on {twice}"));
        }
        if problems.is_empty() {
            Ok(Self { services, pools: pools.into_values().collect() })
        } else {
            Err(problems.join("\n"))
        }
    }
}

fn duplicate<T: std::hash::Hash + Eq + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = HashSet::new();
    let mut values = values;
    values.find(|value| !seen.insert(*value))
}

fn compile_pool(config: &config::Pool, old: Option<&Pool>) -> Result<Pool, String> {
    config.check()?;
    let mut servers = Vec::new();
    for server in &config.servers {
        let same = |old: &&Server| old.name == server.name && old.address == server.address;
        let old = old.and_then(|old| old.servers.iter().find(same));
        servers.push(Server {
            name: server.name.clone(),
            address: server.address,
            weight: server.weight,
            most: server.max_connections.map_or(u32::MAX, |most| u32::from(most.get())),
            backup: server.backup,
            admin: server.state,
            cookie: format!("{:016x}", hash(format!("{}/{}", config.name, server.name).as_bytes())),
            shared: old.map_or_else(|| ServerState::new(true), |old| Arc::clone(&old.shared)),
        });
    }
    let turn = old.map(Pool::turn).unwrap_or_default();
    let mut pool = Pool::new(config, servers, turn).arranged();
    pool.tls = config.tls.as_ref().map(|tls| tls::server_side(tls, config.protocol)).transpose()?;
    Ok(pool)
}

fn compile_service(
    config: &config::VirtualService,
    pools: &BTreeMap<String, Arc<Pool>>,
    certificates: &HashMap<String, tls::Named>,
    connections: &Arc<AtomicU32>,
) -> Result<Vec<Arc<Service>>, String> {
    config.check()?;
    let tls = config.tls.as_ref().map(|tls| tls::client_side(tls, certificates)).transpose()?;
    let addresses = config.listen.addresses().iter();
    let services = addresses.map(|listen| {
        let listening = Listening { address: *listen, tls: tls.clone(), connections };
        Ok(Arc::new(compile_at(config, pools, listening)?))
    });
    services.collect()
}

/// What a virtual service has at one of its addresses.
struct Listening<'c> {
    address: SocketAddr,
    tls: Option<Arc<rustls::ServerConfig>>,
    connections: &'c Arc<AtomicU32>,
}

fn compile_at(
    config: &config::VirtualService,
    pools: &BTreeMap<String, Arc<Pool>>,
    listening: Listening<'_>,
) -> Result<Service, String> {
    let pool = |name: &String| {
        pools.get(name).cloned().ok_or_else(|| {
            format!("pool '{name}' does not exist; add it to 'pools' or correct the name")
        })
    };
    let of_http2 = |name: &String| {
        pools.get(name).is_some_and(|pool| pool.protocol == config::Protocol::Http2)
    };
    if config.kind == Kind::Tcp && of_http2(&config.pool) {
        return Err("a service of type tcp needs a pool without 'protocol'".to_owned());
    }
    let rules = config.rules.iter().enumerate().map(|(at, rule)| {
        Rule::compile(rule, &pool).map_err(|problem| format!("rule {}: {problem}", at + 1))
    });
    let ms = |time: config::Time| {
        u64::try_from(time.0.min(Duration::from_secs(86_400)).as_millis()).unwrap_or(u64::MAX)
    };
    Ok(Service {
        name: config.name.clone(),
        kind: config.kind,
        listen: listening.address,
        pool: pool(&config.pool)?,
        accept_proxy: config.accept_proxy,
        tls: listening.tls,
        h2c: config.h2c,
        h2_streams: config.limits.h2_streams,
        timeouts: Timeouts {
            client_header: ms(config.timeouts.client_header),
            client_body: ms(config.timeouts.client_body),
            keepalive: ms(config.timeouts.keepalive),
            server: ms(config.timeouts.server),
            connect: ms(config.timeouts.connect),
            queue: ms(config.timeouts.queue),
            tunnel: ms(config.timeouts.tunnel),
        },
        limits: http1::Limits {
            target: config.limits.uri,
            head: config.limits.header_bytes,
            fields: config.limits.headers,
        },
        body_max: if config.limits.body == 0 { u64::MAX } else { config.limits.body },
        connections_max: config.limits.connections,
        connections: Arc::clone(listening.connections),
        forwarded: config.forwarded.clone(),
        rules: rules.collect::<Result<_, _>>()?,
        allow: config.allow.clone(),
        deny: config.deny.clone(),
    })
}
