//! The low-level discovery worker: rows of discovery rules become items, triggers and hosts.
//! A thread of its own, beside the value path.

use std::collections::HashMap;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};

use config::Config;
use config::lld::Summary;
use config::objects::Deleted;
use config::retry::Stop;
use events::Problems;
use model::{ItemId, LldValue};
use pipeline::ShardSet;
use stdx::clock::SharedClock;
use stdx::queue::{Receiver, Sender, weighing};
use stdx::sync::lock;

use super::base::Base;

/// Values of discovery rules that wait; each may be megabytes of JSON.
const VALUES_MAX: usize = 64;
/// Their bytes; a larger value waits alone.
const BYTES_MAX: usize = 64 << 20;

/// From the shards to the worker.
pub(crate) fn queue() -> (Sender<LldValue>, Receiver<LldValue>) {
    weighing("lld", VALUES_MAX, BYTES_MAX, LldValue::bytes)
}

/// Time in work, for `zabbix[process,lld worker,avg,busy]`.
#[derive(Debug, Default)]
pub(crate) struct Busy {
    ns: AtomicU64,
}

impl Busy {
    /// Nanoseconds in work since the start.
    pub(crate) fn ns(&self) -> u64 {
        self.ns.load(Ordering::Relaxed)
    }
}

/// What went wrong in the last discovery of each rule.
#[derive(Debug, Default)]
pub(crate) struct Outcomes {
    errors: Mutex<HashMap<ItemId, (bool, String)>>,
}

impl Outcomes {
    /// Whether the rule is supported all the same, and what went wrong.
    pub(crate) fn error(&self, rule: ItemId) -> Option<(bool, String)> {
        lock(&self.errors).get(&rule).cloned()
    }

    fn set(&self, rule: ItemId, summary: &Summary) {
        if summary.error.is_empty() {
            lock(&self.errors).remove(&rule);
        } else {
            lock(&self.errors).insert(rule, (summary.supported, summary.error.clone()));
        }
    }

    /// The rules are gone.
    fn forget(&self, items: &[ItemId]) {
        let mut errors = lock(&self.errors);
        for item in items {
            errors.remove(item);
        }
    }
}

/// Applies the values of discovery rules, one after the other.
pub(crate) struct Worker {
    config: Arc<Config>,
    clock: SharedClock,
    shards: Arc<ShardSet>,
    problems: Problems,
    outcomes: Arc<Outcomes>,
    busy: Arc<Busy>,
    stop: Stop,
}

impl Worker {
    /// A worker of this server.
    pub(super) fn new(base: &Base<'_>, shards: &Arc<ShardSet>, problems: &Problems) -> Self {
        Self {
            config: Arc::clone(&base.config),
            clock: Arc::clone(&base.clock),
            shards: Arc::clone(shards),
            problems: problems.clone(),
            outcomes: Arc::default(),
            busy: Arc::default(),
            stop: base.stop_writers.clone(),
        }
    }

    /// What went wrong, by rule.
    pub(super) fn outcomes(&self) -> Arc<Outcomes> {
        Arc::clone(&self.outcomes)
    }

    /// Its time in work.
    pub(super) fn busy(&self) -> Arc<Busy> {
        Arc::clone(&self.busy)
    }

    /// Works until the queue is closed. What waits longer than a stop may take is dropped: a rule's
    /// next value has all rows again.
    pub(crate) fn run(self, mut values: Receiver<LldValue>) {
        while let Some(value) = values.blocking_recv() {
            if self.stop.is_over() {
                continue;
            }
            let begin = self.clock.monotonic();
            self.work(&value);
            let took = self.clock.monotonic().saturating_sub(begin);
            self.busy.ns.fetch_add(u64::try_from(took.as_nanos()).unwrap_or(0), Ordering::Relaxed);
        }
    }

    fn work(&self, value: &LldValue) {
        match config::lld::process(&self.config, value, self.clock.unix_s()) {
            Ok(summary) => {
                // The reason of a value that failed before discovery is the item's own error.
                if value.rows.is_ok() {
                    self.outcomes.set(value.rule, &summary);
                } else {
                    self.outcomes.forget(&[value.rule]);
                }
                if summary.changed() {
                    self.follow(value.rule, &summary);
                }
            }
            Err(error) => {
                tracing::warn!(rule = %value.rule, %error, "low-level discovery failed");
            }
        }
    }

    /// What was deleted takes its history and its problems with it.
    fn follow(&self, rule: ItemId, summary: &Summary) {
        tracing::info!(
            %rule,
            created = summary.created.total(),
            updated = summary.updated.total(),
            lost = summary.lost.total(),
            deleted = summary.deleted.items.len() + summary.deleted.triggers.len(),
            "low-level discovery"
        );
        let items: Vec<ItemId> = summary.deleted.items.iter().map(|id| ItemId(*id)).collect();
        self.outcomes.forget(&items);
        forget(&self.shards, &self.problems, &summary.deleted);
    }
}

/// History of deleted items and problems of deleted triggers go with them.
pub(crate) fn forget(shards: &ShardSet, problems: &Problems, deleted: &Deleted) {
    let items: Vec<ItemId> = deleted.items.iter().map(|id| ItemId(*id)).collect();
    if !items.is_empty()
        && let Err(error) = shards.clear(&items)
    {
        tracing::warn!(%error, "cannot delete the history of lost items");
    }
    if !deleted.triggers.is_empty()
        && let Err(error) = problems.remove_orphans()
    {
        tracing::warn!(%error, "cannot close problems of lost triggers");
    }
}
