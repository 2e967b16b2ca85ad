//! The handle that everybody shares, and the thread that writes findings.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::mpsc::{self, SyncSender, sync_channel};
use std::sync::{Arc, Mutex};

use config::db::{DbError, DbResult};
use config::retry::{Stop, Writing};
use config::{Config, Snapshot};
use model::{ProblemChange, TriggerFinding, TriggerId, TriggerState};
use stdx::clock::SharedClock;
use stdx::queue::Receiver;
use stdx::sync::lock;

use crate::effect::Effect;
use crate::marks::Marks;
use crate::open::Open;
use crate::unsent::Unsent;
use crate::{batch, internal, last_batch};

/// Findings per transaction: large enough that the commit costs little per event, small enough
/// that an acknowledgement, which waits for the transaction, is not felt.
const BATCH_MAX: usize = 1_000;

/// Who wants to know. All are called after the commit, in order, and must not block.
pub struct Hooks {
    /// A problem was opened or closed.
    pub problem: Box<dyn Fn(ProblemChange) + Send + Sync>,
    /// The trigger's state is another than its shard concluded: its last problem was closed by
    /// hand, or its recovery left problems open. The shard must take it over.
    pub trigger: Box<dyn Fn(TriggerId, TriggerState) + Send + Sync>,
    /// There are new events, or new updates of problems.
    pub written: Box<dyn Fn() + Send + Sync>,
}

impl Hooks {
    /// Nobody listens.
    pub fn none() -> Self {
        Self { problem: Box::new(|_| ()), trigger: Box::new(|_, _| ()), written: Box::new(|| ()) }
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
    /// Open problems.
    pub open: u64,
}

#[derive(Debug, Default)]
struct Counters {
    findings: AtomicU64,
    batches: AtomicU64,
    failures: AtomicU64,
    open: AtomicU64,
}

/// Writes what an earlier run left in the file, before the shards start. An error means that the file is
/// still needed.
pub fn replay(config: &Arc<Config>, clock: &SharedClock, unsent: &Unsent) -> std::io::Result<()> {
    let findings = unsent.read()?;
    if findings.is_empty() {
        return Ok(());
    }
    // No hooks: shards and browsers start later and read the state from the database.
    let problems = Problems::open(Arc::clone(config), Arc::clone(clock), Hooks::none());
    problems.map_err(std::io::Error::other)?.replay(&findings, unsent)
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
    open: Mutex<Known>,
    marks: Mutex<Marks>,
    counters: Counters,
}

/// The open problems as of the last transaction that was kept.
struct Known {
    open: Open,
    /// A transaction failed after it may have changed `open`: to be read from the database again.
    stale: bool,
    /// The batch whose transaction ended last without a result.
    unknown: Option<Unknown>,
    /// That batch turned out to be written: its repetition has nothing to do.
    is_written: bool,
}

/// A batch that may be written or not.
struct Unknown {
    /// What its transaction wrote as the last batch.
    id: String,
    effects: Vec<Effect>,
}

impl Problems {
    /// Loads the open problems.
    pub fn open(config: Arc<Config>, clock: SharedClock, hooks: Hooks) -> DbResult<Self> {
        let open = config.read(Open::load)?;
        let counters = Counters::default();
        counters.open.store(u64::try_from(open.len()).unwrap_or(u64::MAX), Ordering::Relaxed);
        let open = Mutex::new(Known { open, stale: false, unknown: None, is_written: false });
        let marks = Mutex::default();
        Ok(Self { inner: Arc::new(Inner { config, clock, hooks, open, marks, counters }) })
    }

    /// Writes findings until all senders are gone. Blocks: give it a thread of its own. While the
    /// database is down, a batch is repeated each second; the queue fills and the shards wait.
    /// When the server stops meanwhile, the rest goes into `unsent`. Returns whether every finding is
    /// in one of the two; if not, the next start has to evaluate as after a crash.
    ///
    /// Batches are brought to the disk beside the next ones: a change of much of the configuration keeps the disk so
    /// busy that a sync may take longer than all else that a problem needs to open.
    #[must_use]
    pub fn run(&self, findings: Receiver<TriggerFinding>, stop: &Stop, unsent: &Unsent) -> bool {
        // One place: the sync that takes a note concerns all batches before the note.
        let (written, notes) = sync_channel(1);
        std::thread::scope(|scope| {
            scope.spawn(|| stdx::thread::watch("problems-sync", || self.sync_written(notes)));
            let all_kept = self.write_all(findings, stop, unsent, &written);
            drop(written);
            all_kept
        })
    }

