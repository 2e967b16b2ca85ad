//! What engines count, summed over all engines: the figures of virtual services, pools and engines.
//!
//! Engines send counters. The [`Board`] keeps the difference of the last two reports of each object of each
//! engine, with the time between them, so that neither an outage of the link nor a restart of an engine
//! makes a wrong rate. What no engine reports is unknown, not zero.

mod figures;
mod health;
mod windows;

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use balancing::Order;
use balancing::placement::{Assignment, State as Seen};
use config::engines::Catalogue;
use proxying::engine_link::analytics::Portion;
use stdx::clock::SharedClock;
use stdx::sync::lock;

use crate::liveness::Liveness;
use crate::purges::Purges;
use windows::{Engine, Key};

/// Engines report this often.
pub(crate) const REPORT_EVERY: Duration = Duration::from_secs(10);
/// A report that is older says nothing any more.
const FRESH: Duration = Duration::from_secs(35);
/// For this long after the start of the server, an engine may not have connected again.
const RECONNECTION: Duration = Duration::from_secs(60);

/// The value of a figure.
#[derive(Debug, Clone, PartialEq)]
pub enum Figure {
    /// A whole number.
    Unsigned(u64),
    /// A rate per second, seconds, or a percentage.
    Float(f64),
    /// Rows of low-level discovery, in JSON.
    Text(String),
    /// There is nothing to measure: no request ended meanwhile.
    Nothing,
}

/// An object that has figures.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Subject {
    /// `virtualserviceid`.
    Service(u64),
    /// `poolid`.
    Pool(u64),
    /// `engineid`.
    Engine(u64),
}

impl Subject {
    /// The technical name of its host.
    #[must_use]
    pub fn host(self) -> String {
        match self {
            Self::Service(id) => format!("lb.service.{id}"),
            Self::Pool(id) => format!("lb.pool.{id}"),
            Self::Engine(id) => format!("lb.engine.{id}"),
        }
    }

    /// The object of a host with this technical name.
    #[must_use]
    pub fn of_host(name: &str) -> Option<Self> {
        let (kind, id) = name.strip_prefix("lb.")?.split_once('.')?;
        let id: u64 = id.parse().ok()?;
        let found = match kind {
            "service" => Self::Service(id),
            "pool" => Self::Pool(id),
            "engine" => Self::Engine(id),
            _ => return None,
        };
        // "007" is not a name of ours.
        (found.host() == name).then_some(found)
    }
}

/// The figures of all objects.
pub struct Board {
    clock: SharedClock,
    /// Monotonic time of the start.
    began: Duration,
    state: Mutex<State>,
    /// Orders to the engines.
    pub(crate) purges: Purges,
}

impl std::fmt::Debug for Board {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Board").finish_non_exhaustive()
    }
}

#[derive(Default)]
struct State {
    catalogue: Catalogue,
    /// The names in the catalogue.
    known: Known,
    engines: HashMap<u64, Engine>,
    liveness: Liveness,
    placements: Placements,
}

/// The newest placement of VIPs.
#[derive(Debug, Default)]
pub(crate) struct Placements {
    /// By group.
    pub(crate) assignments: HashMap<u64, Assignment>,
    /// By engine.
    pub(crate) owned: HashMap<u64, Owned>,
}

/// The placement of VIPs, for one engine.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Owned {
    /// VIPs that the engine owns.
    pub(crate) vips: usize,
    /// VIPs of its group that no engine owns.
    pub(crate) without: usize,
    /// Moves of VIPs of its group since the start of the server.
    pub(crate) moves: usize,
}

impl Board {
    /// An empty board: it knows no object.
    #[must_use]
    pub fn new(clock: SharedClock) -> Arc<Self> {
        let began = clock.monotonic();
        let (state, purges) = (Mutex::default(), Purges::default());
        Arc::new(Self { clock, began, state, purges })
    }

    /// Gives an order to remove stored responses to engines. The result has all of them: how many were removed, or why
    /// none. Blocks for seconds.
    pub fn purge(&self, engines: &[u64], order: &Order) -> Vec<(u64, Result<u64, String>)> {
        self.purges.purge(engines, order)
    }

