//! The configuration as the threads see it: checked, compiled, immutable, replaced as a whole.

mod served;

use std::collections::{BTreeMap, HashMap, HashSet};
use std::net::SocketAddr;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::AtomicU32;
use std::time::Duration;

use proxying::http1;
use stdx::clock::SharedClock;

use crate::acme::{self, Automatic, Challenges};
use crate::auth::Policies;
use crate::cache::{Cache, Line};
use crate::compression::{self, Streams};
use crate::config::{self, Config, Kind};
use crate::mirror::{Copies, Mirror};
use crate::ocsp::Staple;
use crate::policy::Rule;
use crate::pool::group::{Group, Target};
use crate::pool::{Pool, Server, ServerState, hash};
use crate::quic_settings;
use crate::rate::{Limit, Table};
use crate::tally::Tally;
use crate::tickets::Tickets;
use crate::tls;
use crate::udp_settings::UdpSettings;
pub(crate) use served::{Endpoint, Service, Timeouts};

/// Everything that the threads need.
#[derive(Debug)]
pub(crate) struct Snapshot {
    pub(crate) services: Vec<Arc<Service>>,
    pub(crate) pools: Vec<Arc<Pool>>,
    groups: Vec<Arc<Group>>,
    pub(crate) acme: Automatic,
    /// Folder with the programs of monitors of type `script`.
    pub(crate) monitor_scripts: Option<PathBuf>,
    /// Certificates about which a responder is asked.
    pub(crate) staples: Vec<Arc<Staple>>,
    /// Secrets of session tickets, which outlive changes.
    pub(crate) tickets: Arc<Tickets>,
    /// Threads that count.
    threads: usize,
}

impl Snapshot {
    /// One without services, for so many threads. `clock`: that of a running engine.
    pub(crate) fn empty(threads: usize, clock: Option<&SharedClock>) -> Self {
        Self {
            services: Vec::new(),
            pools: Vec::new(),
            groups: Vec::new(),
            acme: Automatic::default(),
            monitor_scripts: None,
            staples: Vec::new(),
            tickets: Arc::new(Tickets::new(clock)),
            threads,
        }
    }

    /// Checks and compiles a configuration. The states of servers that `before` has, too, are kept; new ones
    /// of its pools, and those that are in use again, start slowly at `now_ms`.
    ///
    /// # Errors
    /// All problems, one per line.
    pub(crate) fn compile(
        config: &Config,
        before: Option<&Self>,
        now_ms: u64,
    ) -> Result<Self, String> {
        let threads = before.map_or(0, |before| before.threads);
        let mut problems = Vec::new();
        let size = config.transactions.as_ref().map(|transactions| transactions.size.0);
        if size.is_some_and(|size| size < 1 << 20) {
            problems.push("'transactions.size' is at least 1M".to_owned());
        }
        let named = ByName::of(before);
        let mut pools = BTreeMap::new();
        for pool in &config.pools {
            let old = named.pools.get(&*pool.name).copied();
            match compile_pool(pool, old, threads, now_ms) {
                Ok(compiled) => {
                    if pools.insert(pool.name.clone(), Arc::new(compiled)).is_some() {
                        problems.push(format!("pool '{}' exists twice", pool.name));
                    }
                }
                Err(problem) => problems.push(format!("pool '{}': {problem}", pool.name)),
            }
        }
        let targets = Targets::of(&config.pool_groups, &pools, &named, &mut problems);
        let pool_configs: HashMap<_, _> =
            config.pools.iter().map(|pool| (&*pool.name, pool)).collect();
        let automatic = Automatic::compile(config.acme.as_ref(), before.map(|before| &before.acme));
        let material = material(config, &automatic, before, &mut problems);
        let limited = config.virtual_services.iter().any(|service| service.rate_limit.is_some());
        let counted = limited.then(|| before.and_then(Self::counted).unwrap_or_else(Table::new));
        let streams = Streams::of(config, before.and_then(Self::streams));
        let mut services = Vec::new();
        let mut names = HashSet::new();
        for service in &config.virtual_services {
            if !names.insert(&service.name) {
                problems.push(format!("virtual service '{}' exists twice", service.name));
            }
            let old = named.services.get(&*service.name).copied();
            let shared = Shared {
                counted: counted.as_ref(),
                streams: &streams,
                challenges: &automatic.challenges,
                threads,
            };
            let kept = Kept::of(old, &shared);
            let compiled = targets
                .suit(service, &pool_configs)
                .and_then(|()| compile_service(service, &targets, &material, &kept));
            match compiled {
                Ok(compiled) => services.extend(compiled),
                Err(problem) => {
                    problems.push(format!("virtual service '{}': {problem}", service.name));
                }
            }
        }
        problems.extend(collision(&services));
        if problems.is_empty() {
            let (pools, groups) = (pools.into_values().collect(), targets.groups());
            let (monitor_scripts, tls::Material { staples, tickets, .. }) =
                (config.monitor_scripts.clone(), material);
            let acme = automatic;
            Ok(Self { services, pools, groups, acme, monitor_scripts, staples, tickets, threads })
        } else {
            Err(problems.join("\n"))
        }
    }