    /// Notes each batch in `written`.
    fn write_all(
        &self,
        mut findings: Receiver<TriggerFinding>,
        stop: &Stop,
        unsent: &Unsent,
        written: &SyncSender<()>,
    ) -> bool {
        let mut all_kept = true;
        let mut batch = Vec::with_capacity(BATCH_MAX);
        let mut given_up = false;
        while let Some(first) = findings.blocking_recv() {
            batch.push(first);
            while batch.len() < BATCH_MAX
                && let Some(next) = findings.try_recv()
            {
                batch.push(next);
            }
            // A mark needs no sync: after a power cut an older one only makes shards evaluate more.
            let makes_events = self.concern_events(&self.inner.config.snapshot(), &batch);
            let kept = if given_up { 0 } else { self.keep(&batch, stop) };
            if makes_events && kept > 0 {
                // If it is full, the note in it is about this batch, too.
                let _ = written.try_send(());
            }
            if let Some(rest) = batch.get(kept..).filter(|rest| !rest.is_empty()) {
                given_up = true;
                all_kept &= unsent.add(rest);
            }
            batch.clear();
        }
        all_kept
    }

    /// Brings written batches to the disk until no more are written.
    fn sync_written(&self, notes: mpsc::Receiver<()>) {
        for () in notes {
            // Written already: repeating would write twice. The next sync covers it.
            if let Err(error) = self.sync() {
                tracing::error!(%error, "events are written but not synced to disk");
            }
        }
    }

    fn replay(&self, findings: &[TriggerFinding], unsent: &Unsent) -> std::io::Result<()> {
        // One try: a start that cannot reach its database fails anyway.
        let stop = Stop::at_once(Arc::clone(&self.inner.clock));
        let mut left = findings;
        while !left.is_empty() {
            let batch = &left[..left.len().min(BATCH_MAX)];
            let kept = self.keep(batch, &stop);
            self.inner.config.sync_state().map_err(std::io::Error::other)?;
            left = &left[kept..];
            // After each batch: a replay that breaks off does not write it again.
            unsent.keep_only(left)?;
            if kept < batch.len() {
                return Err(std::io::Error::other("the configuration database is unavailable"));
            }
        }
        tracing::info!(findings = findings.len(), "wrote events kept from an earlier run");
        Ok(())
    }

    /// Returns how many findings are done with: written, or refused by the database and reported.
    fn keep(&self, batch: &[TriggerFinding], stop: &Stop) -> usize {
        let writing = Writing {
            stop,
            write: &|findings: &[TriggerFinding]| self.write(findings),
            refused: &|finding, error| {
                let trigger = batch::trigger_of(finding).map_or(0, |trigger| trigger.0);
                tracing::error!(%error, trigger, "skipping an event that cannot be written");
            },
            down: &|error| {
                tracing::error!(
                    %error,
                    findings = batch.len(),
                    "cannot write events; retrying, trigger evaluation waits meanwhile"
                );
            },
        };
        writing.keep(batch)
    }

    /// Writes one batch in one transaction. After an error nothing of it is written.
    pub fn write(&self, findings: &[TriggerFinding]) -> DbResult<()> {
        let mut marks = lock(&self.inner.marks).clone();
        let mark = marks.take(findings);
        let snapshot = self.inner.config.snapshot();
        if mark.is_some() || self.concern_events(&snapshot, findings) {
            self.write_batch(|edit, open| batch::write(edit, open, &snapshot, findings, mark))?;
        }
        *lock(&self.inner.marks) = marks;
        let counters = &self.inner.counters;
        counters.batches.fetch_add(1, Ordering::Relaxed);
        let n = u64::try_from(findings.len()).unwrap_or(u64::MAX);
        counters.findings.fetch_add(n, Ordering::Relaxed);
        Ok(())
    }

    /// Whether anything is to be written. States of items are of interest to internal actions, and where they end an
    /// internal problem.
    fn concern_events(&self, snapshot: &Snapshot, findings: &[TriggerFinding]) -> bool {
        let of_item = |finding: &TriggerFinding| match finding {
            TriggerFinding::ItemState { item, is_rule, .. } => {
                Some(internal::origin_of(*item, *is_rule))
            }
            _ => None,
        };
        let is_mark = |finding: &TriggerFinding| matches!(finding, TriggerFinding::Mark(_));
        if findings.iter().any(|finding| !is_mark(finding) && of_item(finding).is_none()) {
            return true;
        }
        let mut origins = findings.iter().filter_map(of_item).peekable();
        if origins.peek().is_none() || snapshot.internal_actions {
            return origins.peek().is_some();
        }
        let known = lock(&self.inner.open);
        known.stale || origins.any(|origin| known.open.internal(origin).is_some())
    }