    /// Learns which objects exist, and forgets what was reported of others.
    pub fn learn(&self, catalogue: Catalogue) {
        let known = Known::of(&catalogue);
        let mut state = lock(&self.state);
        state.engines.retain(|engine, _| catalogue.engines.contains_key(engine));
        state.liveness.retain(|engine| catalogue.engines.contains_key(&engine));
        for engine in state.engines.values_mut() {
            engine.objects.retain(|key, _| known.has(key));
        }
        state.catalogue = catalogue;
        state.known = known;
    }

    /// The value of a figure; `parameters` are those of an item's key behind `zabbix[vedette,lb,`.
    ///
    /// # Errors
    /// Why there is none: the state of the item.
    pub fn value(&self, subject: Subject, parameters: &[String]) -> Result<Figure, String> {
        let now = Now { monotonic: self.clock.monotonic(), unix_s: self.clock.unix_s() };
        let starting = now.monotonic.saturating_sub(self.began) < RECONNECTION;
        lock(&self.state).value(subject, parameters, now, starting)
    }

    /// How engines see the servers of a pool: a list of `{name, state, engines}`. Each engine that has reported
    /// lately is there with its `state` and `monitors`. `None`: there is no such pool.
    pub fn health(&self, pool: u64) -> Option<serde_json::Value> {
        lock(&self.state).health(pool, self.clock.monotonic())
    }

    /// Takes a report of an engine.
    pub(crate) fn take(&self, engine: u64, portion: Portion) {
        let now = self.clock.monotonic();
        let mut state = lock(&self.state);
        let State { catalogue, known, engines, .. } = &mut *state;
        if !catalogue.engines.contains_key(&engine) {
            return;
        }
        engines.entry(engine).or_default().take(portion, now, |key| known.has(key));
    }

    /// An engine has connected, or its connection has ended.
    pub(crate) fn connected(&self, engine: u64, connected: bool) {
        let now = self.clock.monotonic();
        let mut state = lock(&self.state);
        state.engines.entry(engine).or_default().connected = connected;
        match connected {
            true => state.liveness.connected(engine, now),
            false => state.liveness.lost(engine, now),
        }
    }

    /// How an engine is seen that has failed when its connection is lost for longer than `hold`.
    pub fn state(&self, engine: u64, hold: Duration) -> Seen {
        lock(&self.state).liveness.state(engine, hold, self.began, self.clock.monotonic())
    }

    pub(crate) fn place(&self, placements: Placements) {
        lock(&self.state).placements = placements;
    }

    /// Which engines of a group own which VIPs; `None`: nothing has been decided.
    pub fn assignment(&self, group: u64) -> Option<Assignment> {
        lock(&self.state).placements.assignments.get(&group).cloned()
    }

    /// Whether an engine runs the configuration that it should run.
    pub(crate) fn configured(&self, engine: u64, configured: bool) {
        lock(&self.state).engines.entry(engine).or_default().configured = Some(configured);
    }
}

/// The time of a question.
#[derive(Clone, Copy)]
struct Now {
    monotonic: Duration,
    unix_s: u64,
}

/// Names that exist, so that what engines report stays bounded by the configuration.
#[derive(Default)]
struct Known {
    services: HashSet<Box<str>>,
    /// Servers of each pool.
    pools: HashMap<Box<str>, HashSet<Box<str>>>,
}

impl Known {
    fn of(catalogue: &Catalogue) -> Self {
        let services = catalogue.services.values().map(|service| service.name.as_str().into());
        let pools = catalogue.pools.values().map(|pool| {
            let servers = pool.servers.iter().map(|server| server.as_str().into());
            (pool.name.as_str().into(), servers.collect())
        });
        Self { services: services.collect(), pools: pools.collect() }
    }

    fn has(&self, key: &Key) -> bool {
        match key {
            Key::Service(name) => self.services.contains(name),
            Key::Server(pool, server) => {
                self.pools.get(pool).is_some_and(|servers| servers.contains(server))
            }
        }
    }
}

#[cfg(test)]
mod tests;
