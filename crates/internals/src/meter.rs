//! Self-monitoring: reads the gauges of all parts once a second; internal items read from here
//! and never wait.

use std::collections::{HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::atomic::Ordering;
use std::sync::{Arc, Mutex};
use std::time::Duration;

use collect::queue::QueueReport;
use config::Config;
use config::snapshot::Item;
use media::Queues;
use model::HostId;
use pipeline::{ExportFigures, GaugeReading, STAGES, ShardHandle, ShardSet};
use poll::Status;
use stdx::clock::SharedClock;
use stdx::machine::{self, CpuTimes};
use stdx::sync::lock;
use stdx::worktime::{Shares, WorkTime};

use crate::alerting::Alerting;
use crate::capacity::{Disk, DiskReadings, OwnMemory};
use crate::heartbeat::Heartbeat;
use crate::threads::ThreadReadings;
use crate::work::Work;

/// Busy shares are averages over this many seconds, as the field's graphs show them.
const WINDOW: usize = 60;

/// Readings that take longer are taken once in so many seconds.
const LOOK_EVERY: u64 = 5;
/// Items that are looked at each second for the queue: it takes the pollers some 50 ns each, so a
/// million are counted every ten seconds.
const QUEUED_PER_S: u64 = 100_000;

/// What is measured.
pub struct Parts {
    /// Clock of the readings.
    pub clock: SharedClock,
    /// Figures of all shards.
    pub shards: Arc<ShardSet>,
    /// Low-level discovery.
    pub lld: config::lld::worker::Status,
    /// The configuration.
    pub config: Arc<Config>,
    /// The folder of the data.
    pub data: PathBuf,
    /// Damage of the embedded history.
    pub damages: history::damage::Damages,
    /// Stores beside the embedded history.
    pub stores: Vec<Arc<history::spool::Gauges>>,
    /// What other programs do with history.
    pub service: Arc<history::service::Counters>,
    /// What sends messages to users.
    pub media: Queues,
    /// Tells another system that this one works.
    pub heartbeat: Arc<Heartbeat>,
    /// Time in work of housekeeping.
    pub housekeeping: Arc<WorkTime>,
    /// Real-time export.
    pub exports: Arc<ExportFigures>,
}

/// The load of the last minute.
#[derive(Debug, Clone, Copy, PartialEq)]
pub(crate) struct Minute {
    /// Values that became samples.
    pub(crate) values_per_s: f64,
    /// Passive checks.
    pub(crate) checks_per_s: f64,
    /// Share of its time that the busiest shard worked, 0 to 1.
    pub(crate) shard_busy: f64,
    /// Share of their time that the threads of passive checks worked, 0 to 1.
    pub(crate) pollers: f64,
    /// Share of all cores that worked, for whomever, 0 to 1; `None` = the kernel does not tell.
    pub(crate) cpu_busy: Option<f64>,
}

/// The newest readings.
pub struct Meter {
    parts: Parts,
    state: Mutex<State>,
    started: Duration,
    /// The same, seconds since 1970.
    started_s: u64,
    own: WorkTime,
}

#[derive(Default)]
struct State {
    seconds: VecDeque<Reading>,
    queue: Arc<QueueReport>,
    collector: Option<Status>,
    /// Unsupported items by host; hosts without one are not in it.
    unsupported: Arc<HashMap<HostId, u64>>,
    /// Of which configuration, and its bytes.
    configuration: (u64, usize),
    disk: DiskReadings,
    /// Bytes that this process can have besides those that it has.
    free_memory: u64,
    threads: ThreadReadings,
    alerting: Arc<Alerting>,
}

#[derive(Clone)]
struct Reading {
    at: Duration,
    shards: GaugeReading,
    /// Time that each shard has worked, by stage, ns.
    shards_ns: Vec<[u64; STAGES]>,
    checks: u64,
    cpu: Option<CpuTimes>,
    lld_ns: u64,
    housekeeping_ns: u64,
    /// Of the exporter, and of connectors' messages.
    exports_ns: [u64; 2],
    own_ns: u64,
}

impl std::fmt::Debug for Parts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Parts").finish_non_exhaustive()
    }
}

impl std::fmt::Debug for Meter {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Meter").finish_non_exhaustive()
    }
}

impl Meter {
    /// Takes no reading before it runs.
    pub fn new(parts: Parts) -> Arc<Self> {
        let (started, started_s) = (parts.clock.monotonic(), parts.clock.unix_s());
        let (state, own) = (Mutex::default(), WorkTime::default());
        Arc::new(Self { parts, state, started, started_s, own })
    }

