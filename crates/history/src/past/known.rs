//! What is known of the past, within bounds.

use std::collections::HashMap;
use std::sync::Arc;
use std::time::Duration;

use model::{ItemId, Sample, ValueType};

use super::Ask;
use crate::Error;

/// Samples of one item, and of all: about 50 bytes each.
pub(super) const SAMPLES_MAX: usize = 500_000;
pub(super) const ALL_SAMPLES_MAX: usize = 2_000_000;
/// Items of which something is known, if only that there is nothing.
const ITEMS_MAX: usize = 200_000;

/// Deletions that stores may not have heard of yet; of more than these the oldest are forgotten.
const CLEARED_MAX: usize = 100_000;

/// How much of an item's past is wanted.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Want {
    /// From this second on.
    Since(u32),
    /// The newest of it, at least so many.
    Newest(usize),
}

#[derive(Debug)]
pub(super) enum State {
    /// On its way.
    Asked,
    /// The store said this; ask again then.
    Failed(Error, Duration),
    /// All samples before the border from `from` on, oldest first.
    Here { from: u32, samples: Arc<[Sample]> },
}

#[derive(Debug)]
pub(super) struct Known {
    pub(super) value_type: ValueType,
    pub(super) border: u32,
    pub(super) state: State,
    /// It is on its way once more, up to a later border.
    pub(super) renewed: bool,
    pub(super) used: u64,
}

impl Known {
    pub(super) fn new(ask: &Ask, state: State, used: u64) -> Self {
        let Ask { value_type, border, .. } = *ask;
        Self { value_type, border, state, renewed: false, used }
    }

    fn size(&self) -> usize {
        match &self.state {
            State::Here { samples, .. } => samples.len(),
            _ => 0,
        }
    }
}

/// When an item was cleared.
#[derive(Debug, Clone, Copy)]
pub(super) struct Cleared {
    turn: u64,
    pub(super) second: u32,
}

#[derive(Debug, Default)]
pub(super) struct AllKnown {
    pub(super) items: HashMap<ItemId, Known>,
    pub(super) cleared: HashMap<ItemId, Cleared>,
    pub(super) samples: usize,
    /// Of questions and deletions.
    pub(super) turn: u64,
}

pub(super) fn covers(from: u32, samples: &[Sample], want: Want) -> bool {
    match want {
        Want::Since(since) => from <= since,
        Want::Newest(n) => from == 0 || samples.len() >= n,
    }
}

impl AllKnown {
    pub(super) fn forget(&mut self, item: ItemId) {
        if let Some(gone) = self.items.remove(&item) {
            self.samples -= gone.size();
        }
    }

    /// The values of an item are deleted in this second; returns the turn.
    pub(super) fn clear(&mut self, item: ItemId, second: u32) -> u64 {
        self.turn += 1;
        self.cleared.insert(item, Cleared { turn: self.turn, second });
        if self.cleared.len() > CLEARED_MAX {
            let last = quarter(self.cleared.values().map(|cleared| cleared.turn));
            self.cleared.retain(|_, cleared| cleared.turn > last);
        }
        self.turn
    }

    /// Takes in what a store said, unless the item was cleared after it had been asked.
    pub(super) fn answer(&mut self, ask: &Ask, state: State) {
        if self.cleared.get(&ask.item).is_none_or(|cleared| cleared.turn < ask.turn) {
            self.put(ask.item, Known::new(ask, state, self.turn));
        }
    }

    /// Takes in what is known of an item; what was not used for longest makes room.
    pub(super) fn put(&mut self, item: ItemId, known: Known) {
        self.samples += known.size();
        if let Some(before) = self.items.insert(item, known) {
            self.samples -= before.size();
        }
        while self.samples > ALL_SAMPLES_MAX || self.items.len() > ITEMS_MAX {
            let last = quarter(self.items.values().map(|known| known.used));
            self.items.retain(|other, known| *other == item || known.used > last);
            self.samples = self.items.values().map(Known::size).sum();
        }
    }
}

/// What goes when there is no more room: all up to this turn.
fn quarter(turns: impl Iterator<Item = u64>) -> u64 {
    let mut turns: Vec<u64> = turns.collect();
    turns.sort_unstable();
    turns[turns.len() / 4]
}
