//! One shard's data and the order of its stages. No thread, no runtime, no waiting: what comes
//! in is handed in, what goes out waits in outboxes, time comes from the clock. Tests drive it so.

use std::sync::Arc;
use std::time::Duration;

use config::Snapshot;
use eval::preproc;
use eval::script::Scripts;
use foldhash::fast::FixedState;
use hashbrown::HashMap;
use history::trends::{Folded, Folder, Refold};
use history::{Driver, Past, ValueCache};
use model::{ItemId, LldValue, TriggerFinding, Value, ValueBatch};
use stdx::clock::SharedClock;

use crate::calculated::Calculated;
use crate::command::PeerMessage;
use crate::environment::Environment;
use crate::evaluator::Evaluator;
use crate::export::Export;
use crate::foreign::{ForeignItems, MissingTrends};
use crate::functions::{Compiler, History, PeerView};
use crate::gauges::{Gauges, Sizes, Stage};
use crate::live::Live;
use crate::outbox::Outbox;
use crate::peers::Tickets;
use crate::preprocess::Preprocess;
use crate::progress::Progress;
use crate::recent::Recent;
use crate::resent;
use crate::round::{Forward, Round};
use crate::scripts::{Desk, Done};
use crate::set::LetterBox;
use crate::slots::{Place, Slots};
use crate::states::States;
use crate::syncer::Syncer;
use crate::triggers::Triggers;

/// Messages that may wait in outboxes before the shard takes no more values.
const OUTBOX_MAX: usize = 4_096;

/// Bytes of values of discovery rules that may wait in the outbox before the shard takes no more values:
/// as many as in the queue behind it.
const LLD_BYTES_MAX: usize = config::lld::worker::BYTES_MAX;

/// A clock that goes back by no more than this is slewed, seconds.
const CLOCK_JITTER_S: u64 = 5;

/// A shard without its thread.
pub(crate) struct Core {
    pub(crate) place: Place,
    pub(crate) clock: SharedClock,
    pub(crate) letters: LetterBox,
    pub(crate) gauges: Arc<Gauges>,
    pub(crate) snapshot: Arc<Snapshot>,
    pub(crate) env: Environment,
    pub(crate) compiler: Compiler,
    pub(crate) scripts: Scripts,
    pub(crate) desk: Desk,
    pub(crate) slots: Slots,
    pub(crate) cache: ValueCache,
    pub(crate) driver: Box<dyn Driver>,
    pub(crate) past: Option<Arc<Past>>,
    pub(crate) syncer: Syncer,
    pub(crate) folder: Folder,
    pub(crate) refold: Refold,
    /// Items whose last values are still to be fetched from history.
    pub(crate) warm: Vec<ItemId>,
    /// They all have been.
    pub(crate) warmed: bool,
    pub(crate) folded: Vec<Folded>,
    pub(crate) triggers: Triggers,
    pub(crate) calculated: Calculated,
    pub(crate) foreign: ForeignItems,
    pub(crate) tickets: Tickets,
    /// By shard number; `None` = this one.
    pub(crate) peers: Vec<Option<Outbox<PeerMessage>>>,
    pub(crate) findings: Outbox<TriggerFinding>,
    pub(crate) progress: Progress,
    pub(crate) states: States,
    pub(crate) lld: Outbox<LldValue>,
    pub(crate) live: Live,
    pub(crate) export: Export,
    pub(crate) round: Round,
    pub(crate) recent: Recent,
    /// Trends of other shards that the evaluation at hand found missing.
    pub(crate) missing: MissingTrends,
    pub(crate) started_s: u32,
    pub(crate) born: HashMap<ItemId, u32, FixedState>,
    /// Counted since the gauges were last written.
    pub(crate) evaluations: u64,
    pub(crate) found: u64,
    pub(crate) second: u64,
}

impl Core {
    /// One group commit: batches pass all stages in order. This is the journey of a value. Those
    /// that may repeat what others among them bring are another one.
    pub(crate) fn run(&mut self, batches: &mut Vec<ValueBatch>) {
        while let Some(at) = resent::behind_others(batches) {
            let rest = batches.split_off(at);
            self.run_together(batches);
            *batches = rest;
        }
        self.run_together(batches);
    }

    fn run_together(&mut self, batches: &mut Vec<ValueBatch>) {
        let start = self.clock.monotonic();
        self.drop_repeated(batches);
        self.stage(|stage| batches.drain(..).for_each(|batch| stage.batch(batch)));
        self.commit(start);
    }

    /// A group commit of values that come back from scripts.
    pub(crate) fn run_done(&mut self, done: Vec<Done>) {
        let start = self.clock.monotonic();
        self.stage(|stage| done.into_iter().for_each(|done| stage.done(done)));
        self.commit(start);
    }