    /// Takes readings once a second until dropped.
    pub async fn run(self: Arc<Self>, collector: Status) {
        lock(&self.state).collector = Some(collector.clone());
        let mut second = tokio::time::interval(Duration::from_secs(1));
        let (mut seconds, mut next_queue) = (0, 0);
        loop {
            second.tick().await;
            if seconds >= next_queue {
                let queue = collector.queue(0).await;
                next_queue = seconds + 1 + queue.scheduled / QUEUED_PER_S;
                lock(&self.state).queue = Arc::new(queue);
            }
            let clock = &self.parts.clock;
            let reading = self.own.count(&**clock, || self.read(&collector));
            seconds += 1;
            if seconds % LOOK_EVERY == 1 {
                let meter = Arc::clone(&self);
                // Takes some ten milliseconds: not here, and not again before it is done.
                let look = move || meter.own.count(&*meter.parts.clock, || meter.look());
                drop(tokio::task::spawn_blocking(look).await);
            }
            let mut state = lock(&self.state);
            if state.seconds.len() > WINDOW {
                state.seconds.pop_front();
            }
            state.seconds.push_back(reading);
        }
    }

    /// Takes the readings that need a look at many objects.
    fn look(&self) {
        let snapshot = self.parts.config.snapshot();
        let known = lock(&self.state).configuration;
        if known.0 != snapshot.revision || known.1 == 0 {
            lock(&self.state).configuration = (snapshot.revision, snapshot.bytes());
            // What stood where is gone, and so are the rows that it was read from.
            stdx::sys::give_memory_back();
        }
        match Alerting::read(&self.parts.config, self.now()) {
            Ok(alerting) => lock(&self.state).alerting = Arc::new(alerting),
            Err(error) => tracing::debug!(%error, "cannot read how alerting is doing"),
        }
        let (at, threads) = (self.parts.clock.monotonic(), machine::thread_times());
        let free = OwnMemory::read().map_or(0, OwnMemory::free);
        let mut state = lock(&self.state);
        state.disk.take(&self.parts.data, at);
        state.threads.take(at, threads);
        state.free_memory = free;
        drop(state);
        // Shards that have ended have nothing new to tell.
        let Ok(items) = self.parts.shards.unsupported() else { return };
        let mut by_host = HashMap::new();
        for (id, _) in items {
            let counted = |item: &&Arc<Item>| item.enabled && !item.discovery_rule;
            if let Some(item) = snapshot.items.get(&id).filter(counted) {
                *by_host.entry(item.host).or_insert(0) += 1;
            }
        }
        lock(&self.state).unsupported = Arc::new(by_host);
    }

    /// Unsupported items, as of some seconds ago. Discovery rules are none.
    pub(crate) fn unsupported(&self) -> u64 {
        lock(&self.state).unsupported.values().sum()
    }

    /// Those of a host.
    pub(crate) fn unsupported_of(&self, host: HostId) -> u64 {
        lock(&self.state).unsupported.get(&host).copied().unwrap_or(0)
    }

    /// Bytes of the configuration in memory, as of some seconds ago.
    pub(crate) fn configuration_bytes(&self) -> usize {
        lock(&self.state).configuration.1
    }

    /// Values of discovery rules that wait for the worker.
    pub(crate) fn discoveries(&self) -> usize {
        self.parts.lld.waiting.len()
    }

    fn read(&self, collector: &Status) -> Reading {
        let busy = |shard: &ShardHandle| shard.gauges().busy_ns;
        Reading {
            at: self.parts.clock.monotonic(),
            shards: self.parts.shards.gauges(),
            shards_ns: self.parts.shards.shards().iter().map(busy).collect(),
            checks: collector.counters().checks.load(Ordering::Relaxed),
            cpu: CpuTimes::read(),
            lld_ns: self.parts.lld.busy.ns(),
            housekeeping_ns: self.parts.housekeeping.ns(),
            exports_ns: [&self.parts.exports.manager, &self.parts.exports.worker].map(WorkTime::ns),
            own_ns: self.own.ns(),
        }
    }

    /// Time since the start.
    pub(crate) fn uptime(&self) -> Duration {
        self.parts.clock.monotonic().saturating_sub(self.started)
    }

    /// When this server started, seconds since 1970.
    pub(crate) const fn started_s(&self) -> u64 {
        self.started_s
    }

    /// Bytes that this process can have besides those that it has, as of some seconds ago.
    pub(crate) fn free_memory(&self) -> u64 {
        lock(&self.state).free_memory
    }

    /// Seconds since 1970.
    pub fn now(&self) -> u64 {
        self.parts.clock.unix_s()
    }

    /// The moment.
    pub fn timestamp(&self) -> model::Timestamp {
        model::Timestamp::from_unix(self.parts.clock.unix())
    }

    /// What is late.
    pub fn queue(&self) -> Arc<QueueReport> {
        Arc::clone(&lock(&self.state).queue)
    }

