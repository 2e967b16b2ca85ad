//! States of items on their way to the writer of events.
//!
//! A network failure makes the items of many hosts unsupported at once. Findings of triggers have priority then: only
//! so many states a tick go out, and only while no finding waits. Of an item that waits, one entry is kept: its memory
//! is bounded by the number of items, and values never wait for states.

use std::collections::BTreeMap;

use model::{ItemId, Timestamp, TriggerFinding};

use crate::outbox::Outbox;
use crate::slots::Slots;

/// States that leave a shard between two ticks, of which there are about ten a second.
const PER_TICK: usize = 200;

/// An item whose state changed.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct Change {
    pub(crate) item: ItemId,
    pub(crate) at: Timestamp,
    /// `None` = it is supported.
    pub(crate) error: Option<Box<str>>,
}

/// What waits.
#[derive(Debug)]
pub(crate) struct States {
    /// How many may leave before the next tick.
    left: usize,
    /// When the item last changed, and whether it was supported before the first change that waits.
    waiting: BTreeMap<ItemId, (Timestamp, bool)>,
}

impl Default for States {
    fn default() -> Self {
        Self { left: PER_TICK, waiting: BTreeMap::new() }
    }
}

impl States {
    /// Sends the changes of a round, or keeps them for later.
    pub(crate) fn tell(
        &mut self,
        changes: &mut Vec<Change>,
        findings: &mut Outbox<TriggerFinding>,
    ) {
        for Change { item, at, error } in changes.drain(..) {
            if self.left > 0 && findings.len() == 0 && !self.waiting.contains_key(&item) {
                self.left -= 1;
                findings.send(state(item, at, error.as_deref()));
            } else {
                let was_supported = error.is_some();
                self.waiting.entry(item).or_insert((at, was_supported)).0 = at;
            }
        }
    }

    /// Another tick: more of what waits may leave.
    pub(crate) fn tell_more(&mut self, slots: &Slots, findings: &mut Outbox<TriggerFinding>) {
        self.left = PER_TICK;
        while self.left > 0 && findings.len() == 0 && self.tell_next(slots, findings) {
            self.left -= 1;
        }
    }

    /// For the end of the shard.
    pub(crate) fn tell_all(&mut self, slots: &Slots, findings: &mut Outbox<TriggerFinding>) {
        while self.tell_next(slots, findings) {}
    }

    /// `false` = none waits. One that is again what it was is left out.
    fn tell_next(&mut self, slots: &Slots, findings: &mut Outbox<TriggerFinding>) -> bool {
        let Some((item, (at, was_supported))) = self.waiting.pop_first() else { return false };
        if let Some(slot) = slots.peek(item)
            && slot.error.is_none() != was_supported
        {
            findings.send(state(item, at, slot.error.as_deref().map(|error| &**error)));
        }
        true
    }
}

fn state(item: ItemId, at: Timestamp, error: Option<&str>) -> TriggerFinding {
    let error = error.unwrap_or_default().to_owned();
    TriggerFinding::ItemState { item, is_rule: false, at, error }
}
