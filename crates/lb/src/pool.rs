//! Pools: which server gets a request.

mod arrange;

use std::net::SocketAddr;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU32, AtomicU64, AtomicUsize, Ordering::Relaxed};

use crate::config::{Algorithm, Health, PersistenceKind, RetryOn, State};

/// What all threads share about a server. It outlives a change of the configuration.
#[derive(Debug)]
pub(crate) struct ServerState {
    /// Number within this process.
    pub(crate) id: u32,
    /// Requests or connections in flight.
    active: AtomicU32,
    /// By its health monitor; a server without one is healthy.
    healthy: AtomicBool,
    /// Failures in a row.
    failures: AtomicU32,
    /// Monotonic milliseconds until which it is ejected.
    ejected_until: AtomicU64,
}

impl ServerState {
    pub(crate) fn new(healthy: bool) -> Arc<Self> {
        static NEXT: AtomicU32 = AtomicU32::new(0);
        Arc::new(Self {
            id: NEXT.fetch_add(1, Relaxed),
            active: AtomicU32::new(0),
            healthy: AtomicBool::new(healthy),
            failures: AtomicU32::new(0),
            ejected_until: AtomicU64::new(0),
        })
    }

    /// Set by the health monitor; true: this is a change. A server that passes is no longer ejected.
    pub(crate) fn set_healthy(&self, healthy: bool) -> bool {
        if healthy && self.ejected_until.load(Relaxed) != 0 {
            self.failures.store(0, Relaxed);
            self.ejected_until.store(0, Relaxed);
        }
        self.healthy.swap(healthy, Relaxed) != healthy
    }

    /// A request or connection has ended.
    pub(crate) fn release(&self) {
        self.active.fetch_sub(1, Relaxed);
    }
}

/// One server.
#[derive(Debug)]
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

    fn active(&self) -> u32 {
        self.shared.active.load(Relaxed)
    }

    /// Requests in flight per weight, comparable between servers.
    fn load(&self) -> u64 {
        (u64::from(self.active()) << 16) / u64::from(self.weight.max(1))
    }
}

/// Repetitions of a pool's requests.
#[derive(Debug)]
pub(crate) struct Retries {
    pub(crate) count: u8,
    pub(crate) on: Vec<RetryOn>,
    pub(crate) budget_percent: u8,
    window: AtomicU64,
    requests: AtomicU64,
    repeated: AtomicU64,
}

impl Retries {
    pub(crate) fn new(config: &crate::config::Retries) -> Self {
        Self {
            count: config.count,
            on: config.on.clone(),
            budget_percent: config.budget_percent,
            window: AtomicU64::new(0),
            requests: AtomicU64::new(0),
            repeated: AtomicU64::new(0),
        }
    }

    /// Counts a request. Threads that meet at the start of a window lose a few counts, which a budget
    /// can bear.
    fn count_request(&self, now_ms: u64) {
        /// Length of a window in milliseconds.
        const WINDOW_MS: u64 = 10_000;
        let window = now_ms / WINDOW_MS;
        if self.window.swap(window, Relaxed) != window {
            self.requests.store(0, Relaxed);
            self.repeated.store(0, Relaxed);
        }
        self.requests.fetch_add(1, Relaxed);
    }

    /// Takes one repetition from the budget: servers in trouble must not get a multiple of the load.
    fn spend(&self) -> bool {
        /// Repetitions in a window that a pool without load may make.
        const FREE: u64 = 10;
        let allowed = FREE + self.requests.load(Relaxed) * u64::from(self.budget_percent) / 100;
        self.repeated.fetch_add(1, Relaxed) < allowed
    }
}

/// A group of servers.
#[derive(Debug)]
pub(crate) struct Pool {
    /// Name that virtual services refer to.
    pub(crate) name: String,
    /// Servers in the order of the file.
    pub(crate) servers: Vec<Server>,
    pub(crate) protocol: crate::config::Protocol,
    pub(crate) algorithm: Algorithm,
    pub(crate) hash_key: Option<String>,
    pub(crate) persistence: Option<(PersistenceKind, String)>,
    pub(crate) health: Option<Health>,
    pub(crate) retries: Retries,
    pub(crate) eject_failures: u32,
    pub(crate) eject_ms: u64,
    pub(crate) send_proxy: Option<proxying::proxy_header::Version>,
    pub(crate) tls: Option<crate::tls::ServerSide>,
    /// Servers by weight, interleaved.
    schedule: Vec<u16>,
    turn: Arc<AtomicUsize>,
    /// Points of a consistent hash, sorted.
    ring: Vec<(u64, u16)>,
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

/// A choice.
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

impl Pool {
    /// Completes a pool: the schedule and the ring follow from its servers.
    pub(crate) fn arranged(mut self) -> Self {
        self.schedule = arrange::schedule(&self.servers);
        self.ring = arrange::ring(&self.servers);
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
            health: config.health.clone(),
            retries: Retries::new(&config.retries),
            eject_failures: u32::from(config.eject.failures),
            eject_ms: u64::try_from(config.eject.time.0.as_millis()).unwrap_or(u64::MAX),
            send_proxy: config.send_proxy.map(|version| match version {
                ProxyVersion::V1 => proxying::proxy_header::Version::V1,
                ProxyVersion::V2 => proxying::proxy_header::Version::V2,
            }),
            tls: None,
            schedule: Vec::new(),
            turn,
            ring: Vec::new(),
        }
    }

