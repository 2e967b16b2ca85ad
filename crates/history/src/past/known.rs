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

#[derive(Debug, Default)]
pub(super) struct AllKnown {
    pub(super) items: HashMap<ItemId, Known>,
    pub(super) samples: usize,
    /// Of questions.
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

    /// Takes in what is known of an item; what was not used for longest makes room.
    pub(super) fn put(&mut self, item: ItemId, known: Known) {
        self.samples += known.size();
        if let Some(before) = self.items.insert(item, known) {
            self.samples -= before.size();
        }
        while self.samples > ALL_SAMPLES_MAX || self.items.len() > ITEMS_MAX {
            // A quarter at a time: what was not used for longest.
            let mut used: Vec<u64> = self.items.values().map(|known| known.used).collect();
            used.sort_unstable();
            let last = used[used.len() / 4];
            self.items.retain(|other, known| *other == item || known.used > last);
            self.samples = self.items.values().map(Known::size).sum();
        }
    }
}