    /// Counters of collection, once it runs.
    pub fn collector(&self) -> Option<Status> {
        lock(&self.state).collector.clone()
    }

    /// Figures of all shards now.
    pub(crate) fn shards(&self) -> GaugeReading {
        self.parts.shards.gauges()
    }

    /// Messages waiting for the shards, of how many that fit.
    pub(crate) fn value_queue(&self) -> (usize, usize) {
        self.parts.shards.queue_len()
    }

    /// Damaged or missing parts of history files that cost values.
    pub(crate) fn damaged(&self) -> u64 {
        u64::try_from(self.parts.damages.count()).unwrap_or(u64::MAX)
    }

    /// Figures of the stores beside the embedded history.
    pub(crate) fn stores(&self) -> Vec<history::spool::Reading> {
        self.parts.stores.iter().map(|gauges| gauges.read()).collect()
    }

    /// What other programs did with history since the start.
    pub(crate) fn service(&self) -> history::service::Figures {
        self.parts.service.read()
    }

    /// What waits to be sent, as of some seconds ago.
    pub(crate) fn alerting(&self) -> Arc<Alerting> {
        Arc::clone(&lock(&self.state).alerting)
    }

    /// Heartbeats that have failed one after the other.
    pub(crate) fn missed_heartbeats(&self) -> u64 {
        self.parts.heartbeat.missed()
    }

    /// Figures of real-time export.
    pub(crate) fn exports(&self) -> &ExportFigures {
        &self.parts.exports
    }

    /// What sends messages to users.
    pub(crate) fn media(&self) -> &Queues {
        &self.parts.media
    }

    /// The file system of the data, as of some seconds ago.
    pub(crate) fn disk(&self) -> Option<Disk> {
        lock(&self.state).disk.disk()
    }

    /// Oldest and newest reading of the last minute.
    fn window(&self) -> Option<(Reading, Reading)> {
        let state = lock(&self.state);
        Some((state.seconds.front()?.clone(), state.seconds.back()?.clone()))
    }

    /// The load of the last minute; `None` in the first two seconds.
    pub(crate) fn minute(&self) -> Option<Minute> {
        let (first, last) = self.window()?;
        let seconds = last.at.saturating_sub(first.at).as_secs_f64();
        if seconds <= 0.0 {
            return None;
        }
        #[expect(clippy::cast_precision_loss, reason = "rates and shares need no low bits")]
        let per_s = |before: u64, after: u64| after.saturating_sub(before) as f64 / seconds;
        let sums = |reading: &Reading| -> Vec<u64> {
            reading.shards_ns.iter().map(|stages| stages.iter().sum()).collect()
        };
        let (before, after) = (sums(&first), sums(&last));
        let shards = before.iter().zip(&after);
        let collector = self.collector();
        let pollers = collector.map_or(0.0, |all| all.counters().pollers.shares().average());
        Some(Minute {
            values_per_s: per_s(first.shards.values, last.shards.values),
            checks_per_s: per_s(first.checks, last.checks),
            shard_busy: shards.map(|(a, b)| per_s(*a, *b) / 1e9).fold(0.0, f64::max).min(1.0),
            pollers: pollers / 100.0,
            cpu_busy: last.cpu.zip(first.cpu).and_then(|(last, first)| last.busy_since(first)),
        })
    }

    /// Shares of the last minute that the workers of a process worked. Work that does not exist here
    /// as one of its own counts as one worker that is idle.
    pub(crate) fn shares(&self, process: &str, work: Work) -> Shares {
        let shares = match work {
            Work::Collection => self.collector().and_then(|all| all.shares(process)),
            Work::Threads(name) => Some(lock(&self.state).threads.shares(name)),
            Work::Nothing => None,
            _ => self.window().map(|(first, last)| between(&first, &last, work)),
        };
        shares.filter(|shares| shares.count() > 0).unwrap_or_else(Shares::idle)
    }
}

/// Shares of work whose time is in the readings.
fn between(first: &Reading, last: &Reading, work: Work) -> Shares {
    let over = last.at.saturating_sub(first.at);
    let times = |reading: &Reading| match work {
        Work::Shards(stage) => reading.shards_ns.iter().map(|ns| ns[stage as usize]).collect(),
        Work::Discovery => vec![reading.lld_ns],
        Work::Housekeeping => vec![reading.housekeeping_ns],
        Work::Meter => vec![reading.own_ns],
        Work::Exporter => vec![reading.exports_ns[0]],
        Work::Connectors => vec![reading.exports_ns[1]],
        Work::Collection | Work::Threads(_) | Work::Nothing => Vec::new(),
    };
    Shares::between(&times(first), &times(last), over)
}