    pub(crate) fn turn(&self) -> Arc<AtomicUsize> {
        Arc::clone(&self.turn)
    }

    pub(crate) fn server(&self, index: u16) -> &Server {
        &self.servers[usize::from(index)]
    }

    /// Counts a request for the budget of repetitions.
    pub(crate) fn count_request(&self, now_ms: u64) {
        self.retries.count_request(now_ms);
    }

    /// Whether a request may be repeated for this reason after as many repetitions.
    pub(crate) fn may_repeat(&self, on: RetryOn, repeated: u8) -> bool {
        repeated < self.retries.count && self.retries.on.contains(&on) && self.retries.spend()
    }

    /// Chooses a server and takes a place there.
    pub(crate) fn choose(&self, wish: &Wish, random: u64, now_ms: u64) -> Choice {
        if let Some(index) = wish.sticky {
            let server = self.server(index);
            let usable = server.admin != State::Down
                && self.works(server, now_ms)
                && !wish.tried.contains(&index);
            if usable {
                return if server.acquire() { Choice::Server(index) } else { Choice::Full };
            }
        }
        let mut full = false;
        // Ejected servers are better than none.
        for (backup, ejected) in [(false, false), (true, false), (false, true), (true, true)] {
            let usable = |index: u16| {
                let server = self.server(index);
                server.backup == backup
                    && server.weight > 0
                    && server.admin == State::Up
                    && server.shared.healthy.load(Relaxed)
                    && (ejected || server.shared.ejected_until.load(Relaxed) <= now_ms)
                    && !wish.tried.contains(&index)
            };
            let mut usable = |index: u16| {
                let below = usable(index) && self.server(index).active() < self.server(index).most;
                full |= usable(index) && !below;
                below
            };
            if let Some(index) = self.by_algorithm(wish, random, &mut usable)
                && self.server(index).acquire()
            {
                return Choice::Server(index);
            }
        }
        if full { Choice::Full } else { Choice::Unavailable }
    }

    fn works(&self, server: &Server, now_ms: u64) -> bool {
        server.shared.healthy.load(Relaxed) && server.shared.ejected_until.load(Relaxed) <= now_ms
    }