    /// It comes into use: changes of resources apply to its caches, too.
    pub(crate) fn begin(&self) {
        for service in &self.services {
            service.caches.turn_to(service.cache.as_ref());
        }
    }

    /// Responses that are being compressed.
    fn streams(&self) -> Option<&Streams> {
        self.services.iter().find_map(|service| Some(service.compression.as_ref()?.all()))
    }

    /// What is counted for the limits of rates.
    fn counted(&self) -> Option<Arc<Table>> {
        self.services.iter().find_map(|service| Some(service.rate_limit.as_ref()?.table()))
    }
}

/// What services need for TLS: certificates of files and of authorities by name, and what outlives changes.
fn material(
    config: &Config,
    automatic: &Automatic,
    before: Option<&Snapshot>,
    problems: &mut Vec<String>,
) -> tls::Material {
    let (mut certificates, mut staples) = (HashMap::new(), Vec::new());
    let old = before.map(|before| &*before.staples).unwrap_or_default();
    for certificate in &config.certificates {
        let name = &certificate.name;
        match tls::load(certificate) {
            Ok(mut named) => {
                if config.ocsp.is_some() {
                    staples.extend(named.staple(name, old));
                }
                if named.lacks_staple() {
                    tracing::warn!(
                        "certificate '{name}' demands OCSP responses, but clients get none: 'ocsp' is missing, or the certificate names no responder, or its issuer is not in its chain"
                    );
                }
                certificates.insert(name.clone(), named);
            }
            Err(problem) => problems.push(format!("certificate '{name}': {problem}")),
        }
    }
    for expected in &config.expected_certificates {
        certificates.insert(expected.name.clone(), tls::Named::expected(expected));
    }
    if let Some(acme) = &config.acme {
        problems.extend(acme.check(config).err().unwrap_or_default());
        problems.extend(acme.ca.as_ref().and_then(|ca| acme::authorities(ca).err()));
    }
    for slot in &automatic.slots {
        certificates.insert(slot.wanted.name.clone(), tls::Named::automatic(slot));
    }
    let tickets = before.map(|before| Arc::clone(&before.tickets));
    let tickets = tickets.unwrap_or_else(|| Arc::new(Tickets::new(None)));
    tls::Material { certificates, staples, tickets }
}

/// What a snapshot has, by name: a change of one object of 20,000 looks each of them up.
#[derive(Default)]
struct ByName<'s> {
    pools: HashMap<&'s str, &'s Pool>,
    groups: HashMap<&'s str, &'s Group>,
    /// A service with several addresses: the first.
    services: HashMap<&'s str, &'s Arc<Service>>,
}

impl<'s> ByName<'s> {
    fn of(snapshot: Option<&'s Snapshot>) -> Self {
        let Some(snapshot) = snapshot else { return Self::default() };
        Self {
            pools: snapshot.pools.iter().map(|pool| (&*pool.name, &**pool)).collect(),
            groups: snapshot.groups.iter().map(|group| (&*group.name, &**group)).collect(),
            services: snapshot
                .services
                .iter()
                .rev()
                .map(|service| (&*service.name, service))
                .collect(),
        }
    }
}

/// What services and rules may send requests to, by name.
struct Targets(HashMap<String, Target>);

impl Targets {
    fn of(
        configs: &[config::PoolGroup],
        pools: &BTreeMap<String, Arc<Pool>>,
        before: &ByName<'_>,
        problems: &mut Vec<String>,
    ) -> Self {
        let pool = |(name, pool): (&String, &Arc<Pool>)| (name.clone(), Target::Pool(pool.clone()));
        let mut targets: HashMap<_, _> = pools.iter().map(pool).collect();
        for config in configs {
            let name = &config.name;
            match Group::compile(config, pools, before.groups.get(&**name).copied()) {
                Err(problem) => problems.push(format!("pool group '{name}': {problem}")),
                Ok(_) if targets.contains_key(name) => {
                    problems
                        .push(format!("pool group '{name}': another one or a pool has its name"));
                }
                Ok(group) => drop(targets.insert(name.clone(), Target::Group(Arc::new(group)))),
            }
        }
        Self(targets)
    }

