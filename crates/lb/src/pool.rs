//! Pools: which server gets a request.

mod arrange;
mod budget;
mod checks;
mod ejection;
pub(crate) mod group;
mod load;
mod ramp;
mod server_state;

use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use proxying::engine_link::analytics::State as Seen;

use crate::config::{Algorithm, Health, PersistenceKind, RetryOn, State};
use budget::Retries;
pub(crate) use ejection::Ejection;
pub(crate) use server_state::ServerState;

/// One server.
#[derive(Debug, Clone)]
pub(crate) struct Server {
    /// Name in the pool.
    pub(crate) name: String,
    /// Address and port.
    pub(crate) address: SocketAddr,
    pub(crate) weight: u16,
    pub(crate) most: u32,
    pub(crate) backup: bool,
    pub(crate) admin: State,
    /// Value of the persistence cookie.
    pub(crate) cookie: String,
    pub(crate) shared: Arc<ServerState>,
}

impl Server {
    /// Takes a place below the limit.
    fn acquire(&self) -> bool {
        let before = self.shared.active.fetch_add(1, Relaxed);
        if before >= self.most {
            self.shared.active.fetch_sub(1, Relaxed);
            return false;
        }
        true
    }

    /// Requests or connections in flight.
    pub(crate) fn active(&self) -> u32 {
        self.shared.active.load(Relaxed)
    }

    /// How it is seen from here. `monitored`: the pool has health monitors.
    pub(crate) fn state(&self, monitored: bool, now_ms: u64) -> Seen {
        let shared = &self.shared;
        match self.admin {
            State::Drain => Seen::Drain,
            State::Down => Seen::Disabled,
            State::Up if !shared.healthy.load(Relaxed) => Seen::Down,
            State::Up if shared.ejection.holds(now_ms) => Seen::Down,
            State::Up if monitored && shared.checked.load(Relaxed) => Seen::Up,
            State::Up => Seen::Unchecked,
        }
    }

    /// Whether an administrator lets clients without persistence use it.
    pub(crate) fn is_open(&self) -> bool {
        self.admin == State::Up && self.weight > 0
    }
}

/// A group of servers.
#[derive(Debug, Clone)]
pub(crate) struct Pool {
    /// Name that virtual services refer to.
    pub(crate) name: String,
    /// Servers in the order of the file.
    pub(crate) servers: Vec<Server>,
    pub(crate) protocol: crate::config::Protocol,
    pub(crate) algorithm: Algorithm,
    pub(crate) hash_key: Option<String>,
    pub(crate) persistence: Option<(PersistenceKind, String)>,
    pub(crate) monitors: Vec<Health>,
    /// Monitors that a server must pass.
    pub(crate) monitors_needed: usize,
    pub(crate) retries: Retries,
    pub(crate) eject_failures: u32,
    pub(crate) eject_ms: u64,
    /// Length of a slow start; 0: there is none.
    slow_ms: u64,
    pub(crate) send_proxy: Option<proxying::proxy_header::Version>,
    pub(crate) tls: Option<crate::tls::ServerSide>,
    /// Servers by weight, interleaved.
    schedule: Vec<u16>,
    turn: Arc<AtomicUsize>,
    /// Points of a consistent hash, sorted; empty if no hash chooses the server.
    ring: Vec<(u64, u16)>,
    /// It is for copies of requests, which do not wait for a server and get none that is ejected.
    pub(crate) for_copies: bool,
}