    fn by_algorithm(
        &self,
        wish: &Wish,
        random: u64,
        usable: &mut dyn FnMut(u16) -> bool,
    ) -> Option<u16> {
        match (wish.hash, self.algorithm) {
            (Some(hash), _) => self.by_hash(hash, usable),
            (None, Algorithm::LeastConnections) => self.least(usable),
            (None, Algorithm::Random) => self.of_two(random, usable),
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

    fn least(&self, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
        let all = self.servers.len().max(1);
        // Equal servers take turns.
        let first = self.turn.fetch_add(1, Relaxed);
        self.indices()
            .map(|index| u16::try_from((usize::from(index) + first) % all).unwrap_or(0))
            .filter(|index| usable(*index))
            .min_by_key(|index| self.server(*index).load())
    }

    fn of_two(&self, random: u64, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
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
        let better = self.server(other).active() < self.server(one).active();
        Some(if better { other } else { one })
    }

    fn by_hash(&self, hash: u64, usable: &mut dyn FnMut(u16) -> bool) -> Option<u16> {
        let first = self.ring.partition_point(|(point, _)| *point < hash);
        let (before, after) = self.ring.split_at(first);
        after.iter().chain(before).map(|(_, index)| *index).find(|index| usable(*index))
    }

    /// A server responded.
    pub(crate) fn succeeded(&self, index: u16) {
        let shared = &self.server(index).shared;
        if shared.failures.load(Relaxed) > 0 {
            shared.failures.store(0, Relaxed);
        }
    }

    /// A server did not respond; after too many of these in a row it is ejected for a while.
    pub(crate) fn failed(&self, index: u16, now_ms: u64) {
        let server = self.server(index);
        let failures = server.shared.failures.fetch_add(1, Relaxed) + 1;
        if self.eject_failures > 0 && failures >= self.eject_failures {
            server.shared.failures.store(0, Relaxed);
            server.shared.ejected_until.store(now_ms + self.eject_ms, Relaxed);
            tracing::warn!(
                "pool {}: server {} failed {failures} times in a row; it gets no requests for {} ms",
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
mod tests {
    use super::arrange::schedule;
    use super::*;

    fn servers(weights: &[u16]) -> Vec<Server> {
        let server = |(at, weight): (usize, &u16)| Server {
            name: format!("s{at}"),
            address: "127.0.0.1:1".parse().unwrap(),
            weight: *weight,
            most: u32::MAX,
            backup: false,
            admin: State::Up,
            cookie: String::new(),
            shared: ServerState::new(true),
        };
        weights.iter().enumerate().map(server).collect()
    }

    fn pool(algorithm: &str, weights: &[u16]) -> Pool {
        let text = format!("name: p\nservers: []\nalgorithm: {algorithm}\n");
        let config: crate::config::Pool = serde_saphyr::from_str(&text).unwrap();
        Pool::new(&config, servers(weights), Arc::default()).arranged()
    }

    fn chosen(pool: &Pool, wish: &Wish, random: u64) -> u16 {
        match pool.choose(wish, random, 0) {
            Choice::Server(index) => index,
            other => panic!("{other:?}"),
        }
    }

    #[test]
    fn weights_are_interleaved() {
        assert_eq!(schedule(&servers(&[4, 2])), [0, 1, 0]);
        assert_eq!(schedule(&servers(&[5, 1, 1])), [0, 0, 1, 0, 2, 0, 0]);
        assert_eq!(schedule(&servers(&[0, 3])), [1]);
        assert!(schedule(&servers(&[65_535, 1])).len() <= 4098);
    }

    #[test]
    fn a_missing_server_does_not_shift_the_others() {
        let pool = pool("round_robin", &[1, 1, 1]);
        pool.servers[1].shared.set_healthy(false);
        let order: Vec<u16> = (0..6).map(|_| chosen(&pool, &Wish::default(), 0)).collect();
        assert_eq!(order, [0, 2, 0, 2, 0, 2]);
    }

    #[test]
    fn the_loss_of_a_server_moves_only_its_own_keys() {
        let pool = pool("uri_hash", &[1, 1, 1, 1]);
        let wish = |n: u32| Wish { hash: Some(hash(&n.to_be_bytes())), ..Wish::default() };
        let before: Vec<u16> = (0..1000).map(|n| chosen(&pool, &wish(n), 0)).collect();
        let share = before.iter().filter(|index| **index == 2).count();
        assert!((150..350).contains(&share), "{share}");
        pool.servers[2].shared.set_healthy(false);
        for (n, before) in before.iter().enumerate() {
            let after = chosen(&pool, &wish(u32::try_from(n).unwrap()), 0);
            assert!(after == *before || *before == 2);
        }
    }

    #[test]
    fn a_server_that_fails_in_a_row_is_ejected_but_better_than_none() {
        let pool = pool("round_robin", &[1, 1]);
        for _ in 0..3 {
            pool.failed(0, 0);
        }
        assert!((0..4).all(|_| chosen(&pool, &Wish::default(), 0) == 1));
        assert!((0..2).any(|_| pool.choose(&Wish::default(), 0, 10_001) == Choice::Server(0)));
        pool.servers[1].shared.set_healthy(false);
        assert_eq!(chosen(&pool, &Wish::default(), 0), 0);
    }

    #[test]
    fn repetitions_end_with_the_budget() {
        let pool = pool("round_robin", &[1]);
        for _ in 0..100 {
            pool.count_request(1);
        }
        let repeated = (0..100).filter(|_| pool.may_repeat(RetryOn::Connect, 0)).count();
        assert_eq!(repeated, 30, "ten, and 20 % of 100");
        assert!(!pool.may_repeat(RetryOn::Closed, 0));
    }

    #[test]
    fn a_full_pool_differs_from_an_unavailable_one() {
        let mut pool = pool("least_connections", &[1]);
        pool.servers[0].most = 1;
        assert_eq!(chosen(&pool, &Wish::default(), 0), 0);
        assert_eq!(pool.choose(&Wish::default(), 0, 0), Choice::Full);
        pool.servers[0].shared.set_healthy(false);
        assert_eq!(pool.choose(&Wish::default(), 0, 0), Choice::Unavailable);
    }
}
