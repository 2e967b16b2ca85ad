//! Makes the shards with their queues and starts their threads.

use std::sync::{Arc, Mutex};

use config::Snapshot;
use eval::script::Scripts;
use history::trends::{Folder, Refold, hour_of, open_hours};
use history::{Driver, Past, TrendHour, ValueCache};
use model::{InitialTrigger, ItemId, LldValue, TriggerFinding, Unwritten, ValueBatch, shard_of};
use stdx::clock::SharedClock;
use stdx::queue::{Receiver, Sender, bounded};
use tokio::sync::broadcast;

use crate::calculated::Calculated;
use crate::command::{Command, PeerMessage};
use crate::core::Core;
use crate::environment::Environment;
use crate::export::{Export, ExportTap};
use crate::foreign::{ForeignItems, MissingTrends};
use crate::functions::Compiler;
use crate::gauges::Gauges;
use crate::live::{Live, LiveNote};
use crate::outbox::Outbox;
use crate::peers::Tickets;
use crate::progress::Progress;
use crate::recent::Recent;
use crate::round::Round;
use crate::scripts::{self, Desk, Done, Pool, SHARD_TIME_MAX};
use crate::set::{LetterBox, ShardHandle, ShardSet};
use crate::shard::{Inbox, run};
use crate::slots::{Place, Slots};
use crate::states::States;
use crate::syncer::Syncer;
use crate::triggers::Triggers;

/// Sizes of the shards.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct ShardsConfig {
    /// Bytes that the windows of each shard's value cache may take.
    pub cache_bytes_max: usize,
    /// Values of one group commit, about: more wait for the next.
    pub values_per_round_max: usize,
    /// Batches that wait before senders do.
    pub queue_batches_max: usize,
    /// The process before this one did not end in an orderly way: trends of the last hours are
    /// created again from history.
    pub after_crash: bool,
}

impl Default for ShardsConfig {
    fn default() -> Self {
        Self {
            cache_bytes_max: 64 << 20,
            values_per_round_max: 32_768,
            // With batches of 1,000 values of 48 bytes: 12 MB a shard.
            queue_batches_max: 256,
            after_crash: true,
        }
    }
}

/// What the shards work with.
pub struct Deps {
    /// Time.
    pub clock: SharedClock,
    /// The first configuration.
    pub snapshot: Arc<Snapshot>,
    /// One driver for each shard; their number is the number of shards.
    pub drivers: Vec<Box<dyn Driver>>,
    /// What functions look back at that the drivers have no longer.
    pub past: Option<Arc<Past>>,
    /// Where findings go. A full queue stops the shards from taking values.
    pub findings: Sender<TriggerFinding>,
    /// Where values of discovery rules go. A full queue stops the shards from taking values.
    pub lld: Sender<LldValue>,
    /// Who wants to hear which items got values.
    pub live: Option<broadcast::Sender<LiveNote>>,
    /// Where values and trends go that are exported; `None` = nothing is.
    pub export: Option<ExportTap>,
    /// Triggers that are not in the state every trigger begins in.
    pub triggers: Vec<InitialTrigger>,
    /// What may not have been evaluated before a crash: triggers of these values are evaluated once
    /// as of their items' newest. `None` = nothing.
    pub unwritten: Option<Unwritten>,
    /// Items that were not supported before a restart, and why: an active agent may not tell again.
    pub unsupported: Vec<(ItemId, Box<str>)>,
}

impl std::fmt::Debug for Deps {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Deps").field("shards", &self.drivers.len()).finish_non_exhaustive()
    }
}

/// Messages between shards that wait before they pile up in outboxes.
const PEER_QUEUE_MAX: usize = 1_024;
/// Results of scripts that wait.
const SCRIPT_QUEUE_MAX: usize = 256;
/// Requests that wait.
const COMMAND_QUEUE_MAX: usize = 1_024;

