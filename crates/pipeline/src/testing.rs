//! Small configurations and shards without threads, for tests.

mod disk;

use std::sync::Arc;
use std::time::Duration;

use config::Snapshot;
use config::snapshot::{
    Function, Host, Item, ItemExtra, ItemParts, ItemType, Trigger, TriggerRecovery,
};
use eval::expr::Expression;
use eval::interval::UpdateInterval;
use history::{Class, Driver, Memory};
use model::{
    FunctionId, HostId, InitialTrigger, ItemId, LldValue, Payload, Sample, SampleValue, Severity,
    Timestamp, TriggerFinding, TriggerId, Unwritten, Value, ValueBatch, ValueType,
};
use stdx::ack;
use stdx::clock::SimClock;
use stdx::queue::{Receiver, bounded};

use crate::command::NewConfig;
use crate::core::Core;
use crate::shard::Inbox;
use crate::spawn::{Deps, ShardsConfig, make};
pub(crate) use disk::Disk;

/// When tests start, seconds since 1970: a full hour.
pub(crate) const START_S: u32 = 1_800_000_000;

pub(crate) fn expression(text: &str) -> Arc<Expression> {
    Arc::new(Expression::parse(text).unwrap_or_else(|e| panic!("{text}: {e}")))
}

pub(crate) fn function(id: u64, item: u64, name: &str, parameter: &str) -> Function {
    Function {
        id: FunctionId(id),
        item: ItemId(item),
        name: name.into(),
        parameter: parameter.into(),
    }
}

/// A trigger with `last` as function `n` of the n-th item.
pub(crate) fn trigger(id: u64, text: &str, items: &[u64]) -> Trigger {
    let functions = (1..).zip(items).map(|(n, item)| function(n, *item, "last", ""));
    Trigger {
        id: TriggerId(id),
        description: format!("trigger {id}").into(),
        event_name: "".into(),
        opdata: "".into(),
        expression: expression(text),
        recovery: TriggerRecovery::Expression,
        functions: functions.collect(),
        priority: Severity::High,
        enabled: true,
        multiple: false,
        depends_on: Box::default(),
        tags: Box::default(),
        invalid: None,
    }
}

pub(crate) fn item(id: u64, host: u64, key: &str, value_type: ValueType) -> Item {
    Item::from(ItemParts {
        id: ItemId(id),
        value_type,
        history_days: 7,
        trends_days: 365,
        ..ItemParts::unconfigured(HostId(host), ItemType::Trapper, key.into())
    })
}

pub(crate) fn calculated(id: u64, host: u64, key: &str, formula: &str, delay: &str) -> Item {
    let extra = ItemExtra { params: formula.to_owned(), ..ItemExtra::default() };
    let mut item = item(id, host, key, ValueType::Float);
    item.kind = ItemType::Calculated;
    item.interval = Some(Arc::new(UpdateInterval::parse(delay).unwrap()));
    item.extra = Some(Arc::new(extra));
    item
}

pub(crate) fn host(id: u64) -> Host {
    Host {
        host: format!("h{id}").into(),
        name: format!("Host {id}").into(),
        ..Host::unconfigured(HostId(id))
    }
}

/// Puts hosts, items and triggers together as the loader does.
pub(crate) fn snapshot(hosts: Vec<Host>, items: Vec<Item>, triggers: Vec<Trigger>) -> Snapshot {
    let mut snapshot = Snapshot { revision: 1, ..Snapshot::default() };
    let mut all: Vec<Item> = items;
    for item in &mut all {
        let names = |t: &&Trigger| t.functions.iter().any(|f| f.item == item.id);
        item.triggers = triggers.iter().filter(names).map(|t| t.id).collect();
    }
    let dependents: Vec<(ItemId, ItemId)> = all.iter().map(|i| (i.master(), i.id)).collect();
    for item in &mut all {
        let of = dependents.iter().filter(|(master, _)| *master == item.id);
        item.dependents = of.map(|(_, id)| *id).collect();
    }
    let all: Vec<Arc<Item>> = all.into_iter().map(Arc::new).collect();
    for mut host in hosts {
        let mut own: Vec<_> = all.iter().filter(|i| i.host == host.id).cloned().collect();
        own.sort_by(|a, b| a.key.cmp(&b.key));
        host.items = own.into();
        snapshot.hosts.insert(Arc::new(host));
    }
    for item in all {
        snapshot.items.insert(item.id, item);
    }
    for trigger in triggers {
        snapshot.triggers.insert(trigger.id, Arc::new(trigger));
    }
    snapshot
}