    fn named(&self, name: &str) -> Result<Target, String> {
        self.0.get(name).cloned().ok_or_else(|| {
            format!("pool '{name}' does not exist; add it to 'pools' or correct the name")
        })
    }

    /// Checks that a service can use all pools that it may send to by default.
    fn suit(
        &self,
        service: &config::VirtualService,
        configs: &HashMap<&str, &config::Pool>,
    ) -> Result<(), String> {
        let target = self.named(&service.pool)?;
        let mut pools = target.pools().filter_map(|pool| configs.get(&*pool.name));
        pools.try_for_each(|pool| service.check_pool(pool))
    }

    fn groups(&self) -> Vec<Arc<Group>> {
        let group = |target: &Target| match target {
            Target::Pool(_) => None,
            Target::Group(group) => Some(Arc::clone(group)),
        };
        self.0.values().filter_map(group).collect()
    }
}

/// What outlives a change of a virtual service.
struct Kept<'s> {
    connections: Arc<AtomicU32>,
    counted: Option<Arc<Table>>,
    challenges: Arc<Challenges>,
    threads: usize,
    udp: Option<&'s UdpSettings>,
    compression: Option<&'s compression::Settings>,
    cache: Option<&'s Arc<Cache>>,
    caches: Arc<Line>,
    streams: &'s Streams,
    copies: Arc<Copies>,
    tally: Arc<Tally>,
}

/// What all services of a configuration share.
struct Shared<'s> {
    counted: Option<&'s Arc<Table>>,
    streams: &'s Streams,
    challenges: &'s Arc<Challenges>,
    threads: usize,
}

impl<'s> Kept<'s> {
    /// Of a service as it was before, if it was there; the rest is that of all services.
    fn of(old: Option<&'s Arc<Service>>, shared: &Shared<'s>) -> Self {
        let Shared { counted, streams, challenges, threads } = *shared;
        Self {
            connections: old.map(|old| Arc::clone(&old.connections)).unwrap_or_default(),
            counted: counted.cloned(),
            challenges: Arc::clone(challenges),
            threads,
            udp: old.and_then(|old| old.udp.as_ref()),
            compression: old.and_then(|old| old.compression.as_deref()),
            cache: old.and_then(|old| old.cache.as_ref()),
            caches: old.map(|old| Arc::clone(&old.caches)).unwrap_or_default(),
            streams,
            copies: old.map(|old| Arc::clone(&old.copies)).unwrap_or_default(),
            tally: old.map_or_else(|| Arc::new(Tally::new(threads)), |old| Arc::clone(&old.tally)),
        }
    }
}

/// The problem of two services at one address.
fn collision(services: &[Arc<Service>]) -> Option<String> {
    let twice = duplicate(services.iter().flat_map(|service| service.endpoints()))?;
    let mut there = services.iter().filter(|service| service.listen == twice.address);
    let hint = if twice.datagrams && there.any(|service| service.quic.is_some()) {
        " for datagrams; HTTP/3 needs the UDP port: remove 'h3' from 'tls.alpn', or move one"
    } else {
        ""
    };
    Some(format!("two virtual services listen on {}{hint}", twice.address))
}

fn duplicate<T: std::hash::Hash + Eq + Copy>(values: impl Iterator<Item = T>) -> Option<T> {
    let mut seen = HashSet::new();
    let mut values = values;
    values.find(|value| !seen.insert(*value))
}

