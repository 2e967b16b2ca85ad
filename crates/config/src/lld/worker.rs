//! The low-level discovery worker: applies values of rules one after the other, on a thread of its own
//! beside the value path.

use std::collections::{HashMap, HashSet};
use std::sync::{Arc, Mutex};

use model::{ItemId, LldValue, Timestamp};
use stdx::clock::SharedClock;
use stdx::queue::{Gauge, Receiver, Sender, weighing};
use stdx::sync::lock;
use stdx::worktime::WorkTime;

use super::{Summary, VALUE_BYTES_MAX, process};
use crate::Config;
use crate::retry::Stop;

/// Values of discovery rules that wait; each may be megabytes of JSON.
const VALUES_MAX: usize = 64;
/// Their bytes; a larger value waits alone.
pub const BYTES_MAX: usize = 64 << 20;

const _: () = assert!(VALUE_BYTES_MAX <= BYTES_MAX, "the largest value fits the queue");

/// From the shards to the worker.
pub fn queue() -> (Sender<LldValue>, Receiver<LldValue>) {
    weighing("lld", VALUES_MAX, BYTES_MAX, LldValue::bytes)
}

/// What went wrong in the last discovery of each rule.
#[derive(Debug, Default)]
pub struct Outcomes {
    errors: Mutex<HashMap<ItemId, (bool, String)>>,
}

impl Outcomes {
    /// Whether the rule is supported all the same, and what went wrong.
    pub fn error(&self, rule: ItemId) -> Option<(bool, String)> {
        lock(&self.errors).get(&rule).cloned()
    }

    fn set(&self, rule: ItemId, summary: &Summary) {
        if summary.error.is_empty() {
            lock(&self.errors).remove(&rule);
        } else {
            lock(&self.errors).insert(rule, (summary.supported, summary.error.clone()));
        }
    }

    /// The items are deleted, rules among them.
    pub fn forget(&self, items: &[ItemId]) {
        let mut errors = lock(&self.errors);
        for item in items {
            errors.remove(item);
        }
    }
}

/// What others see of the worker.
#[derive(Debug, Clone)]
pub struct Status {
    /// What went wrong, by rule.
    pub outcomes: Arc<Outcomes>,
    /// Its time in work.
    pub busy: Arc<WorkTime>,
    /// Values of rules that wait.
    pub waiting: Arc<Gauge>,
}

/// Told when a rule is no longer supported, or supported again (empty error).
pub type Changed = Box<dyn Fn(ItemId, Timestamp, &str) + Send>;

/// Applies the values of discovery rules, one after the other.
pub struct Worker {
    config: Arc<Config>,
    clock: SharedClock,
    outcomes: Arc<Outcomes>,
    busy: Arc<WorkTime>,
    stop: Stop,
    unsupported: HashSet<ItemId>,
    changed: Changed,
}

impl std::fmt::Debug for Worker {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Worker").finish_non_exhaustive()
    }
}

impl Worker {
    /// `stop` ends its work early.
    pub fn new(config: Arc<Config>, clock: SharedClock, stop: Stop) -> Self {
        Self {
            config,
            clock,
            outcomes: Arc::default(),
            busy: Arc::default(),
            stop,
            unsupported: HashSet::new(),
            changed: Box::new(|_, _, _| ()),
        }
    }

    /// The same, telling changes of the states of rules. `unsupported`: rules that are not supported at the start, with
    /// their errors.
    #[must_use]
    pub fn telling(mut self, unsupported: Vec<(ItemId, Box<str>)>, changed: Changed) -> Self {
        for (rule, error) in unsupported {
            lock(&self.outcomes.errors).insert(rule, (false, error.into()));
            self.unsupported.insert(rule);
        }
        self.changed = changed;
        self
    }

    /// What others see of it, with the queue that it will work off.
    pub fn status(&self, values: &Receiver<LldValue>) -> Status {
        Status {
            outcomes: Arc::clone(&self.outcomes),
            busy: Arc::clone(&self.busy),
            waiting: values.gauge(),
        }
    }

    /// Works until the queue is closed. What waits longer than a stop may take is dropped: a rule's
    /// next value has all rows again.
    pub fn run(mut self, mut values: Receiver<LldValue>) {
        while let Some(value) = values.blocking_recv() {
            if self.stop.is_over() {
                continue;
            }
            let (clock, busy) = (Arc::clone(&self.clock), Arc::clone(&self.busy));
            busy.count(&*clock, || self.work(&value));
        }
    }

    fn work(&mut self, value: &LldValue) {
        match process(&self.config, value, self.clock.unix_s()) {
            Ok(summary) => {
                // The reason of a value that failed before discovery is the item's own error.
                if value.rows.is_ok() {
                    self.outcomes.set(value.rule, &summary);
                } else {
                    self.outcomes.forget(&[value.rule]);
                }
                self.tell(value, &summary);
                if summary.changed() {
                    tracing::info!(
                        rule = %value.rule,
                        created = summary.created.total(),
                        updated = summary.updated.total(),
                        lost = summary.lost.total(),
                        deleted = summary.deleted.total(),
                        "low-level discovery"
                    );
                }
            }
            Err(error) => {
                tracing::warn!(rule = %value.rule, %error, "low-level discovery failed");
            }
        }
    }

    /// Another error of a rule that is not supported is no change.
    fn tell(&mut self, value: &LldValue, summary: &Summary) {
        let rule = value.rule;
        let changes = if summary.supported {
            self.unsupported.remove(&rule)
        } else {
            self.unsupported.insert(rule)
        };
        if changes {
            let error = if summary.supported { "" } else { &summary.error };
            (self.changed)(rule, value.at, error);
        }
    }
}