/// Shards without threads; the test moves the messages.
pub(crate) struct Rig {
    pub(crate) clock: Arc<SimClock>,
    pub(crate) cores: Vec<Core>,
    pub(crate) inboxes: Vec<Inbox>,
    pub(crate) findings: Receiver<TriggerFinding>,
    pub(crate) lld: Receiver<LldValue>,
    /// The last batch was acknowledged before any script of a worker came back.
    pub(crate) acknowledged_early: bool,
    /// Keep the queues open.
    _handles: Vec<crate::set::ShardHandle>,
}

/// What an earlier run left.
#[derive(Default)]
pub(crate) struct Before {
    pub(crate) triggers: Vec<InitialTrigger>,
    pub(crate) after_crash: bool,
    /// Findings that a crash may have cost.
    pub(crate) unwritten: Option<Unwritten>,
}

pub(crate) fn memory() -> Box<dyn Driver> {
    Box::new(Memory::new(Arc::new(Class(7))))
}

impl Rig {
    pub(crate) fn new(snapshot: Snapshot) -> Self {
        Self::with(snapshot, vec![memory()], Vec::new())
    }

    pub(crate) fn with(
        snapshot: Snapshot,
        drivers: Vec<Box<dyn Driver>>,
        triggers: Vec<InitialTrigger>,
    ) -> Self {
        Self::after(snapshot, drivers, triggers, false)
    }

    /// After a crash, or an orderly end, of whatever wrote into the drivers before.
    pub(crate) fn after(
        snapshot: Snapshot,
        drivers: Vec<Box<dyn Driver>>,
        triggers: Vec<InitialTrigger>,
        after_crash: bool,
    ) -> Self {
        Self::after_losing(snapshot, drivers, triggers, after_crash, None)
    }

    /// After a crash that may have cost findings.
    pub(crate) fn after_losing(
        snapshot: Snapshot,
        drivers: Vec<Box<dyn Driver>>,
        triggers: Vec<InitialTrigger>,
        after_crash: bool,
        unwritten: Option<Unwritten>,
    ) -> Self {
        let clock = SimClock::at(Duration::from_secs(START_S.into()));
        Self::at(clock, snapshot, drivers, Before { triggers, after_crash, unwritten })
    }

    /// With a clock that has gone on since whatever was before.
    pub(crate) fn at(
        clock: Arc<SimClock>,
        snapshot: Snapshot,
        drivers: Vec<Box<dyn Driver>>,
        before: Before,
    ) -> Self {
        let Before { triggers, after_crash, unwritten } = before;
        let (findings_out, findings) = bounded("findings", 10_000);
        let (lld_out, lld) = bounded("lld", 10_000);
        let deps = Deps {
            clock: clock.clone(),
            snapshot: Arc::new(snapshot),
            drivers,
            past: None,
            findings: findings_out,
            lld: lld_out,
            live: None,
            export: None,
            triggers,
            unwritten,
            unsupported: Vec::new(),
        };
        let config = ShardsConfig { after_crash, ..ShardsConfig::default() };
        let (mut cores, mut inboxes, mut handles) = (Vec::new(), Vec::new(), Vec::new());
        for (seed, inbox, handle) in make(config, deps) {
            cores.push(seed.build());
            inboxes.push(inbox);
            handles.push(handle);
        }
        Self { clock, cores, inboxes, findings, lld, acknowledged_early: false, _handles: handles }
    }

    /// Values of one item, text and clock each, in one batch.
    pub(crate) fn send(&mut self, item: u64, values: &[(&str, u32)]) -> ack::Outcome {
        let values: Vec<(u64, &str, u32)> =
            values.iter().map(|(text, clock)| (item, *text, *clock)).collect();
        self.send_many(&values)
    }