impl ShardSet {
    /// Makes and starts as many shards as there are drivers. The error is the system's: no more
    /// threads.
    pub fn spawn(config: ShardsConfig, deps: Deps) -> std::io::Result<Self> {
        let snapshot = Arc::clone(&deps.snapshot);
        let mut handles = Vec::new();
        for (core, inbox, mut handle) in make(config, deps) {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_time().build()?;
            let name = format!("shard-{}", core.place.index);
            // The core is made on the thread that owns it: script engines do not travel.
            let body = move || runtime.block_on(run(core.build(), inbox));
            let thread = stdx::thread::permanent(&name, body)?;
            handle.thread = Mutex::new(Some(thread));
            handles.push(handle);
        }
        Ok(Self::new(handles, snapshot))
    }
}

/// All that a core is made of, ready to be sent to its thread.
pub(crate) struct Seed {
    pub(crate) place: Place,
    config: ShardsConfig,
    clock: SharedClock,
    snapshot: Arc<Snapshot>,
    driver: Box<dyn Driver>,
    past: Option<Arc<Past>>,
    letters: LetterBox,
    gauges: Arc<Gauges>,
    peers: Vec<Option<Outbox<PeerMessage>>>,
    findings: Sender<TriggerFinding>,
    lld: Sender<LldValue>,
    live: Option<broadcast::Sender<LiveNote>>,
    export: Option<ExportTap>,
    triggers: Vec<InitialTrigger>,
    unwritten: Option<Unwritten>,
    unsupported: Vec<(ItemId, Box<str>)>,
    /// Hours of its items whose trends a process before has not written.
    late: Vec<TrendHour>,
    scripts: Arc<Pool>,
    scripts_done: Sender<Done>,
}

/// Shards that do not run yet.
pub(crate) fn make(config: ShardsConfig, mut deps: Deps) -> Vec<(Seed, Inbox, ShardHandle)> {
    let late = late_hours(config.after_crash, &mut deps);
    let shards = deps.drivers.len();
    let (peer_senders, peer_receivers): (Vec<Sender<PeerMessage>>, Vec<Receiver<PeerMessage>>) =
        (0..shards).map(|_| bounded("shard to shard", PEER_QUEUE_MAX)).unzip();
    let pool = Arc::new(scripts::pool(Arc::clone(&deps.clock)));
    let parts = deps.drivers.into_iter().zip(peer_receivers).enumerate();
    let made = parts.map(|(index, (driver, peers))| {
        let (values, values_in) = bounded::<ValueBatch>("values", config.queue_batches_max.max(1));
        let (commands, commands_in) = bounded::<Command>("requests", COMMAND_QUEUE_MAX);
        let (scripts_done, scripts_in) = bounded::<Done>("script results", SCRIPT_QUEUE_MAX);
        let letters = LetterBox::default();
        let gauges = Arc::new(Gauges::default());
        let to_peer = |(at, to): (usize, &Sender<PeerMessage>)| {
            (at != index).then(|| Outbox::new(to.clone()))
        };
        let seed = Seed {
            place: Place { index, shards },
            config,
            clock: Arc::clone(&deps.clock),
            snapshot: Arc::clone(&deps.snapshot),
            driver,
            past: deps.past.clone(),
            letters: Arc::clone(&letters),
            gauges: Arc::clone(&gauges),
            peers: peer_senders.iter().enumerate().map(to_peer).collect(),
            findings: deps.findings.clone(),
            lld: deps.lld.clone(),
            live: deps.live.clone(),
            export: deps.export.clone(),
            triggers: deps.triggers.clone(),
            unwritten: deps.unwritten.clone(),
            unsupported: deps.unsupported.clone(),
            late: owned(&late, Place { index, shards }, &deps.snapshot),
            scripts: Arc::clone(&pool),
            scripts_done,
        };
        let inbox = Inbox {
            values: values_in,
            commands: commands_in,
            peers,
            scripts: scripts_in,
            values_per_round_max: config.values_per_round_max,
        };
        let handle = ShardHandle { values, commands, letters, gauges, thread: Mutex::new(None) };
        (seed, inbox, handle)
    });
    made.collect()
}