    fn commit(&mut self, start: Duration) {
        debug_assert!(
            self.round.stored.iter().all(|sample| {
                let item = self.snapshot.items.get(&sample.item);
                item.is_none_or(|item| self.place.owns(item))
            }),
            "BUG: a shard writes values of an item that another shard owns"
        );
        self.recent.prepare(&self.round, &self.slots, &self.cache);
        let preprocessed = self.clock.monotonic();
        self.gauges.busy(Stage::Preprocess, preprocessed.saturating_sub(start));
        let kept = self.syncer.commit(
            &mut self.round,
            &mut self.cache,
            self.driver.as_mut(),
            &mut self.folder,
            (&self.gauges, preprocessed),
        );
        if kept {
            self.slots.settle(&mut self.round.before);
            self.desk.keep_round();
            self.round.told.discovered.drain(..).for_each(|value| self.lld.send(value));
            self.export.values(&mut self.round.told.exported);
            self.forward();
            self.recent.complete(&self.round, self.driver.as_ref());
            self.states.tell(&mut self.round.told.states, &mut self.findings);
            self.evaluate_round();
            self.progress.kept();
        } else {
            self.slots.restore(&mut self.round.before);
            self.desk.refuse_round();
        }
        self.scripts_returned(kept);
        self.end_round();
        if self.folder.too_many() > 0 {
            // Somebody sends values of many hours long over; these must not pile up.
            self.refold_some();
            self.write_trends(u32::try_from(self.second).unwrap_or(u32::MAX));
        }
        self.gauges.busy(Stage::Sync, self.clock.monotonic().saturating_sub(preprocessed));
    }

    /// Values that the shard made itself.
    pub(crate) fn run_own(&mut self, values: Vec<Value>) {
        if !values.is_empty() {
            self.run(&mut vec![ValueBatch { values, ack: None }]);
        }
    }

    fn stage(&mut self, work: impl FnOnce(&mut Preprocess<'_>)) {
        let listened = self.live.listened();
        let mut stage = Preprocess {
            place: self.place,
            snapshot: &self.snapshot,
            slots: &mut self.slots,
            round: &mut self.round,
            live: listened.then_some(&mut self.live),
            exported: self.export.types(),
            scripts: &mut self.scripts,
            desk: &mut self.desk,
            now_s: u32::try_from(self.second).unwrap_or(u32::MAX),
            ack: None,
        };
        work(&mut stage);
    }

    /// Items whose values came back from script workers go on with the state that the round left.
    fn scripts_returned(&mut self, kept: bool) {
        for returned in std::mem::take(&mut self.round.returned) {
            let state = if kept { returned.after } else { returned.before };
            let left = self.desk.back(returned.item, state);
            if let Some(state) = left.filter(|state| *state != preproc::State::default())
                && returned.is_current
                && let Some(slot) = self.slots.take(&self.snapshot, returned.item)
            {
                self.slots.get_mut(slot).state = Some(Box::new(state));
            }
        }
    }

    /// Samples that triggers of other shards need.
    fn forward(&mut self) {
        if self.round.forwards.is_empty() {
            return;
        }
        let mut forwards = std::mem::take(&mut self.round.forwards);
        forwards.sort_by_key(|(shard, _)| *shard);
        let mut samples = Vec::new();
        let mut rest = forwards.drain(..).peekable();
        while let Some((shard, forward)) = rest.next() {
            match forward {
                Forward::Sample(sample) => samples.push(sample),
                Forward::State { item, at, supported } => {
                    send(
                        &mut self.peers,
                        shard,
                        PeerMessage::Samples(std::mem::take(&mut samples)),
                    );
                    send(&mut self.peers, shard, PeerMessage::ItemState { item, at, supported });
                }
            }
            if rest.peek().is_none_or(|(next, _)| *next != shard) {
                send(&mut self.peers, shard, PeerMessage::Samples(std::mem::take(&mut samples)));
            }
        }
        drop(rest);
        self.round.forwards = forwards;
    }

    fn end_round(&mut self) {
        debug_assert!(
            self.round.acks.is_empty(),
            "BUG: a round ends with acknowledgements that were neither given nor refused"
        );
        for slot in &self.round.counted {
            self.slots.get_mut(*slot).seen = 0;
        }
        self.round.clear();
        self.recent.clear();
        self.gauges
            .evaluated(std::mem::take(&mut self.evaluations), std::mem::take(&mut self.found));
    }

    pub(crate) fn tell_peers(&mut self, message: impl Fn() -> PeerMessage) {
        for peer in self.peers.iter_mut().flatten() {
            peer.send(message());
        }
    }

    pub(crate) fn evaluator(&mut self) -> Evaluator<'_> {
        self.evaluator_with(&[])
    }