    /// Item, text, clock: in one batch per shard.
    pub(crate) fn send_many(&mut self, values: &[(u64, &str, u32)]) -> ack::Outcome {
        let values = values.iter().map(|(item, text, clock)| Value {
            item: ItemId(*item),
            at: Timestamp::from_s(START_S + clock),
            payload: match text.strip_prefix("!") {
                Some(error) => Payload::NotSupported(error.into()),
                None => Payload::Text((*text).into()),
            },
        });
        self.take(values.collect())
    }

    pub(crate) fn take(&mut self, values: Vec<Value>) -> ack::Outcome {
        let shards = self.cores.len();
        let mut parts: Vec<Vec<Value>> = (0..shards).map(|_| Vec::new()).collect();
        for value in values {
            let item = self.cores[0].snapshot.items.get(&value.item);
            let shard = item.map_or(0, |item| model::shard_of(item.host, shards));
            parts[shard].push(value);
        }
        let (acks, waiter) = ack::split(shards);
        for ((core, values), ack) in self.cores.iter_mut().zip(parts).zip(acks) {
            core.run(&mut vec![ValueBatch { values, ack: Some(ack) }]);
        }
        self.acknowledged_early = waiter.is_done();
        self.settle();
        waiter.blocking_wait()
    }

    /// Carries messages between shards and results of scripts until none is left.
    pub(crate) fn settle(&mut self) {
        loop {
            let mut moved = false;
            for (core, inbox) in self.cores.iter_mut().zip(&mut self.inboxes) {
                while core.desk.held() > 0
                    && let Some(done) = inbox.scripts.blocking_recv()
                {
                    core.run_done(vec![done]);
                    moved = true;
                }
                core.send_waiting();
                while let Some(message) = inbox.peers.try_recv() {
                    core.hear(message);
                    moved = true;
                }
            }
            if !moved {
                return;
            }
        }
    }

    /// Lets time pass, second by second.
    pub(crate) fn pass(&mut self, seconds: u32) {
        for _ in 0..seconds {
            self.clock.advance(Duration::from_secs(1));
            self.cores.iter_mut().for_each(Core::tick);
            self.settle();
        }
    }

    pub(crate) fn configure(&mut self, snapshot: Snapshot, touched: Option<config::Touched>) {
        let snapshot = Arc::new(snapshot);
        for core in &mut self.cores {
            let snapshot = Arc::clone(&snapshot);
            core.configure(NewConfig { snapshot, touched: touched.clone() });
        }
        self.settle();
    }

    /// What was found since the last call, in words: `3 problem @5 name`, `3 ok @7 name`,
    /// `3 error text`.
    pub(crate) fn found(&mut self) -> Vec<String> {
        self.found_with_findings().0
    }

    /// The same, and the findings themselves, with marks.
    pub(crate) fn found_with_findings(&mut self) -> (Vec<String>, Vec<TriggerFinding>) {
        let findings: Vec<_> = std::iter::from_fn(|| self.findings.try_recv()).collect();
        let after = |at: &Timestamp| i64::from(at.clock) - i64::from(START_S);
        let words = findings.iter().filter_map(|finding| match finding {
            TriggerFinding::Problem { trigger, at, name, .. } => {
                Some(format!("{trigger} problem @{} {name}", after(at)))
            }
            TriggerFinding::Recovery { trigger, at, name, .. } => {
                Some(format!("{trigger} ok @{} {name}", after(at)))
            }
            TriggerFinding::State { trigger, error, .. } => {
                Some(format!("{trigger} error {error}"))
            }
            TriggerFinding::ItemState { .. } => None,
            TriggerFinding::Mark(_) => None,
        });
        (words.collect(), findings)
    }

    /// Stored values of an item, oldest first.
    pub(crate) fn stored(&self, item: u64) -> Vec<SampleValue> {
        let id = ItemId(item);
        let all = self.cores.iter().flat_map(|core| core.driver.newest(id, 1_000).unwrap());
        let mut samples: Vec<Sample> = all.collect();
        samples.reverse();
        samples.into_iter().map(|sample| sample.value).collect()
    }

    pub(crate) fn error_of(&self, item: u64) -> String {
        let slot = self.cores.iter().find_map(|core| core.slots.peek(ItemId(item)));
        slot.and_then(|slot| slot.error.as_deref()).map(ToString::to_string).unwrap_or_default()
    }
}