/// What is known about a request that needs a server.
#[derive(Debug, Clone, Default)]
pub(crate) struct Wish {
    /// Of the client, the URI or a header.
    pub(crate) hash: Option<u64>,
    /// Server of the persistence cookie.
    pub(crate) sticky: Option<u16>,
    /// Servers that failed for this request.
    pub(crate) tried: Vec<u16>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Choice {
    /// This server; a place is taken.
    Server(u16),
    /// All servers that may be used have as much as they may have.
    Full,
    /// No server may be used.
    Unavailable,
}

/// Hash of a key: FNV-1a with the finalizer of SplitMix64. It is the same in every process, so that
/// engines agree.
pub(crate) fn hash(bytes: &[u8]) -> u64 {
    let fnv = bytes.iter().fold(0xcbf2_9ce4_8422_2325_u64, |hash, byte| {
        (hash ^ u64::from(*byte)).wrapping_mul(0x0000_0100_0000_01b3)
    });
    let mixed = (fnv ^ (fnv >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    mixed ^ (mixed >> 31)
}

fn ms(time: crate::config::Time) -> u64 {
    u64::try_from(time.0.as_millis()).unwrap_or(u64::MAX)
}

impl Pool {
    /// Completes a pool: the schedule and the ring follow from its servers.
    pub(crate) fn arranged(mut self) -> Self {
        self.schedule =
            arrange::schedule(&self.servers.iter().map(|server| server.weight).collect::<Vec<_>>());
        let persistence = self.persistence.as_ref();
        if self.algorithm.hashes() || persistence.is_some_and(|(kind, _)| kind.hashes()) {
            self.ring = arrange::ring(&self.servers);
        }
        self
    }

    pub(crate) fn new(
        config: &crate::config::Pool,
        servers: Vec<Server>,
        turn: Arc<AtomicUsize>,
    ) -> Self {
        use crate::config::ProxyVersion;
        let persistence = config.persistence.as_ref();
        Self {
            name: config.name.clone(),
            servers,
            protocol: config.protocol,
            algorithm: config.algorithm,
            hash_key: config.hash_key.clone(),
            persistence: persistence.map(|p| (p.kind, p.name.clone().unwrap_or_default())),
            monitors: config.monitors(),
            monitors_needed: config.monitors_needed(),
            retries: Retries::new(&config.retries),
            eject_failures: u32::from(config.eject.failures),
            eject_ms: ms(config.eject.time),
            slow_ms: config.slow_start.map_or(0, ms),
            send_proxy: config.send_proxy.map(|version| match version {
                ProxyVersion::V1 => proxying::proxy_header::Version::V1,
                ProxyVersion::V2 => proxying::proxy_header::Version::V2,
            }),
            tls: None,
            schedule: Vec::new(),
            turn,
            ring: Vec::new(),
            for_copies: false,
        }
    }

    /// The same servers for copies of requests, whose turns, repetitions and ejections are not those of clients.
    pub(crate) fn for_copies(&self) -> Self {
        Self { for_copies: true, turn: Arc::default(), ..self.clone() }
    }

    fn ejection<'s>(&self, server: &'s Server) -> &'s Ejection {
        if self.for_copies { &server.shared.ejection_of_copies } else { &server.shared.ejection }
    }

    pub(crate) fn turn(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.turn)
    }

    pub(crate) fn server(&self, index: u16) -> &Server {
        &self.servers[usize::from(index)]
    }

    /// Hash of a client's address, if it chooses the server.
    pub(crate) fn source_hash(&self, client: IpAddr) -> Option<u64> {
        let persists = matches!(self.persistence, Some((PersistenceKind::SourceIp, _)));
        (persists || self.algorithm == Algorithm::SourceHash).then(|| match client.to_canonical() {
            IpAddr::V4(address) => hash(&address.octets()),
            IpAddr::V6(address) => hash(&address.octets()),
        })
    }

    /// Whether a server may get more of a client that it has.
    pub(crate) fn keeps(&self, index: u16, now_ms: u64) -> bool {
        let server = self.server(index);
        server.admin != State::Down && self.works(server, now_ms)
    }

    /// Counts a request for the budget of repetitions.
    pub(crate) fn count_request(&self, now_ms: u64) {
        self.retries.count_request(now_ms);
    }