    pub(crate) fn evaluator_with<'a>(&'a mut self, views: &'a [PeerView]) -> Evaluator<'a> {
        self.missing.items.clear();
        Evaluator {
            snapshot: &self.snapshot,
            env: &self.env,
            compiler: &mut self.compiler,
            slots: &self.slots,
            history: History {
                cache: &mut self.cache,
                driver: self.driver.as_ref(),
                past: self.past.as_ref(),
                recent: &self.recent,
                folder: &self.folder,
                foreign: &self.foreign,
                views,
                place: self.place,
                snapshot: &self.snapshot,
                now_s: self.second,
                missing: &mut self.missing,
            },
            started_s: self.started_s,
            born: &self.born,
        }
    }

    /// Whether the shard may take new values: not while much waits to go out.
    pub(crate) fn takes_values(&self) -> bool {
        self.waiting() < OUTBOX_MAX && self.lld.bytes() < LLD_BYTES_MAX && self.desk.takes_values()
    }

    /// Messages in outboxes.
    pub(crate) fn waiting(&self) -> usize {
        let peers: usize = self.peers.iter().flatten().map(Outbox::len).sum();
        peers + self.findings.len() + self.lld.len()
    }

    /// Sends what there is room for.
    pub(crate) fn send_waiting(&mut self) {
        self.peers.iter_mut().flatten().for_each(Outbox::flush);
        self.findings.flush();
        self.lld.flush();
    }

    /// To be called about ten times a second.
    pub(crate) fn tick(&mut self) {
        let now = self.clock.monotonic();
        self.live.tick(now);
        self.desk.flush();
        self.send_waiting();
        self.states.tell_more(&self.slots, &mut self.findings);
        self.refold_some();
        self.warm_some();
        let second = self.clock.unix_s();
        if second == self.second {
            self.calculate_rest(second);
            return;
        }
        if second + CLOCK_JITTER_S < self.second {
            self.clock_set_back(second);
        }
        self.second = second;
        self.open_letters();
        self.each_second(second, now);
    }

    fn each_second(&mut self, second: u64, start: Duration) {
        self.evaluate_timed(second);
        let timed = self.clock.monotonic();
        self.gauges.busy(Stage::Timer, timed.saturating_sub(start));
        self.calculate_due(second);
        self.mark_findings(second);
        self.expire_tickets(second);
        self.gauges.busy(Stage::Calculate, self.clock.monotonic().saturating_sub(timed));
        self.write_trends(u32::try_from(second).unwrap_or(u32::MAX));
        if let Err(error) = self.driver.maintain() {
            tracing::error!(%error, "history maintenance failed");
        }
        for item in self.slots.sweep(&self.snapshot, 10_000) {
            self.cache.forget(item);
            self.folder.forget(item);
        }
        self.gauges
            .evaluated(std::mem::take(&mut self.evaluations), std::mem::take(&mut self.found));
        self.gauges.trends_read(std::mem::take(&mut self.missing.reads));
        self.gauges.sizes(&Sizes {
            items: self.slots.len(),
            items_unsupported: self.slots.unsupported(),
            triggers: self.triggers.len(),
            outbox: self.waiting() + self.desk.held(),
            trends_waiting: self.folder.waiting(),
            trends_unread: self.refold.unread(),
            refold_failures: self.refold.failures(),
            cache: self.cache.counters(),
        });
    }

    fn write_trends(&mut self, now: u32) {
        if self.refold.is_under_way() {
            return;
        }
        self.folder.take(now, &mut self.folded);
        if let Err(error) = self.write_folded() {
            tracing::error!(%error, "cannot write trends; retrying");
        }
    }

    /// What cannot be written now stays for the next try.
    fn write_folded(&mut self) -> Result<(), history::Error> {
        if !self.folded.is_empty() {
            history::trends::write(self.driver.as_mut(), &mut self.folded)?;
            self.export.trends(&self.folded);
            self.folded.clear();
            self.folded.shrink_to(4_096);
        }
        Ok(())
    }

    /// Writes everything for an orderly end. After an error the end is none: something is only to
    /// be had by folding trends again after the next start.
    pub(crate) fn finish(&mut self) -> Result<(), history::Error> {
        let refolded = self.refold.finish(self.driver.as_mut(), &mut self.folder);
        self.folder.drain(&mut self.folded);
        let written = self.write_folded();
        refolded.and(written).and(self.driver.close())
    }
}

pub(crate) fn send(peers: &mut [Option<Outbox<PeerMessage>>], shard: usize, message: PeerMessage) {
    if matches!(&message, PeerMessage::Samples(samples) if samples.is_empty()) {
        return;
    }
    if let Some(Some(peer)) = peers.get_mut(shard) {
        peer.send(message);
    }
}
