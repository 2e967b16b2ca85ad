//! What those who listen and those who poll share.

use std::sync::Arc;
use std::time::Duration;

use config::Snapshot;
use config::snapshot::Item;
use model::{Available, HostId, InterfaceState, Timestamp, ValueBatch};
use stdx::clock::SharedClock;
use stdx::queue;

use crate::availability::Availability;
use crate::counters::Counters;
use crate::expected::ExpectedValues;
use crate::positions::{LogPosition, Positions, TrapPosition};
use crate::remote::AgentCommands;
use crate::resolver::Resolver;
use crate::sink::Sink;
use crate::snapshots::Snapshots;
use crate::tls::{PskTable, TlsConfig, TlsContexts, TlsError};

/// What [`Context::new`] is made of.
pub struct Parts {
    /// Tells both the time of day and the time since the start.
    pub clock: SharedClock,
    /// The configuration as it is at the moment of each call.
    pub snapshots: Arc<dyn Snapshots>,
    /// One queue per shard, in the order of `model::shard_of`.
    pub shards: Vec<queue::Sender<ValueBatch>>,
    /// Certificates of this server; without them only PSK and unencrypted connections work.
    pub tls: TlsConfig,
    /// Default timeout of checks; a timeout of an item or of the global settings beats it.
    pub timeout: Duration,
    /// What was known before a restart ([`Context::remembered`]).
    pub remembered: Remembered,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").field("shards", &self.shards.len()).finish_non_exhaustive()
    }
}

/// What has to outlive a restart: otherwise agents would send log files from the start again, and
/// all interfaces would be unknown until their next check.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Remembered {
    /// How far active agents have read.
    pub log_positions: Vec<(model::ItemId, LogPosition)>,
    /// Interfaces that were checked.
    pub interfaces: Vec<(model::InterfaceId, InterfaceState)>,
    /// How far the traps of the trap file are kept.
    pub trap_file: Option<TrapPosition>,
}

/// The ground that listeners and pollers stand on. It knows neither of them.
pub struct Context {
    /// Tells both the time of day and the time since the start.
    pub clock: SharedClock,
    /// The configuration as it is at the moment of each call.
    pub snapshots: Arc<dyn Snapshots>,
    /// Where values go.
    pub sink: Sink,
    /// What is counted.
    pub counters: Counters,
    /// Who responds.
    pub availability: Availability,
    /// When values of active agents are expected.
    pub expected: ExpectedValues,
    /// How far logs and the trap file are read.
    pub positions: Positions,
    /// Commands for active agents.
    pub commands: Arc<AgentCommands>,
    /// Names of hosts.
    pub resolver: Resolver,
    /// Certificates and keys for connections in both directions.
    pub tls: TlsContexts,
    timeout: Duration,
}

impl std::fmt::Debug for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Context").field("counters", &self.counters).finish_non_exhaustive()
    }
}

impl Context {
    /// Puts the parts together. An error says which certificate cannot be used.
    pub fn new(parts: Parts) -> Result<Arc<Self>, TlsError> {
        let Parts { clock, snapshots, shards, tls, timeout, remembered } = parts;
        let psk = PskTable::new(Arc::clone(&snapshots));
        let availability = Availability::default();
        availability.restore(remembered.interfaces);
        Ok(Arc::new(Self {
            sink: Sink::new(shards),
            counters: Counters::default(),
            availability,
            expected: ExpectedValues::default(),
            positions: Positions::restored(remembered.log_positions, remembered.trap_file),
            commands: Arc::default(),
            resolver: Resolver::new(Arc::clone(&clock)),
            tls: TlsContexts::new(&tls, move |identity| psk.key(identity))?,
            clock,
            snapshots,
            timeout,
        }))
    }

    /// The moment.
    pub fn now(&self) -> Timestamp {
        Timestamp::from_unix(self.clock.unix())
    }

    /// The timeout of an item: its own, else the global one of its type, else the server's.
    pub fn timeout(&self, snapshot: &Snapshot, item: &Item) -> Duration {
        let own = item.extra.as_ref().map(|extra| extra.timeout.as_str());
        let global = snapshot.settings.timeouts.get(&item.kind).map(String::as_str);
        own.filter(|text| !text.is_empty())
            .or(global)
            .and_then(eval::num::parse_seconds)
            .filter(|seconds| (1..=600).contains(seconds))
            .map_or(self.timeout, |seconds| Duration::from_secs(u64::from(seconds)))
    }

    /// The API's `active_available` of a host.
    pub fn active_available(&self, host: HostId) -> Available {
        self.availability.active(host, self.clock.monotonic().as_secs())
    }

    /// What has to outlive a restart, in the order of the ids.
    pub fn remembered(&self) -> Remembered {
        let snapshot = self.snapshots.load();
        let mut log_positions = self.positions.all(|item| snapshot.items.get(&item).is_some());
        log_positions.sort_unstable_by_key(|(item, _)| *item);
        let mut interfaces = self.availability.all();
        interfaces.sort_unstable_by_key(|(interface, _)| *interface);
        Remembered { log_positions, interfaces, trap_file: self.positions.trap_file() }
    }
}
