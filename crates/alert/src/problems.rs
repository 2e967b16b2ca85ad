//! The handle that everybody shares, and the thread that writes findings.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use config::Config;
use config::db::{DbError, DbResult};
use model::{ProblemChange, TriggerFinding, TriggerId, TriggerState};
use stdx::clock::SharedClock;
use stdx::queue::Receiver;
use stdx::sync::lock;

use crate::batch;
use crate::open::Open;

/// Findings per transaction: large enough that the commit costs little per event, small enough
/// that an acknowledgement, which waits for the transaction, is not felt.
const BATCH_MAX: usize = 1_000;

/// Pause before a failed transaction is tried again. Meanwhile the queue fills and the shards wait.
const RETRY_AFTER: Duration = Duration::from_secs(1);

/// Who wants to know. Both are called after the commit, in order, and must not block.
pub struct Hooks {
    /// A problem was opened or closed.
    pub problem: Box<dyn Fn(ProblemChange) + Send + Sync>,
    /// The trigger's state is another than its shard concluded: its last problem was closed by
    /// hand, or its recovery left problems open. The shard must take it over.
    pub trigger: Box<dyn Fn(TriggerId, TriggerState) + Send + Sync>,
}

impl Hooks {
    /// Nobody listens.
    pub fn none() -> Self {
        Self { problem: Box::new(|_| ()), trigger: Box::new(|_, _| ()) }
    }
}

impl std::fmt::Debug for Hooks {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Hooks").finish_non_exhaustive()
    }
}

/// What self-monitoring shows. Counters only grow but `open`.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
pub struct Stats {
    /// Findings written.
    pub findings: u64,
    /// Transactions.
    pub batches: u64,
    /// Transactions that failed and were repeated.
    pub failures: u64,
    /// Time spent writing, ns.
    pub busy_ns: u64,
    /// Open problems.
    pub open: u64,
}

#[derive(Debug, Default)]
struct Counters {
    findings: AtomicU64,
    batches: AtomicU64,
    failures: AtomicU64,
    busy_ns: AtomicU64,
    open: AtomicU64,
}

/// The problems; clones share them.
#[derive(Clone)]
pub struct Problems {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Problems {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Problems").field("stats", &self.stats()).finish_non_exhaustive()
    }
}

struct Inner {
    config: Arc<Config>,
    clock: SharedClock,
    hooks: Hooks,
    /// Held for the length of each transaction, so that memory and database agree.
    open: Mutex<Open>,
    counters: Counters,
}

/// What a transaction did that others hear of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Effect {
    Problem(ProblemChange),
    Trigger(TriggerId, TriggerState),
}

impl Problems {
    /// Loads the open problems.
    pub fn open(config: Arc<Config>, clock: SharedClock, hooks: Hooks) -> DbResult<Self> {
        let open = config.read(Open::load)?;
        let counters = Counters::default();
        counters.open.store(u64::try_from(open.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let open = Mutex::new(open);
        Ok(Self { inner: Arc::new(Inner { config, clock, hooks, open, counters }) })
    }

    /// Writes findings until all senders are gone. Blocks: give it a thread of its own.
    /// A batch that the database refuses is repeated each second; nothing is skipped.
    pub fn run(&self, mut findings: Receiver<TriggerFinding>) {
        let mut batch = Vec::with_capacity(BATCH_MAX);
        while let Some(first) = findings.blocking_recv() {
            batch.push(first);
            while batch.len() < BATCH_MAX
                && let Some(next) = findings.try_recv()
            {
                batch.push(next);
            }
            while let Err(error) = self.write(&batch) {
                tracing::error!(
                    %error,
                    findings = batch.len(),
                    "cannot write events; retrying, trigger evaluation waits meanwhile"
                );
                std::thread::sleep(RETRY_AFTER);
            }
            batch.clear();
        }
    }

    /// Writes one batch in one transaction. After an error nothing of it is written.
    pub fn write(&self, findings: &[TriggerFinding]) -> DbResult<()> {
        let start = self.inner.clock.monotonic();
        self.transaction(|edit, open| batch::write(edit, open, findings))?;
        let busy = self.inner.clock.monotonic().saturating_sub(start);
        let counters = &self.inner.counters;
        let ns = u64::try_from(busy.as_nanos()).unwrap_or(u64::MAX);
        counters.busy_ns.fetch_add(ns, Ordering::Relaxed);
        counters.batches.fetch_add(1, Ordering::Relaxed);
        let n = u64::try_from(findings.len()).unwrap_or(u64::MAX);
        counters.findings.fetch_add(n, Ordering::Relaxed);
        Ok(())
    }

    /// What self-monitoring shows.
    pub fn stats(&self) -> Stats {
        let c = &self.inner.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            findings: read(&c.findings),
            batches: read(&c.batches),
            failures: read(&c.failures),
            busy_ns: read(&c.busy_ns),
            open: read(&c.open),
        }
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    /// Runs `work` in a transaction; its effects are told after the commit. When it fails, the
    /// open problems are read back from the database.
    pub(crate) fn transaction<E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut config::Edit<'_>, &mut Open) -> Result<Vec<Effect>, E>,
    ) -> Result<(), E> {
        let inner = &*self.inner;
        let mut open = lock(&inner.open);
        let result = inner.config.write(|edit| work(edit, &mut open));
        if result.is_err() {
            inner.counters.failures.fetch_add(1, Ordering::Relaxed);
            *open = inner.config.read(Open::load)?;
        }
        let len = u64::try_from(open.len()).unwrap_or(u64::MAX);
        inner.counters.open.store(len, Ordering::Relaxed);
        // Told while the lock is held: two transactions must not be told in the wrong order.
        for effect in result? {
            match effect {
                Effect::Problem(change) => (inner.hooks.problem)(change),
                Effect::Trigger(trigger, state) => (inner.hooks.trigger)(trigger, state),
            }
        }
        Ok(())
    }
}
