//! Stage 1: values become samples, errors, or nothing; dependent items fan out here.

use std::sync::Arc;

use config::Snapshot;
use config::snapshot::Item;
use config::snapshot::connector::ValueTypes;
use eval::preproc::{self, Outcome, convert, into_text};
use eval::script::Scripts;
use model::{LldValue, Payload, Sample, SampleValue, Timestamp, Value, ValueBatch};
use stdx::ack;

use crate::fault;
use crate::live::Live;
use crate::round::{Forward, Job, Kept, Returned, Round};
use crate::scripts::{Desk, Done, Held, has_script};
use crate::slots::{Place, SlotId, Slots, VALUES_AHEAD};
use crate::states::Change;

/// Deepest chain of dependent items; the API refuses deeper ones.
const DEPENDENT_DEPTH_MAX: usize = 4;

/// Works on one round; borrows what it needs of the shard.
pub(crate) struct Preprocess<'a> {
    pub(crate) place: Place,
    pub(crate) snapshot: &'a Snapshot,
    pub(crate) slots: &'a mut Slots,
    pub(crate) round: &'a mut Round,
    /// While somebody looks.
    pub(crate) live: Option<&'a mut Live>,
    /// Types whose values are exported.
    pub(crate) exported: ValueTypes,
    pub(crate) scripts: &'a mut Scripts,
    pub(crate) desk: &'a mut Desk,
    /// The clock's second, or one that is just over.
    pub(crate) now_s: u32,
    /// Of the values at hand: what leaves for a worker takes a part of it along.
    pub(crate) ack: Option<ack::Part>,
}