impl Seed {
    /// The shard as it is before the first value.
    pub(crate) fn build(mut self) -> Core {
        let started_s = u32::try_from(self.clock.unix_s()).unwrap_or(u32::MAX);
        self.driver.expect_trends(&self.late);
        let (folder, refold) = trends_at_start(&self, started_s);
        let progress = Progress::new(self.unwritten, self.peers.len());
        let mut core = Core {
            progress,
            place: self.place,
            env: Environment::new(&self.snapshot),
            export: Export::new(self.export, &self.snapshot),
            snapshot: self.snapshot,
            letters: self.letters,
            gauges: self.gauges,
            compiler: Compiler::default(),
            scripts: Scripts::with_time_max(Arc::clone(&self.clock), SHARD_TIME_MAX),
            desk: Desk::new(self.scripts, self.scripts_done),
            slots: Slots::new(self.place),
            cache: ValueCache::new(self.config.cache_bytes_max),
            driver: self.driver,
            past: self.past,
            syncer: Syncer::default(),
            folder,
            refold,
            warm: Vec::new(),
            warmed: false,
            folded: Vec::new(),
            triggers: Triggers::default(),
            calculated: Calculated::default(),
            foreign: ForeignItems::default(),
            tickets: Tickets::default(),
            peers: self.peers,
            findings: Outbox::new(self.findings),
            states: States::default(),
            lld: Outbox::weighing(self.lld, LldValue::bytes),
            live: Live::new(self.live),
            round: Round::default(),
            recent: Recent::default(),
            missing: MissingTrends::default(),
            started_s,
            born: hashbrown::HashMap::default(),
            evaluations: 0,
            found: 0,
            second: self.clock.unix_s(),
            clock: self.clock,
        };
        for (item, why) in self.unsupported {
            // Items of other shards are none of this one.
            if let Some(at) = core.slots.take(&core.snapshot, item) {
                core.slots.set_error(at, Some(&why));
            }
        }
        for initial in self.triggers {
            let own =
                core.snapshot.triggers.get(&initial.trigger).is_some_and(|t| core.evaluates(t));
            if own {
                core.triggers.set_state(initial.trigger, initial.state);
                core.triggers.set_error(initial.trigger, &initial.error);
            } else {
                core.triggers.set_elsewhere(initial.trigger, initial.state);
            }
        }
        core.configure_all(None);
        core.warm = core.own_items();
        core
    }
}

/// Hours long over of which some driver expects trends. After the number of shards changed, the
/// item may belong to another shard than the driver; that one expects them from then on.
fn late_hours(after_crash: bool, deps: &mut Deps) -> Vec<TrendHour> {
    let shards = deps.drivers.len();
    let owner = |late: &TrendHour| {
        let item = deps.snapshot.items.get(&late.item)?;
        Some(shard_of(item.host, shards))
    };
    let mut all = Vec::new();
    for (index, driver) in deps.drivers.iter_mut().enumerate() {
        let expected = driver.expected_trends();
        let is_gone = |late: &TrendHour| match owner(late) {
            // After an orderly end its owner has written it, or expects it as well.
            Some(owner) => owner != index && !after_crash,
            None => true,
        };
        let gone: Vec<TrendHour> = expected.iter().filter(|late| is_gone(late)).copied().collect();
        driver.forget_trends(&gone);
        all.extend(expected);
    }
    all
}

fn owned(late: &[TrendHour], place: Place, snapshot: &Snapshot) -> Vec<TrendHour> {
    let is_own = |late: &&TrendHour| snapshot.items.get(&late.item).is_some_and(|i| place.owns(i));
    late.iter().filter(is_own).copied().collect()
}

fn trends_at_start(seed: &Seed, now_s: u32) -> (Folder, Refold) {
    let late = &seed.late;
    if !seed.config.after_crash {
        return (Folder::new(now_s), Refold::of(Vec::new(), hour_of(now_s), late));
    }
    // The process before may have ended long ago, with hours that it had not written.
    let last_s = seed.driver.newest_clock(now_s).unwrap_or(now_s);
    let span = open_hours(last_s);
    let items = seed.snapshot.items.values();
    let folds = items.filter(|item| {
        item.value_type.is_numeric() && item.trends_days > 0 && seed.place.owns(item)
    });
    let folds = folds.map(|item| item.id).collect();
    (Folder::starting_at(span.from), Refold::of(folds, span.from, late))
}