    /// What self-monitoring shows.
    pub fn stats(&self) -> Stats {
        let c = &self.inner.counters;
        let read = |counter: &AtomicU64| counter.load(Ordering::Relaxed);
        Stats {
            findings: read(&c.findings),
            batches: read(&c.batches),
            failures: read(&c.failures),
            open: read(&c.open),
        }
    }

    /// How often correlation rules were compared with open problems.
    #[cfg(test)]
    pub(crate) fn comparisons(&self) -> u64 {
        lock(&self.inner.open).open.correlation.comparisons()
    }

    pub(crate) fn clock(&self) -> &SharedClock {
        &self.inner.clock
    }

    pub(crate) fn config(&self) -> &Config {
        &self.inner.config
    }

    /// A transaction of the writer, which repeats it after an error. When the database could not be
    /// asked whether the transaction was kept, its repetition asks, and does nothing if it was.
    fn write_batch(
        &self,
        work: impl FnOnce(&mut config::Statements<'_>, &mut Open) -> DbResult<Vec<Effect>>,
    ) -> DbResult<()> {
        let id = last_batch::new_id()?;
        let mut known = lock(&self.inner.open);
        self.settle(&mut known)?;
        if std::mem::take(&mut known.is_written) {
            return Ok(());
        }
        let mut effects = Vec::new();
        let result = self.transaction_in(&mut known, |edit, open| {
            last_batch::write(edit, &id)?;
            effects = work(edit, open)?;
            Ok::<_, DbError>(effects.clone())
        });
        // Under the same lock: the next transaction has to settle this one first.
        if matches!(result, Err(DbError::OutcomeUnknown { .. })) {
            known.unknown = Some(Unknown { id, effects });
        }
        result
    }

    /// What [`Problems::transaction`] has done so far survives a power cut.
    pub(crate) fn sync(&self) -> DbResult<()> {
        self.inner.config.sync_state()
    }

    /// Runs `work` in a transaction; its effects are reported after the commit. When it fails, the
    /// open problems are read from the database again before the next one.
    pub(crate) fn transaction<E: From<DbError>>(
        &self,
        work: impl FnOnce(&mut config::Statements<'_>, &mut Open) -> Result<Vec<Effect>, E>,
    ) -> Result<(), E> {
        let mut known = lock(&self.inner.open);
        self.settle(&mut known)?;
        self.transaction_in(&mut known, work)
    }

    /// The same, for a caller that holds the lock and has settled.
    fn transaction_in<E: From<DbError>>(
        &self,
        known: &mut Known,
        work: impl FnOnce(&mut config::Statements<'_>, &mut Open) -> Result<Vec<Effect>, E>,
    ) -> Result<(), E> {
        let inner = &*self.inner;
        if known.stale {
            known.open = inner.config.read(Open::load)?;
        }
        known.stale = true;
        let result = inner.config.write_state(|edit| work(edit, &mut known.open));
        known.stale = result.is_err();
        if known.stale {
            inner.counters.failures.fetch_add(1, Ordering::Relaxed);
        }
        let effects = result?;
        let len = u64::try_from(known.open.len()).unwrap_or(u64::MAX);
        inner.counters.open.store(len, Ordering::Relaxed);
        self.report(effects);
        Ok(())
    }

    /// Asks whether the batch without a result was kept.
    fn settle(&self, known: &mut Known) -> DbResult<()> {
        let Some(unknown) = &known.unknown else { return Ok(()) };
        let is_written = self.inner.config.read(last_batch::read)?.as_ref() == Some(&unknown.id);
        let unknown = known.unknown.take().filter(|_| is_written);
        known.is_written = is_written;
        self.report(unknown.map(|unknown| unknown.effects).unwrap_or_default());
        Ok(())
    }

    /// To be called while the lock is held: two transactions must not be reported in the wrong order.
    fn report(&self, effects: Vec<Effect>) {
        let is_any = !effects.is_empty();
        for effect in effects {
            match effect {
                Effect::Problem(change) => (self.inner.hooks.problem)(change),
                Effect::Trigger(trigger, state) => (self.inner.hooks.trigger)(trigger, state),
                Effect::Event => {}
            }
        }
        if is_any {
            self.report_written();
        }
    }

    /// New events or updates are committed.
    pub(crate) fn report_written(&self) {
        (self.inner.hooks.written)();
    }
}