fn compile_pool(
    config: &config::Pool,
    old_pool: Option<&Pool>,
    threads: usize,
    now_ms: u64,
) -> Result<Pool, String> {
    config.check()?;
    let mut servers = Vec::new();
    for server in &config.servers {
        let same = |old: &&Server| old.name == server.name && old.address == server.address;
        let old = old_pool.and_then(|old| old.servers.iter().find(same));
        let compiled = Server {
            name: server.name.clone(),
            address: server.address,
            weight: server.weight,
            most: server.max_connections.map_or(u32::MAX, |most| u32::from(most.get())),
            backup: server.backup,
            admin: server.state,
            cookie: format!("{:016x}", hash(format!("{}/{}", config.name, server.name).as_bytes())),
            shared: old
                .map_or_else(|| ServerState::new(true, threads), |old| Arc::clone(&old.shared)),
        };
        if old_pool.is_some() && compiled.is_open() && !old.is_some_and(Server::is_open) {
            compiled.shared.come_back(now_ms);
        }
        servers.push(compiled);
    }
    let turn = old_pool.map(Pool::turn).unwrap_or_default();
    let mut pool = Pool::new(config, servers, turn).arranged();
    pool.tls = config.tls.as_ref().map(|tls| tls::server_side(tls, config.protocol)).transpose()?;
    Ok(pool)
}

fn compile_service(
    config: &config::VirtualService,
    targets: &Targets,
    material: &tls::Material,
    kept: &Kept<'_>,
) -> Result<Vec<Arc<Service>>, String> {
    config.check()?;
    let tls = config.tls.as_ref();
    let tls = tls.map(|tls| tls::client_side(&config.name, tls, material)).transpose()?;
    let quic = tls
        .as_ref()
        .filter(|_| config.has_http3())
        .map(|tls| quic_settings::settings(config, tls))
        .transpose()?;
    let policies = config.authentication.as_ref().map(Policies::compile).transpose()?;
    let policies = policies.map(Arc::new);
    let compression = config.compression.as_ref().map(|compression| {
        Arc::new(compression::Settings::compile(compression, kept.streams, kept.compression))
    });
    let cache = Cache::compile(config, kept.cache)?;
    let addresses = config.listen.addresses().iter();
    let services = addresses.map(|listen| {
        let listening = Listening {
            address: *listen,
            tls: tls.clone(),
            quic: quic.clone(),
            policies: policies.clone(),
            compression: compression.clone(),
            cache: cache.clone(),
            kept,
        };
        Ok(Arc::new(compile_at(config, targets, listening)?))
    });
    services.collect()
}

/// What a virtual service has at one of its addresses.
struct Listening<'c> {
    address: SocketAddr,
    tls: Option<Arc<rustls::ServerConfig>>,
    quic: Option<Arc<quinn_proto::ServerConfig>>,
    policies: Option<Arc<Policies>>,
    compression: Option<Arc<compression::Settings>>,
    cache: Option<Arc<Cache>>,
    kept: &'c Kept<'c>,
}

fn compile_at(
    config: &config::VirtualService,
    targets: &Targets,
    listening: Listening<'_>,
) -> Result<Service, String> {
    let target = targets.named(&config.pool)?;
    let rules = config.rules.iter().enumerate().map(|(at, rule)| {
        let name = format!("virtual service '{}', rule {}", config.name, at + 1);
        Rule::compile(rule, &name, &|name| targets.named(name))
            .map_err(|problem| format!("rule {}: {problem}", at + 1))
    });
    let ms = |time: config::Time| {
        u64::try_from(time.0.min(Duration::from_secs(86_400)).as_millis()).unwrap_or(u64::MAX)
    };
    let kept = listening.kept;
    let mirror = config.mirror.as_ref();
    let mirror = mirror.map(|mirror| Mirror::compile(mirror, &|name| targets.named(name)));
    let rate_limit = config.rate_limit.as_ref().zip(kept.counted.as_ref());
    Ok(Service {
        name: config.name.clone(),
        kind: config.kind,
        listen: listening.address,
        target,
        accept_proxy: config.accept_proxy,
        tls: listening.tls,
        quic: listening.quic,
        alt_svc: config.alt_svc(listening.address.port()),
        challenges: Arc::clone(&kept.challenges),
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
        rate_limit: rate_limit.map(|(limit, table)| Limit::compile(limit, table)),
        policies: listening.policies,
        compression: listening.compression,
        cache: listening.cache,
        caches: Arc::clone(&kept.caches),
        mirror: mirror.transpose()?.map(Arc::new),
        copies: Arc::clone(&kept.copies),
        udp: (config.kind == Kind::Udp)
            .then(|| UdpSettings::compile(config, kept.threads, kept.udp)),
        connections_max: config.limits.connections,
        connections: Arc::clone(&kept.connections),
        tally: Arc::clone(&kept.tally),
        forwarded: config.forwarded.clone(),
        rules: rules.collect::<Result<_, _>>()?,
        allow: config.allow.clone(),
        deny: config.deny.clone(),
    })
}