impl Preprocess<'_> {
    /// Takes a batch in; its acknowledgement waits in the round until everything is written.
    pub(crate) fn batch(&mut self, batch: ValueBatch) {
        let total = batch.values.len() as u64;
        let mut processed = 0;
        self.slots.next_batch();
        self.ack = batch.ack;
        let mut values = batch.values.into_iter();
        let mut ahead = 0;
        loop {
            if ahead == 0 {
                let next = values.as_slice().iter().take(VALUES_AHEAD);
                self.slots.look_at(self.snapshot, next.map(|value| value.item));
                ahead = VALUES_AHEAD;
            }
            ahead -= 1;
            let Some(value) = values.next() else { break };
            processed += u64::from(self.value(value));
        }
        self.round.tally.refused += total - processed;
        self.end_ack(processed, total - processed);
    }

    fn end_ack(&mut self, processed: u64, failed: u64) {
        if let Some(ack) = self.ack.take() {
            self.round.acks.push((ack, processed, failed));
        }
    }

    /// Returns whether the value was taken: its item exists and is enabled, and its script does not
    /// hang.
    fn value(&mut self, value: Value) -> bool {
        let Some(slot) = self.slots.take(self.snapshot, value.item) else { return false };
        if self.plain(slot, &value) {
            return true;
        }
        let item = Arc::clone(&self.slots.get(slot).item);
        if !item.enabled {
            return false;
        }
        if matches!(value.payload, Payload::Meta) {
            return true;
        }
        let at = self.slots.moment(slot, value.at);
        self.process(slot, &item, value.payload, at, 0)
    }

    /// Runs the item's steps here, or has them run where a script may take its time. `false` = too
    /// many of the item's values wait there.
    fn process(
        &mut self,
        slot: SlotId,
        item: &Arc<Item>,
        payload: Payload,
        at: Timestamp,
        depth: usize,
    ) -> bool {
        if !has_script(&item.steps) {
            let outcome = self.steps(slot, item, payload, at);
            self.finish(slot, item, at, outcome, depth);
            return true;
        }
        let held = |payload, ack: Option<&ack::Part>| {
            let ack = ack.map(ack::Part::fork);
            Held { item: Arc::clone(item), payload, at, depth, ack }
        };
        if self.desk.wants(item) {
            if !self.desk.has_room(item.id) {
                return false;
            }
            self.journal(slot);
            let state = &mut self.slots.get_mut(slot).state;
            let state = || state.take().map_or_else(preproc::State::default, |state| *state);
            self.desk.take(held(payload, self.ack.as_ref()), state);
            return true;
        }
        let before = self.slots.get(slot).state.as_deref().cloned().unwrap_or_default();
        let outcome = self.steps(slot, item, payload.clone(), at);
        if self.scripts.ran_out() {
            // What the steps did so far does not count.
            self.journal(slot);
            self.slots.get_mut(slot).state = None;
            self.desk.is_slow(item.id);
            self.desk.take(held(payload, self.ack.as_ref()), || before);
            return true;
        }
        self.finish(slot, item, at, outcome, depth);
        true
    }

    /// A value comes back from a worker. Its batch counted it when it left.
    pub(crate) fn done(&mut self, mut done: Done) {
        self.ack = done.ack.take();
        self.keep_done(done);
        self.end_ack(0, 0);
    }

    fn keep_done(&mut self, done: Done) {
        let Done { item: then, at, depth, outcome, before, state, took, .. } = done;
        self.desk.ran(&then.steps, took);
        let slot = self.slots.take(self.snapshot, then.id);
        let item = slot.map(|slot| Arc::clone(&self.slots.get(slot).item));
        let is_current = item.as_ref().is_some_and(|item| Arc::ptr_eq(&item.steps, &then.steps));
        // A value whose first round was refused does not count: its sender sends it again.
        let void = self.desk.is_void(then.id);
        let after = if void { before.clone() } else { state };
        self.round.returned.push(Returned { item: then.id, before, after, is_current });
        if let (Some(slot), Some(item)) = (slot, item)
            && item.enabled
            && !void
        {
            self.finish(slot, &item, at, outcome, depth);
        }
    }

    /// Keeps what the slot remembers until it is known whether the round is kept.
    fn journal(&mut self, slot: SlotId) {
        self.round.before.extend(self.slots.journal(slot));
    }

    fn steps(&mut self, slot: SlotId, item: &Item, payload: Payload, at: Timestamp) -> Outcome {
        if item.steps.is_empty() {
            return match payload {
                Payload::NotSupported(error) => Outcome::NotSupported(error),
                payload => Outcome::Value(payload),
            };
        }
        // Most steps remember nothing: an item gets a state when there is something in it.
        if self.slots.get(slot).state.is_some() {
            self.journal(slot);
        }
        let state = &mut self.slots.get_mut(slot).state;
        let mut fresh = preproc::State::default();
        let used = state.as_deref_mut().unwrap_or(&mut fresh);
        let outcome = fault::steps(item, used, payload, at, self.scripts);
        if state.is_none() && fresh != preproc::State::default() {
            self.journal(slot);
            self.slots.get_mut(slot).state = Some(Box::new(fresh));
        }
        outcome
    }

    fn finish(
        &mut self,
        slot: SlotId,
        item: &Arc<Item>,
        at: Timestamp,
        outcome: Outcome,
        depth: usize,
    ) {
        let value = match outcome {
            Outcome::Value(value) => value,
            Outcome::Discarded => {
                // The item's state stays, as it does at the field's server.
                self.round.tally.discarded += 1;
                return;
            }
            Outcome::NotSupported(error) => {
                self.unsupported(slot, item, at, &error);
                if !item.dependents.is_empty() && depth < DEPENDENT_DEPTH_MAX {
                    self.fan_out(item, at, &Payload::NotSupported(error), depth + 1);
                }
                return;
            }
        };
        if item.dependents.is_empty() || depth == DEPENDENT_DEPTH_MAX {
            self.deliver(slot, item, at, value);
        } else {
            self.deliver(slot, item, at, value.clone());
            self.fan_out(item, at, &value, depth + 1);
        }
    }

    /// Dependent items work on what preprocessing made of the master's value, whatever type the
    /// master keeps it in; on its error as well.
    fn fan_out(&mut self, master: &Item, at: Timestamp, value: &Payload, depth: usize) {
        for id in &master.dependents {
            let Some(slot) = self.slots.take(self.snapshot, *id) else { continue };
            let item = Arc::clone(&self.slots.get(slot).item);
            if item.enabled && !self.process(slot, &item, value.clone(), at, depth) {
                self.round.tally.refused += 1;
            }
        }
    }

    fn deliver(&mut self, slot: SlotId, item: &Arc<Item>, at: Timestamp, value: Payload) {
        if item.discovery_rule {
            self.supported(slot, item, at);
            let rows = Ok(into_text(value).into());
            self.round.told.discovered.push(LldValue { rule: item.id, at, rows });
            return;
        }
        match convert(value, item.value_type) {
            Ok(value) => {
                self.supported(slot, item, at);
                self.sample(slot, item, at, value);
            }
            Err(error) => self.unsupported(slot, item, at, &error),
        }
    }

    fn sample(&mut self, slot: SlotId, item: &Item, at: Timestamp, value: SampleValue) {
        let sample = Sample { item: item.id, at, value };
        self.round.tally.count(item.value_type);
        if let Some(live) = &mut self.live {
            live.got(item.id);
        }
        if self.exported.contains(item.value_type) {
            self.round.told.exported.push(sample.clone());
        }
        let watch = self.slots.get(slot).watch;
        if watch.peers {
            self.forward(item, &Forward::Sample(sample.clone()));
        }
        if watch.own {
            self.job(slot, at);
        }
        let kept = if item.history_days > 0 { Kept::Stored } else { Kept::Unstored };
        let trends = item.trends_days > 0 && item.value_type.is_numeric();
        self.round.keep(sample, kept, trends, self.now_s);
    }

    pub(crate) fn job(&mut self, slot: SlotId, at: Timestamp) {
        let state = self.slots.get_mut(slot);
        let turn = state.seen;
        if turn == 0 {
            self.round.counted.push(slot);
        }
        // Beyond 65,535 values of one item in one round the rest share the last turn.
        state.seen = turn.saturating_add(1);
        self.round.jobs.push(Job { turn, slot, at });
    }

    fn supported(&mut self, slot: SlotId, item: &Item, at: Timestamp) {
        if self.slots.get(slot).error.is_none() {
            return;
        }
        self.journal(slot);
        let changed = self.slots.set_error(slot, None);
        if changed && !item.discovery_rule {
            self.round.told.states.push(Change { item: item.id, at, error: None });
        }
        if changed && self.slots.get(slot).watch.peers {
            self.forward(item, &Forward::State { item: item.id, at, supported: true });
        }
    }

    fn unsupported(&mut self, slot: SlotId, item: &Item, at: Timestamp, error: &str) {
        self.round.tally.unsupported += 1;
        self.journal(slot);
        let changed = self.slots.set_error(slot, Some(error));
        if item.discovery_rule {
            let rows = Err(error.to_owned());
            self.round.told.discovered.push(LldValue { rule: item.id, at, rows });
            return;
        }
        if changed {
            self.round.told.states.push(Change { item: item.id, at, error: Some(error.into()) });
        }
        let watch = self.slots.get(slot).watch;
        if watch.own {
            self.job(slot, at);
        }
        if changed && watch.peers {
            self.forward(item, &Forward::State { item: item.id, at, supported: false });
        }
    }

    /// For each other shard that evaluates a trigger which names the item.
    fn forward(&mut self, item: &Item, message: &Forward) {
        let mut told: Vec<usize> = Vec::new();
        for id in &item.triggers {
            let Some(trigger) = self.snapshot.triggers.get(id).filter(|t| t.enabled) else {
                continue;
            };
            if let Some(shard) = self.place.evaluator(self.snapshot, trigger)
                && shard != self.place.index
                && !told.contains(&shard)
            {
                told.push(shard);
                self.round.forwards.push((shard, message.clone()));
            }
        }
    }
}
