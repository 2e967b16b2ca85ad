//! What each rule found last: the same value over the same configuration needs no work.

use std::collections::HashMap;
use std::hash::BuildHasher;
use std::sync::Mutex;
use std::sync::atomic::{AtomicU64, Ordering};

use model::ItemId;
use stdx::sync::lock;

use super::{Counts, Summary, Turn};
use crate::Snapshot;

/// Of all rules, in memory alone: after a start each rule is compared in full once.
#[derive(Debug, Default)]
pub(crate) struct Memory {
    /// Grows with each committed change of configured objects.
    generation: AtomicU64,
    hasher: foldhash::quality::RandomState,
    seen: Mutex<HashMap<ItemId, Seen>>,
}

#[derive(Debug)]
struct Seen {
    hash: u64,
    len: usize,
    generation: u64,
    due_s: Option<u64>,
    supported: bool,
    error: String,
}

impl Memory {
    pub(super) fn generation(&self) -> u64 {
        self.generation.load(Ordering::Acquire)
    }

    /// Configured objects have changed.
    pub(crate) fn objects_changed(&self) {
        self.generation.fetch_add(1, Ordering::AcqRel);
    }

    /// The outcome, if this value was worked off over this configuration already.
    pub(super) fn known(
        &self,
        rule: ItemId,
        text: &str,
        generation: u64,
        clock_s: u64,
    ) -> Option<Summary> {
        let seen = lock(&self.seen);
        let seen = seen.get(&rule).filter(|seen| {
            seen.generation == generation
                && seen.due_s.is_none_or(|due| clock_s < due)
                && seen.len == text.len()
        })?;
        (seen.hash == self.hasher.hash_one(text)).then(|| Summary {
            supported: seen.supported,
            error: seen.error.clone(),
            created: Counts::default(),
            updated: Counts::default(),
            lost: Counts::default(),
            deleted: Counts::default(),
        })
    }

    /// Remembers an outcome; forgets rules that are gone when there are too many.
    pub(super) fn keep(&self, snapshot: &Snapshot, turn: &Turn<'_>, generation: u64) {
        let mut seen = lock(&self.seen);
        if seen.len() > snapshot.items.len() {
            seen.retain(|rule, _| snapshot.items.get(rule).is_some());
        }
        let new = Seen {
            hash: self.hasher.hash_one(turn.text),
            len: turn.text.len(),
            generation,
            due_s: turn.due_s,
            supported: turn.summary.supported,
            error: turn.summary.error.clone(),
        };
        seen.insert(turn.rule, new);
    }
}