    /// Whether a request may be repeated for this reason after as many repetitions.
    pub(crate) fn may_repeat(&self, on: RetryOn, repeated: u8) -> bool {
        repeated < self.retries.count && self.retries.on.contains(&on) && self.retries.spend()
    }

    /// Whether a request that this server has answered may go to another one.
    pub(crate) fn has_other(&self, wish: &Wish, index: u16, now_ms: u64) -> bool {
        self.indices().any(|other| {
            let server = self.server(other);
            other != index
                && !wish.tried.contains(&other)
                && server.is_open()
                && self.works(server, now_ms)
        })
    }

    /// Chooses a server and takes a place there.
    pub(crate) fn choose(&self, wish: &Wish, random: u64, now_ms: u64) -> Choice {
        if let Some(index) = wish.sticky
            && self.keeps(index, now_ms)
            && !wish.tried.contains(&index)
        {
            return if self.server(index).acquire() { Choice::Server(index) } else { Choice::Full };
        }
        let mut full = false;
        // Ejected servers are better than none for clients.
        let passes = [(false, false), (true, false), (false, true), (true, true)];
        for (backup, ejected) in passes.into_iter().take(if self.for_copies { 2 } else { 4 }) {
            let usable = |index: u16| {
                let server = self.server(index);
                server.backup == backup
                    && server.is_open()
                    && server.shared.healthy.load(Relaxed)
                    && (ejected || !self.ejection(server).holds(now_ms))
                    && !wish.tried.contains(&index)
            };
            let mut usable = |index: u16| {
                let below = usable(index) && self.server(index).active() < self.server(index).most;
                full |= usable(index) && !below;
                below
            };
            if let Some(index) = self.eased(wish, random, now_ms, &mut usable)
                && self.server(index).acquire()
            {
                return Choice::Server(index);
            }
        }
        if full { Choice::Full } else { Choice::Unavailable }
    }

    /// Servers for clients without persistence that are neither down nor ejected.
    fn usable(&self, now_ms: u64) -> impl Iterator<Item = &Server> {
        self.servers.iter().filter(move |server| server.is_open() && self.works(server, now_ms))
    }

    fn is_usable(&self, now_ms: u64) -> bool {
        self.usable(now_ms).next().is_some()
    }

    fn works(&self, server: &Server, now_ms: u64) -> bool {
        server.shared.healthy.load(Relaxed) && !self.ejection(server).holds(now_ms)
    }

    /// The choice of the algorithm. A server that starts slowly passes a part of its turns on; if no server takes
    /// one, it gets it after all.
    fn eased(
        &self,
        wish: &Wish,
        random: u64,
        now_ms: u64,
        usable: &mut dyn FnMut(u16) -> bool,
    ) -> Option<u16> {
        // A client that always has the same server cannot have a part of it.
        if self.slow_ms > 0 && wish.hash.is_none() {
            let part = |server: &Server| server.shared.part(self.slow_ms, now_ms);
            let mut largest = 1;
            self.usable(now_ms).any(|server| {
                largest = part(server).max(largest);
                largest == ramp::FULL
            });
            let mut decisions = ramp::Decisions::of(random, largest);
            let mut takes = |index| usable(index) && decisions.takes(part(self.server(index)));
            let found = self.by_algorithm(wish, random, now_ms, &mut takes);
            if found.is_some() {
                return found;
            }
        }
        self.by_algorithm(wish, random, now_ms, usable)
    }

    /// Requests in flight, or how long another one would take, per weight; comparable between servers.
    fn load(&self, index: u16, now_ms: u64) -> u128 {
        let (server, pressure) = (self.server(index), self.pressure(index, now_ms));
        let load = match self.algorithm {
            Algorithm::LeastLoad => server.shared.response_time.load(pressure, now_ms),
            _ => u128::from(pressure),
        };
        (load << 16) / u128::from(server.weight.max(1))
    }

    /// Requests in flight; of a server that starts slowly, what they would be of its whole share.
    fn pressure(&self, index: u16, now_ms: u64) -> u32 {
        let shared = &self.server(index).shared;
        let (active, part) = (shared.active.load(Relaxed), shared.part(self.slow_ms, now_ms));
        let whole = u64::from(active) * u64::from(ramp::FULL) / u64::from(part);
        u32::try_from(whole).unwrap_or(u32::MAX)
    }

    fn by_algorithm(
        &self,
        wish: &Wish,
        random: u64,
        now_ms: u64,
        usable: &mut dyn FnMut(u16) -> bool,
    ) -> Option<u16> {
        match (wish.hash, self.algorithm) {
            (Some(hash), _) => self.by_hash(hash, usable),
            (None, Algorithm::LeastConnections | Algorithm::LeastLoad) => {
                self.least(now_ms, usable)
            }
            (None, Algorithm::Random) => self.of_two(random, now_ms, usable),
            (None, _) => self.in_turn(usable),
        }
    }

    /// A turn that falls on a server that cannot be used is passed on to the next turn, not to the
    /// next server, so that no server gets the share of its neighbour.
    fn in_turn(&self, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
        let all = self.schedule.len();
        (0..all)
            .map(|_| self.schedule[self.turn.fetch_add(1, Relaxed) % all])
            .find(|index| usable(*index))
            .or_else(|| self.indices().find(|index| usable(*index)))
    }

    fn indices(&self) -> impl Iterator<Item = u16> {
        (0..self.servers.len()).map(|index| u16::try_from(index).unwrap_or(u16::MAX))
    }

    fn least(&self, now_ms: u64, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
        let all = self.servers.len().max(1);
        // Equal servers take turns.
        let first = self.turn.fetch_add(1, Relaxed);
        self.indices()
            .map(|index| u16::try_from((usize::from(index) + first) % all).unwrap_or(0))
            .filter(|index| usable(*index))
            .min_by_key(|index| self.load(*index, now_ms))
    }

    fn of_two(&self, random: u64, now_ms: u64, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
        // The schedule has each server as often as its weight says.
        let all = self.schedule.len() as u64;
        let mut draw = |random: u64| {
            let first = random.checked_rem(all)?;
            let mut from = (first..all).chain(0..first);
            from.find_map(|at| {
                let index = self.schedule[usize::try_from(at).unwrap_or(0)];
                usable(index).then_some(index)
            })
        };
        let (one, other) = (draw(random & 0xffff_ffff)?, draw(random >> 32)?);
        // The schedule has the weights already.
        let better = self.pressure(other, now_ms) < self.pressure(one, now_ms);
        Some(if better { other } else { one })
    }

    fn by_hash(&self, hash: u64, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
        let first = self.ring.partition_point(|(point, _)| *point < hash);
        let (before, after) = self.ring.split_at(first);
        after.iter().chain(before).map(|(_, index)| *index).find(|index| usable(*index))
    }

    /// A server responded.
    pub(crate) fn succeeded(&self, index: u16) {
        self.ejection(self.server(index)).succeeded();
    }

    /// A server did not respond; after too many of these in a row it is ejected for a while.
    pub(crate) fn failed(&self, index: u16, now_ms: u64) {
        let server = self.server(index);
        server.shared.failures_total.fetch_add(1, Relaxed);
        let ejection = self.ejection(server);
        if let Some(failures) = ejection.failed(self.eject_failures, self.eject_ms, now_ms) {
            let whose = if self.for_copies { "copies of requests" } else { "requests" };
            tracing::warn!(
                "pool {}: server {} failed {failures} times in a row; it gets no {whose} for {} ms",
                self.name,
                server.name,
                self.eject_ms
            );
        }
    }

    /// The server of a persistence cookie.
    pub(crate) fn by_cookie(&self, value: &[u8]) -> Option<u16> {
        self.indices().find(|index| self.server(*index).cookie.as_bytes() == value)
    }
}

#[cfg(test)]
mod tests;
